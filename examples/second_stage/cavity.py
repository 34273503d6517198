"""The lid-driven cavity at Re = 100: as the paper has it, with its corners taken out,
and below a lid whose speed does not jump."""

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.second_stage.cavity_flow import (
    REYNOLDS,
    X,
    Y,
    corner_parts,
    regularised_lid,
    solve,
)


def cavity(formulation="streamfunction-pressure"):
    """The paper's, its equations faded in around the corners as in the library.

    Continuity is faded in, too. An integral condition keeps the flow rate through any
    section at zero, against flow from one end of the lid to the other.
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
    """The same flow as the sum of the corners' closed form and of smooth fields.

    The network learns ψ and p, or u, v and p, less the corners' creeping flow, which
    has all of the lid's speed: the network's part vanishes on every wall.
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
    """The flow below a lid of speed 16 x² (1 − x)²."""
    declared = kp.problems.lid_driven_cavity(REYNOLDS, formulation, corner_width=0)
    u, v = velocity(declared)
    lid = regularised_lid()
    on_walls = sp.Piecewise((lid, Y >= 1), (0, True))
    return kp.Problem(
        declared.domain,
        declared.equations,
        {"boundary": kp.Condition([sp.Eq(u, on_walls), v], on="boundary")},
        reference(u, v, lid),
    )


def velocity(declared):
    """u and v as expressions in the problem's fields."""
    fields = {field.func.__name__: field for field in declared.fields}
    if "psi" in fields:
        return fields["psi"].diff(Y), -fields["psi"].diff(X)
    return fields["u"], fields["v"]


def reference(u, v, lid):
    """Speed, u and v on the paper's 100 × 100 points, walls included.

    The lid's two ends are not, where its speed jumps and has no value: with them, two
    points of ten thousand were nine tenths of the error.
    """
    side = np.linspace(0, 1, 100)
    points = np.stack(np.meshgrid(side, side, indexing="ij"), -1).reshape(-1, 2)
    points = points[(points != [[0, 1]]).any(1) & (points != [[1, 1]]).any(1)]
    exact = solve(lid).velocity(points)
    speed = sp.sqrt(u**2 + v**2)
    values = {speed: np.hypot(*exact), u: exact[0], v: exact[1]}
    return kp.Reference(points, values, {speed: "speed", u: "u", v: "v"})
