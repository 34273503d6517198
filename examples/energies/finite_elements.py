"""Reference solutions by scikit-fem: linear and nonlinear elasticity, Poisson."""

import itertools

import numpy as np
import skfem
from skfem.helpers import ddot, det, dot, eye, grad, inv, sym_grad, trace, transpose


def boxes(*rectangles, size):
    """Return quadrilaterals of a union of rectangles `((x0, x1), (y0, y1))`."""
    axes = []
    for axis in (0, 1):
        ends = sorted({end for rectangle in rectangles for end in rectangle[axis]})
        pieces = [
            np.linspace(a, b, max(2, round((b - a) / size)) + 1)
            for a, b in itertools.pairwise(ends)
        ]
        axes.append(np.unique(np.round(np.concatenate(pieces), 12)))
    mesh = skfem.MeshTri.init_tensor(*axes)
    x, y = mesh.p[:, mesh.t].mean(axis=1)
    inside = np.zeros(len(x), bool)
    for (a, b), (c, d) in rectangles:
        inside |= (a < x) & (x < b) & (c < y) & (y < d)
    return mesh.restrict(np.flatnonzero(inside))


def graded(mesh, corners, rounds=6):
    """Refine triangles toward corners; each round halves the distance from them."""
    distance = np.ptp(mesh.p, axis=1).max() / 5
    for _ in range(rounds):
        middles = mesh.p[:, mesh.t].mean(axis=1)
        near = [np.hypot(*(middles.T - np.array(c)).T) < distance for c in corners]
        mesh = mesh.refined(np.flatnonzero(np.any(near, axis=0)))
        distance /= 2
    return mesh


def facets(mesh, axis, value):
    """Return the boundary facets at a value of a coordinate."""
    return mesh.facets_satisfying(
        lambda x: abs(x[axis] - value) < 1e-9, boundaries_only=True
    )


def lame(young, poisson, dimension):
    """Return Lamé's constants, for plane stress in two dimensions."""
    mu = young / 2 / (1 + poisson)
    if dimension == 2:
        return young * poisson / (1 - poisson**2), mu
    return young * poisson / (1 + poisson) / (1 - 2 * poisson), mu


def elasticity(mesh, element, young, poisson, clamp, load, traction, tip):
    """Solve linear elasticity.

    Args:
        mesh: The mesh.
        element: Scalar element.
        young: Young's modulus, or a function of points.
        poisson: Poisson's ratio.
        clamp: Clamped facets.
        load: Loaded facets.
        traction: Traction on the loaded facets, `(d,)`.
        tip: A vertex of the mesh.

    Returns:
        Displacement of the tip `(d,)`, and the energy.
    """
    basis = skfem.Basis(mesh, skfem.ElementVector(element))
    modulus = young if callable(young) else lambda x: young + 0 * x[0]

    @skfem.BilinearForm
    def stiffness(u, v, w):
        first, second = lame(modulus(w.x), poisson, mesh.dim())
        strain, other = sym_grad(u), sym_grad(v)
        return first * trace(strain) * trace(other) + 2 * second * ddot(strain, other)

    @skfem.LinearForm
    def work(v, w):
        return sum(t * v[k] for k, t in enumerate(traction))

    on_load = skfem.FacetBasis(mesh, basis.elem, facets=load)
    right = work.assemble(on_load)
    fixed = basis.get_dofs(clamp)
    matrix = stiffness.assemble(basis)
    displacements = skfem.solve(*skfem.condense(matrix, right, D=fixed))
    vertex = np.linalg.norm(mesh.p.T - tip, axis=1).argmin()
    tip_displacement = displacements[basis.nodal_dofs[:, vertex]]
    return tip_displacement, -right @ displacements / 2


def converged(solve, sizes):
    """Return the result for the last mesh, with the change from the mesh before.

    Args:
        solve: Function of one of `sizes` that returns a dict of numbers.
        sizes: Sizes of meshes, the coarsest first.
    """
    *_, before, last = [solve(size) for size in sizes]
    change = max(abs(last[name] / before[name] - 1) for name in last)
    return {name: float(value) for name, value in last.items()} | {
        "error": float(change)
    }


def hyperelasticity(mesh, mu, first, stretch, steps=5):
    """Stretch a neo-Hookean square in plane strain between clamps.

    Args:
        mesh: Quadrilaterals of the unit square.
        mu, first: Lamé's constants.
        stretch: Displacement of the side x = 1.
        steps: Number of increments of the stretch.

    Returns:
        Dict with the energy and the displacement v at (1/2, 0).
    """
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementQuad2()), intorder=6)
    left, right = (basis.get_dofs(facets(mesh, 0, value)) for value in (0.0, 1.0))
    held = np.union1d(left.all(), right.all())

    def deformation(w):
        return grad(w.displacement) + eye(1.0 + 0 * w.x[0], 2)

    def stress(gradient):
        inverse = transpose(inv(gradient))
        return mu * (gradient - inverse) + first * np.log(det(gradient)) * inverse

    @skfem.LinearForm
    def force(v, w):
        return ddot(stress(deformation(w)), grad(v))

    @skfem.BilinearForm
    def tangent(u, v, w):
        gradient = deformation(w)
        inverse = transpose(inv(gradient))
        bent = np.einsum("ij...,kj...,kl...->il...", inverse, grad(u), inverse)
        return ddot(
            mu * grad(u)
            + (mu - first * np.log(det(gradient))) * bent
            + first * ddot(inverse, grad(u)) * inverse,
            grad(v),
        )

    @skfem.Functional
    def stored(w):
        gradient = deformation(w)
        log = np.log(det(gradient))
        return mu / 2 * (ddot(gradient, gradient) - 2) - mu * log + first / 2 * log**2

    state = basis.project(lambda x: np.stack([0 * x[0], 0 * x[0]]))
    for step in range(1, steps + 1):
        state += basis.project(lambda x: np.stack([stretch / steps * x[0], 0 * x[0]]))
        state[right.all("u^1")] = stretch * step / steps
        for _ in range(20):
            known = {"displacement": basis.interpolate(state)}
            system = tangent.assemble(basis, **known), -force.assemble(basis, **known)
            change = skfem.solve(*skfem.condense(*system, D=held))
            state += change
            if abs(change).max() < 1e-12:
                break
    energy = stored.assemble(basis, displacement=basis.interpolate(state))
    vertex = np.linalg.norm(mesh.p.T - [0.5, 0.0], axis=1).argmin()
    return {"energy": energy, "narrowing": state[basis.nodal_dofs[1, vertex]]}


def poisson(mesh):
    """Solve -Δu = 1 with u = 0 on the boundary; returns the basis and the values."""
    basis = skfem.Basis(mesh, skfem.ElementTriP2())

    @skfem.BilinearForm
    def laplace(u, v, w):
        return dot(grad(u), grad(v))

    @skfem.LinearForm
    def source(v, w):
        return 1.0 * v

    system = laplace.assemble(basis), source.assemble(basis)
    return basis, skfem.solve(*skfem.condense(*system, D=basis.get_dofs()))
