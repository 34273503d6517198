"""Navier–Stokes problems, by Taylor–Hood elements."""

import numpy as np
import scipy.sparse as sparse
import skfem
from skfem.helpers import ddot, div, dot, grad, mul

from examples.pinnacle.references.meshes import values_at

REYNOLDS = 100.0
# Largest change of a value in the last Newton step.
TOLERANCE = 1e-10


@skfem.BilinearForm
def viscous(u, v, w):
    return ddot(grad(u), grad(v)) / REYNOLDS


@skfem.BilinearForm
def transport(u, v, w):
    return dot(mul(grad(u), w["w"]) + mul(grad(w["w"]), u), v)


@skfem.LinearForm
def carried(v, w):
    return dot(mul(grad(w["w"]), w["w"]), v)


@skfem.BilinearForm
def divergence(u, q, w):
    return -div(u) * q


def bases(domain):
    """Return the bases of velocity (quadratic) and pressure (linear)."""
    fine = skfem.Basis(domain, skfem.ElementVector(skfem.ElementTriP2()), intorder=6)
    return fine, fine.with_element(skfem.ElementTriP1())


def rows(basis, component):
    """Return the indices of one component of a quadratic vector field."""
    return np.concatenate([basis.nodal_dofs[component], basis.facet_dofs[component]])


def clustered(start, end, cells):
    """Return nodes of an interval that are closer at both ends."""
    return (
        start + (end - start) * (1 - np.cos(np.pi * np.arange(cells + 1) / cells)) / 2
    )


def steady(fine, coarse, values, fixed):
    """Solve by Newton's method from the values of the boundary.

    Args:
        values: Velocity `(fine.N,)` on the boundary, zero elsewhere.
        fixed: Indices of the known velocities, then pressures.

    Returns:
        Velocity and pressure at the nodes.
    """
    stress, incompressible = viscous.assemble(fine), divergence.assemble(fine, coarse)
    state = np.append(values, np.zeros(coarse.N))
    linear = sparse.bmat([[stress, incompressible.T], [incompressible, None]], "csr")
    for _ in range(20):
        flow = fine.interpolate(state[: fine.N])
        tangent = stress + transport.assemble(fine, w=flow)
        matrix = sparse.bmat(
            [[tangent, incompressible.T], [incompressible, None]], "csr"
        )
        residual = linear @ state
        residual[: fine.N] += carried.assemble(fine, w=flow)
        change = skfem.solve(*skfem.condense(matrix, -residual, D=fixed))
        state = state + change
        if np.abs(change).max() < TOLERANCE:
            break
    return state[: fine.N], state[fine.N :]


def at_points(fine, coarse, velocity, pressure, points, centre=(0, 0)):
    """Return u, v and p at points `(n, 2)`."""
    fields = values_at(fine, velocity, points, centre=centre).reshape(2, -1)
    return [*fields, values_at(coarse, pressure, points, centre=centre)]


def ns_2d_c(size, points):
    """Solve the cavity flow below a lid of 4 x (1 − x)."""
    line = clustered(0, 1, round(1 / size))
    domain = skfem.MeshTri.init_tensor(line, line)
    fine, coarse = bases(domain)
    walls = fine.get_dofs(domain.boundary_facets()).all()
    x, y = fine.doflocs
    lid = np.where(np.isclose(y, 1), 4 * x * (1 - x), 0)
    lid[rows(fine, 1)] = 0
    corner = fine.N + coarse.nodal_dofs[0, np.argmin(domain.p.sum(axis=0))]
    solution = steady(fine, coarse, lid, np.append(walls, corner))
    return at_points(fine, coarse, *solution, points)


def ns_2d_cg(size, points):
    """Solve the flow behind a step; v = 0 and no normal stress at the outlet."""
    cells = round(1 / size)
    across = np.append(clustered(0, 2, cells), clustered(2, 4, cells)[1:])
    up = np.append(clustered(0, 1, cells), clustered(1, 2, cells)[1:])
    domain = skfem.MeshTri.init_tensor(across, up)
    domain = domain.remove_elements(
        domain.elements_satisfying(lambda x: (x[0] < 2) & (x[1] > 1))
    )
    fine, coarse = bases(domain)
    x, y = fine.doflocs
    boundary = fine.get_dofs(domain.boundary_facets()).all()
    along = np.isin(boundary, rows(fine, 0))
    free = along & (x[boundary] == 4) & (y[boundary] > 0) & (y[boundary] < 2)
    inlet = np.where(x == 0, 4 * y * (1 - y), 0)
    inlet[rows(fine, 1)] = 0
    solution = steady(fine, coarse, inlet, boundary[~free])
    return at_points(fine, coarse, *solution, points, centre=(3, 0.5))
