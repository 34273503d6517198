"""The heated L of the gallery by finite elements, for its table of temperatures.

python -m examples.l_shape_reference

Quadratic triangles and Newton's method on two meshes, one half the size of the other;
says how far the two are apart, and keeps the finer one's temperatures on a lattice of
0.05 m in `examples/gallery/l_shape.csv`. Prints the readings of five sensors, with
noise of 0.5 K. Needs scikit-fem, which `pip install ".[examples]"` brings.
"""

import argparse
import pathlib

import numpy as np
import skfem
from scipy.spatial import Delaunay
from skfem.helpers import dot, grad

TABLE = pathlib.Path(__file__).parent / "gallery" / "l_shape.csv"
CENTRE, RADIUS = np.array([[0.5], [0.4]]), 0.2
K0, B, H, HOT = 20.0, 0.005, 50.0, 150.0  # W/(m K), 1/K, W/(m² K), K
SENSORS = np.array([[0.15, 0.15], [0.9, 0.6], [1.4, 0.5], [0.5, 1.0], [0.4, 1.6]])


def from_rim(x):
    """Distances of points `(2, n)` from the rim of the hole, negative within it."""
    return np.hypot(*(x - CENTRE)) - RADIUS


def inside(x):
    return ((x[0] < 1) | (x[1] < 1)) & (from_rim(x) > 0)


def mesh(size):
    """Triangles of the L less the hole, whose rim is a polygon of that size."""
    line = np.linspace(0, 2, 2 * round(1 / size) + 1)
    points = np.stack(np.meshgrid(line, line)).reshape(2, -1)
    in_l = (points[0] <= 1) | (points[1] <= 1)
    points = points[:, in_l & (from_rim(points) > 0.6 * size)]
    angle = np.arange(0, 2 * np.pi, size / RADIUS)
    rim = CENTRE + RADIUS * np.stack([np.cos(angle), np.sin(angle)])
    points = np.concatenate([points, rim], axis=1)
    triangles = Delaunay(points.T).simplices.T
    middles = points[:, triangles].mean(axis=1)
    return skfem.MeshTri(points, triangles[:, inside(middles)])


@skfem.LinearForm
def heat(v, w):
    return K0 * (1 + B * w.T) * dot(grad(w.T), grad(v))


@skfem.BilinearForm
def tangent(u, v, w):
    change = (1 + B * w.T) * grad(u) + B * u * grad(w.T)
    return K0 * dot(change, grad(v))


@skfem.BilinearForm
def cooling(u, v, w):
    return H * u * v


def solve(size):
    """The basis and the temperatures, kelvin above the surroundings."""
    domain, element = mesh(size), skfem.ElementTriP2()
    basis = skfem.Basis(domain, element, intorder=5)

    def where(test):
        return domain.facets_satisfying(test, boundaries_only=True)

    end = skfem.FacetBasis(domain, element, facets=where(lambda x: x[1] > 2 - 1e-9))
    cooled = cooling.assemble(end)
    hot = basis.get_dofs(where(lambda x: abs(from_rim(x)) < size**2)).all()
    cold = basis.get_dofs(where(lambda x: x[0] > 2 - 1e-9)).all()
    state = basis.zeros()
    state[hot] = HOT
    for _ in range(20):
        known = basis.interpolate(state)
        matrix = tangent.assemble(basis, T=known) + cooled
        missing = heat.assemble(basis, T=known) + cooled @ state
        fixed = {"x": basis.zeros(), "D": np.concatenate([hot, cold])}
        step = skfem.solve(*skfem.condense(matrix, -missing, **fixed))
        state += step
        if abs(step).max() < 1e-9 * HOT:
            return basis, state
    raise RuntimeError("Newton's method did not end in 20 steps.")


def lattice():
    """The middles of squares of 0.05 m that lie in the L, `(2, n)`."""
    line = np.arange(0.025, 2, 0.05)
    points = np.stack(np.meshgrid(line, line, indexing="ij")).reshape(2, -1)
    return points[:, inside(points) & (from_rim(points) > 1e-3)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=float, default=1 / 80)
    parser.add_argument("--output", default=TABLE, type=pathlib.Path)
    given = parser.parse_args()
    points = lattice()
    (rough, rough_state), (fine, state) = solve(2 * given.size), solve(given.size)
    before, found = rough.probes(points) @ rough_state, fine.probes(points) @ state
    apart = np.linalg.norm(found - before) / np.linalg.norm(found)
    print(f"{fine.N} unknowns; the two meshes are {apart:.1e} apart")
    table = np.column_stack([*points, found])
    np.savetxt(given.output, table, "%.5g", ",", header="x,y,T")
    noise = 0.5 * np.random.default_rng(1).normal(size=len(SENSORS))
    read = fine.probes(SENSORS.T) @ state + noise
    for place, reading in zip(SENSORS.tolist(), read, strict=True):
        print(f"{tuple(place)}: {reading:.1f}")


if __name__ == "__main__":
    main()
