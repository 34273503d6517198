"""Heat and Poisson problems around round holes in the plane."""

import numpy as np
import scipy.sparse as sparse
import skfem
from scipy.sparse.linalg import splu
from skfem.models.poisson import laplace, mass

from examples.pinnacle.common import LARGE, SMALL
from examples.pinnacle.references.meshes import mesh, on_circles, values_at

# Holes of each problem: centre and radius.
HEATED = [(*c, 1.0) for c in LARGE] + [(*c, 0.4) for c in SMALL]
EQUAL = [(a, b, 0.1) for a in (0.3, -0.3) for b in (0.3, -0.3)]
UNEQUAL = [(0.5, 0.5, 0.2), (0.4, -0.4, 0.4), (-0.2, -0.7, 0.1), (-0.6, 0.5, 0.3)]
# Times at which the solution of heat_2d_cg is kept.
TIMES = np.linspace(0, 3, 7)


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
