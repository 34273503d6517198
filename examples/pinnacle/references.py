"""Reference solutions of four problems, by finite elements.

python -m examples.pinnacle.references

solves each on two meshes and writes the finer solution to `tables/`. The relative
difference of the two is in `docs/results/pinnacle_references.json`. `--data DIR` also
compares with the files in PINNacle's folder `ref/`. The program needs scikit-fem:
`pip install ".[examples]"`.
"""

import argparse
import json
import pathlib

import numpy as np
import scipy.sparse as sparse
import skfem
from scipy.sparse.linalg import splu
from scipy.spatial import Delaunay
from skfem.helpers import ddot, div, dot, grad, mul
from skfem.models.poisson import laplace, mass

from examples.pinnacle.common import LARGE, SMALL, TABLES

RECORDS = pathlib.Path(__file__).parents[2] / "docs/results/pinnacle_references.json"
# Holes of each problem: centre and radius.
HEATED = [(*c, 1.0) for c in LARGE] + [(*c, 0.4) for c in SMALL]
EQUAL = [(a, b, 0.1) for a in (0.3, -0.3) for b in (0.3, -0.3)]
UNEQUAL = [(0.5, 0.5, 0.2), (0.4, -0.4, 0.4), (-0.2, -0.7, 0.1), (-0.6, 0.5, 0.3)]
# Times at which the solution of heat_2d_cg is kept.
TIMES = np.linspace(0, 3, 7)


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


def values_at(basis, solution, points, holes=()):
    """Evaluate a finite-element function at points `(n, 2)`.

    Points on the rims are moved slightly outward, so that they lie in the mesh.
    """
    points = np.array(points.T) * (1 - 1e-9)
    for x, y, radius in holes:
        away = points - np.array([[x], [y]])
        near = np.hypot(*away) < radius * (1 + 1e-5)
        points[:, near] += 2e-5 * away[:, near]
    return basis.probes(points) @ solution


def elliptic(holes, half, size, rim, edge, decay=0.0, source=None):
    """Solve −Δu + decay u = source with values on rims and edge.

    Returns:
        The basis and the values at its nodes.
    """
    domain = mesh(half, half, holes, size)
    basis = skfem.Basis(domain, skfem.ElementTriP2(), intorder=6)
    matrix = laplace.assemble(basis) + decay * mass.assemble(basis)
    load = np.zeros(basis.N)
    if source is not None:
        load = skfem.LinearForm(lambda v, w: source(*w.x) * v).assemble(basis)
    boundary = basis.get_dofs(domain.boundary_facets()).all()
    values = np.where(on_circles(basis.doflocs, holes), rim, edge)
    solution = skfem.solve(*skfem.condense(matrix, load, x=values, D=boundary))
    return basis, solution


def poisson_2d_c(size, points):
    """Solve Laplace's equation around four equal holes."""
    solution = elliptic(EQUAL, 0.5, size, rim=0.0, edge=1.0)
    return [values_at(*solution, points, EQUAL)]


def poisson_2d_cg(size, points):
    """Solve the Poisson–Boltzmann equation around four unequal holes."""

    def source(x, y):
        waves = np.sin(np.pi * x) * np.sin(4 * np.pi * y)
        return 10 * (17 + x**2 + y**2) * waves

    solution = elliptic(UNEQUAL, 1.0, size, 1.0, 0.2, 64.0, source)
    return [values_at(*solution, points, UNEQUAL)]


def heat_2d_cg(size, points):
    """Solve the heat equation with Robin conditions, by Alexander's SDIRK2."""
    domain = mesh(8, 12, HEATED, size)
    element = skfem.ElementTriP2()
    basis = skfem.Basis(domain, element, intorder=4)
    rim = skfem.FacetBasis(domain, element, intorder=4)
    inertia, stiffness = mass.assemble(basis), laplace.assemble(basis)
    exchange = skfem.BilinearForm(lambda u, v, w: u * v).assemble(rim)

    @skfem.LinearForm
    def heating(v, w):
        outside = np.where(on_large(w.x), 5.0, np.where(on_small(w.x), 1.0, 0.1))
        return outside * v

    def on_large(x):
        away = [np.hypot(x[0] - a, x[1] - b) for a, b in LARGE]
        return np.min(away, axis=0) < 1 + 1e-2

    def on_small(x):
        away = [np.hypot(x[0] - a, x[1] - b) for a, b in SMALL]
        return np.min(away, axis=0) < 0.4 + 1e-2

    load = heating.assemble(rim)
    matrix = sparse.csc_matrix(stiffness + exchange)
    steps = round(6 / size) * (len(TIMES) - 1)
    step, gamma = TIMES[-1] / steps, 1 - np.sqrt(0.5)
    solver = splu(sparse.csc_matrix(inertia + step * gamma * matrix))
    state = np.zeros(basis.N)
    kept = [state]
    for number in range(1, steps + 1):
        first = solver.solve(load - matrix @ state)
        between = state + step * (1 - gamma) * first
        second = solver.solve(load - matrix @ between)
        state = state + step * ((1 - gamma) * first + gamma * second)
        if number * (len(TIMES) - 1) % steps == 0:
            kept.append(state)
    return [np.concatenate([values_at(basis, s, points, HEATED) for s in kept])]


