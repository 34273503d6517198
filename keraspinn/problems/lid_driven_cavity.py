import numbers

import sympy as sp

from keraspinn import geometry
from keraspinn.common.checks import check_choice, nonnegative, positive_number
from keraspinn.declaration import Condition, Problem
from keraspinn.problems.cavity_reference import CavityReference, stored_flows

FORMULATIONS = ("streamfunction-pressure", "velocity-pressure")


def lid_driven_cavity(
    reynolds: float | sp.Expr = 100,
    formulation: str = "streamfunction-pressure",
    corner_width: float | None = None,
    boundary_weight: float = 1.0,
    reference_reynolds: float | None = None,
) -> Problem:
    """Return the steady flow in a square cavity whose lid slides with unit speed.

    The incompressible Navier–Stokes equations on [0, 1]², u = (1, 0) on the lid
    y = 1 and (0, 0) on the other walls; pressure is determined up to a constant.
    Nondimensional: lengths in cavity sides, velocities in lid speeds, pressure in
    ρ times lid speed squared.

    Args:
        reynolds: Reynolds number, side times lid speed over kinematic viscosity; a
            number, or an expression in an unknown `Parameter`.
        formulation: `"velocity-pressure"` has the fields u, v, p and three
            equations; `"streamfunction-pressure"` has p and ψ, u = ψ_y and
            v = −ψ_x in the same momentum equations, and satisfies continuity
            exactly.
        corner_width: Distance δ over which the equations fade in around the lid's
            two corners, in cavity sides. The velocity jumps there, so that the
            residual is unbounded, and a small region would dominate the training.
            The momentum equations, whose residual grows as r⁻² towards a corner, are
            multiplied by tanh²(r/δ) of the distance r to each. Continuity, which grows
            as r⁻¹ and lets mass leak where it fades, is multiplied by tanh(5r/δ). 0
            leaves the equations unchanged. The default is 0.2, or 0.1 if continuity is
            one of them.
        boundary_weight: Initial loss weight λ of the boundary.
        reference_reynolds: The reference's Reynolds number, if `reynolds` is unknown;
            without it the problem has no reference then.

    Returns:
        A `Problem` with one condition, `boundary`. For the Reynolds numbers 100, 400
        and 1000 it has a reference: `speed`, `u`, `v` and `p` (up to a constant, and
        0.02 away from the lid's corners, where it is unbounded) on a grid of
        100 × 100 points.

    Raises:
        ValueError: If `formulation` is neither of the two, `corner_width` is negative
            or not finite, `reynolds` is not positive, or `reference_reynolds` is not
            one of the three.

    Example:

    >>> problem = keraspinn.problems.lid_driven_cavity()
    >>> problem.field_names
    ('p', 'psi')

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", section 3.3.
    """
    check_choice("formulation", formulation, FORMULATIONS)
    if corner_width is None:
        corner_width = 0.1 if formulation == "velocity-pressure" else 0.2
    corner_width = nonnegative("corner_width", corner_width)
    x, y = sp.symbols("x y")
    p = sp.Function("p")(x, y)
    if formulation == "velocity-pressure":
        u, v = sp.Function("u")(x, y), sp.Function("v")(x, y)
    else:
        psi = sp.Function("psi")(x, y)
        u, v = psi.diff(y), -psi.diff(x)

    def momentum(component, pressure_gradient):
        advection = u * component.diff(x) + v * component.diff(y)
        diffusion = (component.diff(x, 2) + component.diff(y, 2)) / reynolds
        return advection + pressure_gradient - diffusion

    equations = {
        "momentum_x": momentum(u, p.diff(x)),
        "momentum_y": momentum(v, p.diff(y)),
    }
    if formulation == "velocity-pressure":
        equations["continuity"] = u.diff(x) + v.diff(y)
    if corner_width:
        near = [sp.sqrt(dx**2 + (1 - y) ** 2) / corner_width for dx in (x, 1 - x)]
        for name, equation in equations.items():
            is_mass = name == "continuity"
            fades = [sp.tanh(5 * r) if is_mass else sp.tanh(r) ** 2 for r in near]
            equations[name] = sp.Mul(*fades, equation)
    if isinstance(reynolds, numbers.Real):
        positive_number("reynolds", reynolds)
    target = reynolds if reference_reynolds is None else reference_reynolds
    has_reference = reference_reynolds is not None or target in stored_flows()
    lid = sp.Piecewise((1, y >= 1), (0, True))
    boundary = Condition([sp.Eq(u, lid), v], "boundary", boundary_weight)
    return Problem(
        domain=geometry.Box({x: (0, 1), y: (0, 1)}),
        equations=equations,
        conditions={"boundary": boundary},
        reference=CavityReference(u, v, p, target) if has_reference else None,
        scales=None,
    )
