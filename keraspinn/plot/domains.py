"""What figures ask of a domain: its box, its inside, its time."""

import numpy as np
from keras import ops


def bounding_box(domain):
    """Lower and upper ends of the box around a domain, `(d,)` each."""
    if hasattr(domain, "lower"):
        return domain.lower, domain.upper
    corners = domain.grid(2)
    return corners.min(axis=0), corners.max(axis=0)


def inside(domain, points):
    """Which of points `(n, d)`, in the user's units, are in a domain."""
    ((interior,),) = domain.blocks("interior")
    centre = getattr(domain, "centre", 0.0)
    return np.asarray(ops.convert_to_numpy(domain.contains(interior, points - centre)))


def grid_of(domain, at, n):
    """A grid over the box of what is left of a domain.

    Args:
        domain: The domain.
        at: Dict from coordinates to the values where it is cut.
        n: Number of points a side.

    Returns:
        Dict from the coordinates left to their values, `(n,)` each, the points, which
        are all of theirs, `(N, d)`, and which of them are in the domain, `(N,)`.

    Raises:
        ValueError: If none are.
    """
    symbols = domain.coordinates
    box = dict(zip(symbols, zip(*bounding_box(domain), strict=True), strict=True))
    axes = {s: np.linspace(*box[s], n) for s in symbols if s not in at}
    mesh = dict(zip(axes, np.meshgrid(*axes.values(), indexing="ij"), strict=True))
    size = n ** len(axes)
    columns = [mesh[s].ravel() if s in mesh else np.full(size, at[s]) for s in symbols]
    points = np.stack(columns, axis=-1).astype("float64")
    there = inside(domain, points)
    if not there.any():
        raise ValueError(f"There is nothing of the domain at {at}. Cut it elsewhere.")
    return axes, points, there


def is_time(domain, symbol):
    """Whether a coordinate is the domain's time, and no length."""
    return symbol == getattr(domain, "time_coordinate", None) or symbol in (
        getattr(domain, "time", None) or ()
    )


def are_lengths(domain, symbols):
    """Whether coordinates are all of space, neither time nor parameters."""
    space = getattr(domain, "space_coordinates", None)
    if space is None:
        return not any(is_time(domain, symbol) for symbol in symbols)
    return set(symbols) <= set(space)