def ns_2d_c(size, points, reynolds=100.0):
    """Solve the cavity flow below a lid of 4 x (1 − x), by Taylor–Hood elements."""
    cells = round(1 / size)
    line = (1 - np.cos(np.pi * np.linspace(0, 1, cells + 1))) / 2  # finer at walls
    domain = skfem.MeshTri.init_tensor(line, line)
    fine = skfem.Basis(domain, skfem.ElementVector(skfem.ElementTriP2()), intorder=6)
    coarse = fine.with_element(skfem.ElementTriP1())

    @skfem.BilinearForm
    def viscous(u, v, w):
        return ddot(grad(u), grad(v)) / reynolds

    @skfem.BilinearForm
    def transport(u, v, w):
        return dot(mul(grad(u), w["w"]) + mul(grad(w["w"]), u), v)

    @skfem.LinearForm
    def carried(v, w):
        return dot(mul(grad(w["w"]), w["w"]), v)

    @skfem.BilinearForm
    def divergence(u, q, w):
        return -div(u) * q

    stress = viscous.assemble(fine)
    incompressible = divergence.assemble(fine, coarse)
    walls = fine.get_dofs(domain.boundary_facets()).all()
    x, y = fine.doflocs
    lid = np.where(np.isclose(y, 1), 4 * x * (1 - x), 0)
    lid[np.concatenate([fine.nodal_dofs[1], fine.facet_dofs[1]])] = 0
    corner = fine.N + coarse.nodal_dofs[0, np.argmin(domain.p.sum(axis=0))]
    fixed, state = np.append(walls, corner), np.append(lid, np.zeros(coarse.N))
    for _ in range(20):
        flow = fine.interpolate(state[: fine.N])
        tangent = stress + transport.assemble(fine, w=flow)
        matrix = sparse.bmat(
            [[tangent, incompressible.T], [incompressible, None]], "csr"
        )
        residual = (
            sparse.bmat([[stress, incompressible.T], [incompressible, None]], "csr")
            @ state
        )
        residual[: fine.N] += carried.assemble(fine, w=flow)
        change = skfem.solve(*skfem.condense(matrix, -residual, D=fixed))
        state = state + change
        if np.abs(change).max() < 1e-10:
            break
    velocity = values_at(fine, state[: fine.N], points).reshape(2, -1)
    return [*velocity, values_at(coarse, state[fine.N :], points)]


SQUARE = grid(41, 41, 0.5, 0.5, []) + 0.5
# Corners at which the pressure is unbounded.
CORNERS = (0.0, 1.0), (1.0, 1.0)
CASES = {
    # Name: solver, sizes of the two meshes, points, PINNacle's file.
    "poisson_2d_c": (
        poisson_2d_c,
        (0.016, 0.008),
        grid(41, 41, 0.5, 0.5, EQUAL),
        "poisson1_cg_data",
    ),
    "poisson_2d_cg": (
        poisson_2d_cg,
        (0.032, 0.016),
        grid(41, 41, 1, 1, UNEQUAL),
        "poisson_boltzmann2d",
    ),
    "heat_2d_cg": (heat_2d_cg, (0.3, 0.15), grid(25, 37, 8, 12, HEATED), None),
    "ns_2d_c": (
        ns_2d_c,
        (1 / 32, 1 / 64),
        SQUARE[[tuple(p) not in CORNERS for p in SQUARE]],
        "lid_driven_a4",
    ),
}


def apart(fields, others):
    """Return the relative L2 difference of all fields together."""
    fields, others = np.concatenate(fields), np.concatenate(others)
    return float(np.linalg.norm(fields - others) / np.linalg.norm(others))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="name")
    parser.add_argument("--data", type=pathlib.Path, help="PINNacle's folder ref/")
    arguments = parser.parse_args()
    records = json.loads(RECORDS.read_text("utf-8")) if RECORDS.exists() else {}
    for name in arguments.names or CASES:
        solver, (coarse, fine), points, file = CASES[name]
        values = solver(fine, points)
        record = records.setdefault(name, {})
        record |= {"size": fine, "apart": apart(solver(coarse, points), values)}
        if arguments.data and file:
            theirs = np.loadtxt(arguments.data / f"{file}.dat", comments="%")
            if name == "ns_2d_c":
                theirs = theirs[[tuple(p) not in CORNERS for p in theirs[:, :2]]]
            ours = solver(fine, theirs[:, :2])
            record["from PINNacle's"] = apart(ours, list(theirs[:, 2:].T))
        print(name, record, flush=True)
        if name == "heat_2d_cg":
            stacked = [np.c_[points, np.full(len(points), t)] for t in TIMES]
            points = np.concatenate(stacked)
        header = {"heat_2d_cg": "x,y,t,u", "ns_2d_c": "x,y,u,v,p"}.get(name, "x,y,u")
        TABLES.mkdir(exist_ok=True)
        numbers = np.column_stack([points, *values])
        np.savetxt(TABLES / f"{name}.csv", numbers, "%.6g", ",", header=header)
    RECORDS.write_text(json.dumps(records, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
