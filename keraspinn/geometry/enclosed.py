"""Tests for points enclosed by segments or triangles."""

import itertools

import numpy as np

from keraspinn.geometry.arrays import library, like
from keraspinn.geometry.simplices import in_chunks


def enclosed(corners, points):
    """Test which points are inside a closed boundary.

    Args:
        corners: Corners of its facets, `(k, d, d)`, in 2-D or 3-D; in 3-D with one
            orientation.
        points: Array `(..., n, d)`.
    """
    inside = _even_odd if corners.shape[-1] == 2 else _winding
    return in_chunks(lambda rows: inside(corners, rows), points, 4 * corners.size)


def closed(facets):
    """Return a predicate for points enclosed by `Facets` or on them."""
    return lambda points: enclosed(facets.corners, points) | facets.contains(points)


def _even_odd(corners, points):
    """Test whether a ray to the right crosses the boundary an odd number of times."""
    lib = library(points)
    # Convert each constant alone: a tensor in a graph cannot be unpacked.
    x0, y0, x1, y1 = (like(corners[:, k, j], points) for k in (0, 1) for j in (0, 1))
    x, y = points[..., 0, None], points[..., 1, None]
    spans = (y0 > y) ^ (y1 > y)
    height = lib.where(spans, y1 - y0 + lib.zeros_like(y), lib.ones_like(y))
    right = (y - y0) / height * (x1 - x0) + x0 > x
    crossings = lib.sum(lib.where(spans & right, 1.0, 0.0), axis=-1)
    return crossings - 2 * lib.floor(crossings / 2) > 0.5


def _winding(corners, points):
    """Test whether the solid angles of all triangles sum to a full turn.

    Reference:
        Van Oosterom & Strackee, "The solid angle of a plane triangle", 1983.
    """
    lib = library(points)
    a, b, c = (like(corners[:, k], points) - points[..., None, :] for k in range(3))
    one, two, three = (lib.sqrt(lib.sum(v * v, axis=-1)) for v in (a, b, c))

    def dot(u, v):
        return lib.sum(u * v, axis=-1)

    triple = dot(a, lib.cross(b, c))
    below = one * two * three + dot(a, b) * three + dot(b, c) * one + dot(c, a) * two
    return lib.abs(lib.sum(lib.arctan2(triple, below), axis=-1) / (2 * np.pi)) > 0.5


def trapezoids(segments):
    """Return triangles that fill the region enclosed by segments, by the even-odd rule.

    Horizontal strips between the heights of the corners contain no segment ends. The
    segments that cross a strip, from left to right, bound its trapezoids in turn.

    Args:
        segments: Corners, `(k, 2, 2)`, which meet only at their ends.

    Returns:
        Corners of triangles, `(n, 3, 2)`.
    """
    heights = np.unique(segments[..., 1])
    triangles = []
    for low, high in itertools.pairwise(heights):
        middle = (low + high) / 2
        above = segments[..., 1] > middle
        crossing = segments[above[:, 0] != above[:, 1]]
        (x0, y0), (x1, y1) = crossing[:, 0].T, crossing[:, 1].T
        levels = np.array([[middle], [low], [high]])
        x = x0 + (levels - y0) / (y1 - y0) * (x1 - x0)
        bottom, top = x[1:, np.argsort(x[0])]
        sides = bottom[::2], bottom[1::2], top[1::2], top[::2]
        for a, b, c, d in zip(*sides, strict=False):
            p, q, r, s = (a, low), (b, low), (c, high), (d, high)
            triangles += [(p, q, r), (p, r, s)]
    triangles = np.array(triangles)
    area = np.abs(np.linalg.det(triangles[:, 1:] - triangles[:, :1]))
    return triangles[area > 1e-14 * area.max()]
