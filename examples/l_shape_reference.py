"""Reference temperatures of the gallery's heated L, by finite elements.

python -m examples.l_shape_reference

The program solves the problem by quadratic triangles and Newton's method on two meshes;
the element size of one is half that of the other. It prints the difference of the two
solutions, and writes the finer one on a grid of 0.05 m to
`examples/gallery/l_shape.csv`. It also prints the readings of five sensors, with noise
of 0.5 K. It needs scikit-fem: `pip install ".[examples]"`.
"""

import argparse
import pathlib

import numpy as np
import skfem
from scipy.spatial import Delaunay
from skfem.helpers import dot, grad

TABLE = pathlib.Path(__file__).parent / "gallery" / "l_shape.csv"
# Hole, m.
CENTRE, RADIUS = np.array([[0.5], [0.4]]), 0.2
# Conductivity and its relative change with temperature, heat transfer coefficient, and
# temperature of the rim above the surroundings: W/(m K), 1/K, W/(m² K), K.
K0, B, H, HOT = 20.0, 0.005, 50.0, 150.0
# Positions, m.
SENSORS = np.array([[0.15, 0.15], [0.9, 0.6], [1.4, 0.5], [0.5, 1.0], [0.4, 1.6]])


def from_rim(x):
    """Return the distances of points `(2, n)` from the rim, negative in the hole."""
    return np.hypot(*(x - CENTRE)) - RADIUS


def inside(x):
    return ((x[0] < 1) | (x[1] < 1)) & (from_rim(x) > 0)


def mesh(size):
    """Return triangles of the L without the hole; their sides are `size` long."""
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
    """Return the basis and the temperatures, in kelvin above the surroundings."""
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
    """Return the centres of squares of 0.05 m in the L, `(2, n)`."""
    line = np.arange(0.025, 2, 0.05)
    points = np.stack(np.meshgrid(line, line, indexing="ij")).reshape(2, -1)
    return points[:, inside(points) & (from_rim(points) > 1e-3)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=float, default=1 / 80)
    parser.add_argument("--output", default=TABLE, type=pathlib.Path)
    arguments = parser.parse_args()
    points = lattice()
    coarse, coarse_state = solve(2 * arguments.size)
    fine, state = solve(arguments.size)
    coarse_values = coarse.probes(points) @ coarse_state
    values = fine.probes(points) @ state
    difference = np.linalg.norm(values - coarse_values) / np.linalg.norm(values)
    print(f"{fine.N} unknowns; the two meshes are {difference:.1e} apart")
    table = np.column_stack([*points, values])
    np.savetxt(arguments.output, table, "%.5g", ",", header="x,y,T")
    noise = 0.5 * np.random.default_rng(1).normal(size=len(SENSORS))
    read = fine.probes(SENSORS.T) @ state + noise
    for position, reading in zip(SENSORS.tolist(), read, strict=True):
        print(f"{tuple(position)}: {reading:.1f}")


if __name__ == "__main__":
    main()
