"""What figures ask of a domain: its box, its inside, its space."""

import numpy as np

from keraspinn.geometry.arrays import on_host


def ends_of(domain):
    """Dict from the coordinates to the ends of the box around a domain."""
    ends = zip(domain.lower, domain.upper, strict=True)
    return dict(zip(domain.coordinates, ends, strict=True))


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
    box = ends_of(domain)
    axes = {s: np.linspace(*box[s], n) for s in symbols if s not in at}
    mesh = dict(zip(axes, np.meshgrid(*axes.values(), indexing="ij"), strict=True))
    size = n ** len(axes)
    columns = [mesh[s].ravel() if s in mesh else np.full(size, at[s]) for s in symbols]
    points = np.stack(columns, axis=-1).astype("float64")
    there = on_host(domain.contains(domain.interior, points - domain.centre))
    if not there.any():
        raise ValueError(f"There is nothing of the domain at {at}. Cut it elsewhere.")
    return axes, points, there


def are_lengths(domain, symbols):
    """Whether coordinates are all of space, neither time nor parameters."""
    return set(symbols) <= set(domain.space_coordinates)
