"""Detection of re-entrant corners, where fields have unbounded derivatives."""

import numpy as np
from scipy.spatial import cKDTree

from keraspinn.geometry.arrays import on_host

# Points on each face.
POINTS = 2_000
# Distance between two points beside a corner, relative to the domain's diameter.
NEAR = 5e-3
# Cosine of the angle between normals, below which their faces meet in a corner.
OTHER_DIRECTION = 0.7


def has_reentrant_corner(domain):
    """Return whether two faces meet at an angle of more than 180 degrees inside.

    There a point on one face lies ahead of another's outward normal. Corners between
    clamped and free parts of a straight side do not count.

    Args:
        domain: The geometry.
    """
    random = np.random.default_rng(0)
    points, normals = [], []
    for part in domain.boundary:
        drawn = domain.sample(part, random.uniform(size=(POINTS, domain.draws(part))))
        points.append(on_host(domain.absolute(part, drawn)))
        normals.append(on_host(domain.normals(part, drawn)))
    if not points:
        return False
    points, normals = np.concatenate(points), np.concatenate(normals)
    size = np.linalg.norm(np.ptp(points, axis=0))
    first, second = cKDTree(points).query_pairs(NEAR * size, output_type="ndarray").T
    is_corner = (normals[first] * normals[second]).sum(axis=1) < OTHER_DIRECTION
    ahead = ((points[second] - points[first]) * normals[first]).sum(axis=1)
    return bool((is_corner & (ahead > NEAR * size / 4)).any())
