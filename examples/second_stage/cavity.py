"""Lid-driven cavity at Re = 100, with three treatments of the corners.

The equations fade in around the corners, or the creeping flow in the corners is
subtracted, or the speed of the lid vanishes there.
"""

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.second_stage.cavity_flow import (
    REYNOLDS,
    X,
    Y,
    corner_parts,
    parabolic_lid,
    regularised_lid,
    solve,
)


def cavity(formulation="streamfunction-pressure"):
    """Declare the paper's cavity, whose equations fade in around the corners.

    Continuity fades in too, so that fluid could flow from one end of the lid to the
    other. An integral condition fixes the flow rate through all sections at zero.
    """
    declared = kp.problems.lid_driven_cavity(REYNOLDS, formulation)
    u, v = velocity(declared)
    conditions = dict(declared.conditions)
    if formulation == "velocity-pressure":
        height = sp.Symbol("height")
        through = sum(
            sp.Integral(u.subs(Y, height), (height, *part))
            for part in ((0, 0.8), (0.8, 1))
        )
        between = (X > 0.3) & (X < 0.7)
        conditions["through"] = kp.Condition(through, on={Y: 1}, where=between)
    return kp.Problem(
        declared.domain,
        declared.equations,
        conditions,
        reference(u, v, sp.Integer(1)),
    )


def cavity_split(formulation="streamfunction-pressure", corner_width=0.05):
    """Declare the same flow as the sum of a closed form and smooth fields.

    The closed form is the creeping flow in the corners, which includes the whole speed
    of the lid. So the smooth fields, which the network learns, vanish on all walls.
    """
    declared = kp.problems.lid_driven_cavity(REYNOLDS, formulation, corner_width)
    psi, p = corner_parts(sp.Rational(1, REYNOLDS))
    known = {"psi": psi, "u": psi.diff(Y), "v": -psi.diff(X), "p": p}
    sums = {field: field + known[field.func.__name__] for field in declared.fields}
    u, v = (w.subs(sums).doit() for w in velocity(declared))
    return kp.Problem(
        declared.domain,
        {name: e.subs(sums).doit() for name, e in declared.equations.items()},
        {"boundary": kp.Condition(list(velocity(declared)), on="boundary")},
        reference(u, v, sp.Integer(1)),
    )


def cavity_regularised(formulation="streamfunction-pressure"):
    """Declare the flow below a lid of speed 16 x² (1 − x)²."""
    return cavity_below(regularised_lid(), formulation)


def cavity_parabolic():
    """Declare the flow below a lid of speed 4 x (1 − x)."""
    return cavity_below(parabolic_lid())


def cavity_below(lid, formulation="streamfunction-pressure"):
    """Declare the flow below a lid whose speed vanishes in the corners."""
    declared = kp.problems.lid_driven_cavity(REYNOLDS, formulation, corner_width=0)
    u, v = velocity(declared)
    on_walls = sp.Piecewise((lid, Y >= 1), (0, True))
    return kp.Problem(
        declared.domain,
        declared.equations,
        {"boundary": kp.Condition([sp.Eq(u, on_walls), v], on="boundary")},
        reference(u, v, lid),
    )


def velocity(declared):
    """Return u and v as expressions in the fields of the problem."""
    fields = {field.func.__name__: field for field in declared.fields}
    if "psi" in fields:
        return fields["psi"].diff(Y), -fields["psi"].diff(X)
    return fields["u"], fields["v"]


def reference(u, v, lid):
    """Return a reference for speed, u and v on `compared_points`."""
    points = compared_points()
    exact = solve(lid).velocity(points)
    speed = sp.sqrt(u**2 + v**2)
    values = {speed: np.hypot(*exact), u: exact[0], v: exact[1]}
    return kp.Reference(points, values, {speed: "speed", u: "u", v: "v"})


def compared_points():
    """Return the paper's 100 × 100 points without the two ends of the lid.

    The speed jumps there. These two of 10,000 points would cause 90 % of the error.
    """
    side = np.linspace(0, 1, 100)
    points = np.stack(np.meshgrid(side, side, indexing="ij"), -1).reshape(-1, 2)
    return points[(points != [[0, 1]]).any(1) & (points != [[1, 1]]).any(1)]
