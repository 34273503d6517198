import functools

import sympy as sp

from keraspinn import geometry
from keraspinn.conditions import Condition, Reference
from keraspinn.problem import Problem
from keraspinn.reference import lid_driven_cavity as solve

FORMULATIONS = ("streamfunction-pressure", "velocity-pressure")


def lid_driven_cavity(
    reynolds=100,
    formulation="streamfunction-pressure",
    reference_n=256,
    reference_reynolds=None,
):
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
        reference_n: Number of cells a side of the finite-difference reference.
        reference_reynolds: The reference's Reynolds number, if `reynolds` is unknown.

    Returns:
        A `Problem` with one condition, `boundary`, and as reference `speed`, `u`,
        `v` and `p` (up to a constant) on a grid of 100 × 100 points.

    Raises:
        ValueError: If `formulation` is neither of the two.

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
    lid = sp.Piecewise((1, y >= 1), (0, True))
    domain = geometry.Box({x: (0, 1), y: (0, 1)})
    return Problem(
        domain=domain,
        equations=equations,
        conditions={"boundary": Condition([sp.Eq(u, lid), v], on="boundary")},
        reference=_reference(
            domain, reference_reynolds or reynolds, reference_n, u, v, p
        ),
    )


def _reference(domain, reynolds, n, u, v, p):
    speed = sp.sqrt(u**2 + v**2)
    points = domain.grid(100)
    flow = _solved(reynolds, n).at(points)
    values = {speed: flow["speed"], u: flow["u"], v: flow["v"], p: flow["pressure"]}
    names = {speed: "speed", u: "u", v: "v", p: "p"}
    return Reference(points, values, names=names, up_to_constant=[p])


@functools.cache
def _solved(reynolds, n):
    return solve(reynolds, n)
