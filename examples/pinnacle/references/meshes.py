"""Triangles around round holes, grids, and values of finite elements at points."""

import numpy as np
import skfem
from scipy.spatial import Delaunay


class Curved(skfem.MeshTri2):
    """Triangles with curved sides; points are located by their chords."""

    def element_finder(self, mapping=None):
        corners = self.doflocs[:, : self.t.max() + 1]
        return skfem.MeshTri(corners, self.t).element_finder()


def mesh(half_width, half_height, holes, size):
    """Return triangles of a rectangle around 0 without disks; rims are curved."""
    half = np.array([half_width, half_height])
    columns, rows = np.ceil(half / size * (1, 2 / np.sqrt(3))).astype(int)
    across, up = np.linspace(-1, 1, 2 * columns + 1), np.linspace(-1, 1, 2 * rows + 1)
    points = np.stack(np.meshgrid(across, up), axis=-1)
    points[1::2, 1:-1, 0] += 0.5 / columns  # every second row is shifted
    points = (points * half).reshape(-1, 2)
    for x, y, radius in holes:
        distance = np.hypot(*(points - (x, y)).T)
        points = points[distance > radius + 0.5 * size]
        count = int(np.ceil(2 * np.pi * radius / size))
        angle = 2 * np.pi * np.arange(count) / count
        circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        points = np.concatenate([points, (x, y) + radius * circle])
    triangles = Delaunay(points).simplices
    middles = points[triangles].mean(axis=1)
    for x, y, radius in holes:
        keep = np.hypot(*(middles - (x, y)).T) > radius
        triangles, middles = triangles[keep], middles[keep]
    curved = skfem.MeshTri2.from_mesh(skfem.MeshTri(points.T, triangles.T))
    nodes = curved.doflocs.copy()
    for x, y, radius in holes:  # move the middles of chords to their arcs
        away = nodes - np.array([[x], [y]])
        distance = np.hypot(*away)
        near = np.abs(distance - radius) < 0.2 * size
        nodes[:, near] -= (away * (1 - radius / distance))[:, near]
    return Curved(nodes, curved.t)


def on_circles(points, holes):
    """Return whether each point of `(2, n)` lies on the rim of a hole."""
    distances = [np.hypot(points[0] - x, points[1] - y) - r for x, y, r in holes]
    return np.abs(distances).min(axis=0) < 1e-9


def grid(columns, rows, half_width, half_height, holes):
    """Return the points of a grid outside the holes, `(n, 2)`."""
    lines = np.linspace(-1, 1, columns), np.linspace(-1, 1, rows)
    points = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 2)
    points = points * (half_width, half_height)
    for x, y, radius in holes:
        points = points[np.hypot(*(points - (x, y)).T) > radius * (1 + 1e-6)]
    return points


def values_at(basis, solution, points, holes=(), centre=(0, 0)):
    """Evaluate a finite-element function at points `(n, 2)`.

    Points are moved slightly towards the centre and away from the holes, so that those
    on the boundary lie in the mesh.
    """
    centre = np.array(centre)[:, None]
    points = centre + (points.T - centre) * (1 - 1e-9)
    for x, y, radius in holes:
        away = points - np.array([[x], [y]])
        near = np.hypot(*away) < radius * (1 + 1e-5)
        points[:, near] += 2e-5 * away[:, near]
    return basis.probes(points) @ solution
