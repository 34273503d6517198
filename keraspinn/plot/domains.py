"""Bounding box, grid and coordinates of a domain, for figures."""

import numpy as np

from keraspinn.geometry.arrays import on_host


def ends_of(domain):
    """Return a dict from the coordinates to the ends of a domain's bounding box."""
    ends = zip(domain.lower, domain.upper, strict=True)
    return dict(zip(domain.coordinates, ends, strict=True))


def grid_of(domain, at, n):
    """Return a grid over the bounding box of a cut domain.

    Args:
        domain: The domain.
        at: Dict from coordinates to the values where it is cut.
        n: Number of points per side.

    Returns:
        Dict from the remaining coordinates to their values, `(n,)` each; the points in
        all coordinates, `(N, d)`; and which of them are in the domain, `(N,)`.

    Raises:
        ValueError: If no point is in the domain.
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
        raise ValueError(f"No point of the domain is at {at}. Cut it elsewhere.")
    return axes, points, there


def are_lengths(domain, symbols):
    """Test whether all coordinates are spatial."""
    return set(symbols) <= set(domain.space_coordinates)
