import numbers

import sympy as sp

from keraspinn import geometry
from keraspinn.common.checks import nonnegative
from keraspinn.declaration.conditions import Condition
from keraspinn.declaration.problem import Problem
from keraspinn.problems.cavity_reference import CavityReference
from keraspinn.problems.constants import check_constants

FORMULATIONS = ("streamfunction-pressure", "velocity-pressure")


def lid_driven_cavity(
    reynolds: float | sp.Expr = 100,
    formulation: str = "streamfunction-pressure",
    corner_width: float | None = None,
    boundary_weight: float = 1.0,
    reference_n: int = 256,
    reference_reynolds: float | None = None,
) -> Problem:
    """Steady flow in a square cavity whose lid slides with unit speed.

    The incompressible Navier–Stokes equations on [0, 1]², u = (1, 0) on the lid
    y = 1 and (0, 0) on the other walls; pressure is determined up to a constant.
    Nondimensional: lengths in cavity sides, velocities in lid speeds, pressure in
    ρ times lid speed squared.

    Args:
        reynolds: Reynolds number, side times lid speed over kinematic viscosity; a
            number, or an expression in a `Parameter` to be found.
        formulation: `"velocity-pressure"` has the fields u, v, p and three
            equations; `"streamfunction-pressure"` has p and ψ, u = ψ_y and
            v = −ψ_x in the same momentum equations, and satisfies continuity
            exactly.
        corner_width: Distance δ over which the equations fade in around the lid's
            two corners, in cavity sides. The velocity jumps there, so that the
            residual has no bound, and what little lies next to the corners would
            govern the training. The momentum equations, whose residual grows as r⁻²
            towards a corner, are multiplied by tanh²(r/δ) of the distance r to each;
            continuity, which grows as r⁻¹ and lets mass leak where it fades, by
            tanh(5r/δ). 0 leaves the equations as they are; `None` takes 0.2, or 0.1
            where continuity is one of them.
        boundary_weight: The loss weight λ of the boundary that training starts with.
        reference_n: Number of cells a side of the finite-difference reference.
        reference_reynolds: The reference's Reynolds number, if `reynolds` is unknown.

    Returns:
        A `Problem` with one condition, `boundary`, and as reference `speed`, `u`,
        `v` and `p` (up to a constant, and 0.02 away from the lid's corners, where it
        has no bound) on a grid of 100 × 100 points. It is solved for when it is first
        asked for, and kept in the user's cache.

    Raises:
        ValueError: If `formulation` is neither of the two, or `corner_width` is
            negative or not finite.

    Example:

    >>> problem = keraspinn.problems.lid_driven_cavity(reference_n=32)
    >>> problem.field_names
    ('p', 'psi')

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", section 3.3.
    """
    if formulation not in FORMULATIONS:
        raise ValueError(
            f"`formulation` must be one of {FORMULATIONS}. Received: {formulation!r}"
        )
    if corner_width is None:
        corner_width = 0.1 if formulation == "velocity-pressure" else 0.2
    check_constants(reynolds=reynolds)
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
            fades = [
                sp.tanh(5 * r) if name == "continuity" else sp.tanh(r) ** 2
                for r in near
            ]
            equations[name] = sp.Mul(*fades, equation)
    known = reynolds if reference_reynolds is None else reference_reynolds
    if not isinstance(known, numbers.Real):
        raise ValueError(
            "`reference_reynolds` must be the number to compare with, such as 100, "
            f"where `reynolds` is unknown. Received: {known!r}"
        )
    lid = sp.Piecewise((1, y >= 1), (0, True))
    return Problem(
        domain=geometry.Box({x: (0, 1), y: (0, 1)}),
        equations=equations,
        conditions={
            "boundary": Condition([sp.Eq(u, lid), v], "boundary", boundary_weight)
        },
        reference=CavityReference(u, v, p, known, reference_n),
        scales=None,
    )
