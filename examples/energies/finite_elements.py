"""References by scikit-fem: elasticity, Newton's method, Poisson's equation."""

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
    """Refine triangles toward corners, each round within half of the distance."""
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
    """Return Lamé's constants; of plane stress in two dimensions."""
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
        traction: Traction on them, `(d,)`.
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
    held = basis.get_dofs(clamp)
    found = skfem.solve(*skfem.condense(stiffness.assemble(basis), right, D=held))
    vertex = np.linalg.norm(mesh.p.T - tip, axis=1).argmin()
    return found[basis.nodal_dofs[:, vertex]], -right @ found / 2


def converged(solve, sizes):
    """Return the last of a sequence of results, with its change from the one before.

    Args:
        solve: Function of a size that returns a dict of numbers.
        sizes: Sizes, coarse ones first.
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
        steps: Increments of it.

    Returns:
        Dict with the energy and the displacement v at (1/2, 0).
    """
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementQuad2()), intorder=6)
    left, right = (basis.get_dofs(facets(mesh, 0, value)) for value in (0.0, 1.0))
    held = np.union1d(left.all(), right.all())

    def deformation(w):
        return grad(w.found) + eye(1.0 + 0 * w.x[0], 2)

    def stress(own):
        inverse = transpose(inv(own))
        return mu * (own - inverse) + first * np.log(det(own)) * inverse

    @skfem.LinearForm
    def force(v, w):
        return ddot(stress(deformation(w)), grad(v))

    @skfem.BilinearForm
    def tangent(u, v, w):
        own = deformation(w)
        inverse = transpose(inv(own))
        bent = np.einsum("ij...,kj...,kl...->il...", inverse, grad(u), inverse)
        return ddot(
            mu * grad(u)
            + (mu - first * np.log(det(own))) * bent
            + first * ddot(inverse, grad(u)) * inverse,
            grad(v),
        )

    @skfem.Functional
    def stored(w):
        own = deformation(w)
        log = np.log(det(own))
        return mu / 2 * (ddot(own, own) - 2) - mu * log + first / 2 * log**2

    found = basis.project(lambda x: np.stack([0 * x[0], 0 * x[0]]))
    for step in range(1, steps + 1):
        found += basis.project(lambda x: np.stack([stretch / steps * x[0], 0 * x[0]]))
        found[right.all("u^1")] = stretch * step / steps
        for _ in range(20):
            at = {"found": basis.interpolate(found)}
            system = tangent.assemble(basis, **at), -force.assemble(basis, **at)
            change = skfem.solve(*skfem.condense(*system, D=held))
            found += change
            if abs(change).max() < 1e-12:
                break
    energy = stored.assemble(basis, found=basis.interpolate(found))
    vertex = np.linalg.norm(mesh.p.T - [0.5, 0.0], axis=1).argmin()
    return {"energy": energy, "narrowing": found[basis.nodal_dofs[1, vertex]]}


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
