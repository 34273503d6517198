"""Problems that ran before anything was tuned on them."""

import numpy as np
import skfem
import sympy as sp
from scipy.spatial import Delaunay

import keraspinn as kp
from examples.energies import finite_elements as fem
from examples.energies.case import Case, Form, energy_form, strong_form
from examples.energies.elastic import (
    BOTH,
    BOX,
    LOAD,
    STEEL,
    TRIANGLE,
    Body,
    beam_reference,
)
from examples.energies.elastic import case as of_body
from examples.energies.other import closed_form, relative_l2

x, y = sp.symbols("x y")

# A wrench: a long handle and a jaw with a mouth, clamped in the mouth, mm.
CORNERS = 1e-3 * np.array(
    [
        *[(0, 0), (20, 0), (30, 10), (150, 10), (150, 30)],
        *[(30, 30), (20, 40), (0, 40), (0, 28), (15, 28), (15, 12), (0, 12)],
    ],
    float,
)


class Wrench(Body):
    """Body that is free on its inclined sides, too."""

    def released(self, traction):
        rest = (x < 0.14999) & (
            ((x - 0.015) ** 2 > 1e-12) | ((y - 0.02) ** 2 > 0.008**2)
        )
        return kp.Condition(list(traction), on="boundary", where=rest)


WRENCH = Wrench(
    kp.geometry.Polygon(CORNERS, coordinates=(x, y)),
    {x: 0.015},
    {x: 0.15},
    (0, -LOAD),
    None,
    (0.15, 0.02),
)


def wrench_reference():
    """Solve on refined triangles of the grid through all corners."""
    xs, ys = (
        1e-3 * np.array([0, 15, 20, 30, 150]),
        1e-3 * np.array([0, 10, 12, 28, 30, 40]),
    )

    def solve(number):
        points = [(a, b) for a in xs for b in ys if not (a > 0.02 and b in (0, 0.04))]
        points = np.array([p for p in points if not (p[0] == 0.15 and p[1] == 0)])
        mesh = skfem.MeshTri(points.T, _triangles(points)).refined(number)
        mesh = fem.graded(mesh, [(0.015, 0.012), (0.015, 0.028)])
        ends = fem.facets(mesh, 0, 0.015), fem.facets(mesh, 0, 0.15)
        return WRENCH.solved(mesh, TRIANGLE, *ends)

    return fem.converged(solve, (1, 2, 3))


def _triangles(points):
    triangles = Delaunay(points).simplices
    middles = points[triangles].mean(axis=1)
    domain = WRENCH.domain
    inside = domain.contains(domain.interior, middles - domain.centre)
    return triangles[inside].T


# Torsion of a cross of two beams by Prandtl's stress function: -Δφ = 2, φ = 0 outside.
P = sp.Function("phi")(x, y)
CROSS = kp.geometry.Polygon(
    [
        *[(-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1)],
        *[(1, 3), (-1, 3), (-1, 1), (-3, 1), (-3, -1), (-1, -1)],
    ],
    coordinates=(x, y),
)
RIM = {"rim": kp.Condition(P, on="boundary", weight=1000)}


def torsion_energy():
    density = (P.diff(x) ** 2 + P.diff(y) ** 2) / 2 - 2 * P
    rim = kp.Condition(P, on="boundary", hard=True)
    return kp.Problem(CROSS, energy=kp.integral(density), conditions={"rim": rim})


def torsion_strong():
    return kp.Problem(CROSS, {"torsion": P.diff(x, 2) + P.diff(y, 2) + 2}, RIM)


def torsion_reference():
    """Return the torsion constant, 2 ∫ φ."""

    def solve(size):
        mesh = fem.boxes(((-1, 1), (-3, 3)), ((-3, 3), (-1, 1)), size=size)
        corners = [(a, b) for a in (-1, 1) for b in (-1, 1)]
        basis, values = fem.poisson(fem.graded(mesh, corners))
        ones = skfem.LinearForm(lambda v, w: v).assemble(basis)
        return {"constant": 4 * ones @ values}  # values solve -Δφ = 1: φ is twice them

    return fem.converged(solve, (0.5, 0.25, 0.125))


def torsion_measure(model, reference):
    constant = 2 * model.integrate(P)
    return {"constant": abs(float(constant) / reference["constant"] - 1)}


# Brick, insulation and plaster between air at 20 and at -10 degrees, convection on
# both sides.
T = sp.Function("T")(x)
# Thickness and conductivity of each layer: m, W/(m K).
LAYERS = ((0.24, 0.8), (0.16, 0.035), (0.015, 0.7))
# Heat transfer coefficients and air temperatures of both sides: W/(m² K), °C.
INSIDE, OUTSIDE, WARM, COLD = 8.0, 25.0, 20.0, -10.0


def wall():
    """Return boxes, conductivities, and exact temperatures of each layer."""
    resistance = 1 / INSIDE + sum(d / k for d, k in LAYERS) + 1 / OUTSIDE
    flux, start, temperature = (WARM - COLD) / resistance, 0.0, WARM
    temperature -= flux / INSIDE
    layers = []
    for thickness, k in LAYERS:
        end = round(start + thickness, 6)
        layers.append((start, end, k, temperature - flux / k * (x - start)))
        start, temperature = end, temperature - flux / k * thickness
    return layers


def wall_fields():
    layers = wall()
    boxes = [kp.geometry.Box({x: (a, b)}) for a, b, *_ in layers]
    names = [sp.Function(f"T{k + 1}")(x) for k in range(len(layers))]
    ks = [k for *_, k, _ in layers]
    equations, conditions = {}, {}
    for number, (box, name, k) in enumerate(zip(boxes, names, ks, strict=True)):
        equations[f"layer{number}"] = kp.Equation(k * name.diff(x, 2), on=box)
        if number:
            pair = names[number - 1], name
            flux = [-ks[number - 1] * pair[0].diff(x)], [-k * name.diff(x)]
            conditions[f"joint{number}"] = kp.interface_condition(
                boxes[number - 1], box, pair, flux
            )
    inside = sp.Eq(-ks[0] * names[0].diff(x), INSIDE * (WARM - names[0]))
    outside = sp.Eq(-ks[-1] * names[-1].diff(x), OUTSIDE * (names[-1] - COLD))
    conditions["inside"] = kp.Condition(inside, on={x: 0})
    conditions["outside"] = kp.Condition(outside, on={x: layers[-1][1]})
    exact = dict(zip(boxes, (e for *_, e in layers), strict=True))
    fields = dict(zip(boxes, names, strict=True))
    return kp.Problem(
        kp.geometry.Box({x: (0, layers[-1][1])}),
        equations,
        conditions,
        reference={kp.by_region(fields): kp.by_region(exact)},
    )


def wall_energy():
    layers = wall()
    end = layers[-1][1]
    pairs = [(k, x < b) for _, b, k, _ in layers[:-1]] + [(layers[-1][2], True)]
    exact = [(e, x < b) for _, b, _, e in layers[:-1]] + [(layers[-1][3], True)]
    energy = kp.integral(sp.Piecewise(*pairs) * T.diff(x) ** 2 / 2)
    energy += kp.integral(INSIDE * (T - WARM) ** 2 / 2, over={x: 0})
    energy += kp.integral(OUTSIDE * (T - COLD) ** 2 / 2, over={x: end})
    return kp.Problem(
        kp.geometry.Box({x: (0, end)}),
        energy=energy,
        conditions={},
        reference={T: sp.Piecewise(*exact)},
    )


# A sandwich cantilever: steel faces of 5 mm on a core 500 times softer.
(LENGTH, DEPTH), FACE = BOX.domain.upper, 0.005
CORE = STEEL / 500
IN_CORE = sp.And(y > FACE, y < DEPTH - FACE)
SANDWICH = Body(
    BOX.domain,
    {x: 0},
    {x: LENGTH},
    (0, -LOAD),
    [{y: 0}, {y: DEPTH}],
    (LENGTH, DEPTH / 2),
    young=sp.Piecewise((CORE, IN_CORE), (STEEL, True)),
)


def sandwich_reference():
    def modulus(points):
        in_core = (points[1] > FACE) & (points[1] < DEPTH - FACE)
        return np.where(in_core, CORE, STEEL)

    return beam_reference(SANDWICH, modulus, (6, 12, 24))


# A portal frame: two clamped columns and a beam, pushed on its left side.
FRAME = Body(
    kp.geometry.Box({x: (0, 0.1), y: (0, 0.1)})
    - kp.geometry.Box({x: (0.02, 0.08), y: (0, 0.08)}),
    {y: 0},
    {x: 0},
    (LOAD, 0),
    [{x: 0.1}, {y: 0.1}, {x: 0.02}, {x: 0.08}, {y: 0.08}],
    (0.1, 0.1),
)


def frame_reference():
    columns = [((a, a + 0.02), (0, 0.1)) for a in (0, 0.08)]

    def solve(number):
        mesh = fem.boxes(*columns, ((0, 0.1), (0.08, 0.1)), size=0.01 / number)
        corners = [(0.02, 0.08), (0.08, 0.08), (0, 0), (0.02, 0), (0.08, 0), (0.1, 0)]
        mesh = fem.graded(mesh, corners)
        return FRAME.solved(
            mesh, TRIANGLE, fem.facets(mesh, 1, 0), fem.facets(mesh, 0, 0)
        )

    return fem.converged(solve, (1, 2, 4))


CASES = {
    "sandwich cantilever": Case(
        {"energy": energy_form(SANDWICH.energy, 120)},
        sandwich_reference,
        SANDWICH.measure,
        BOTH,
        held_back=True,
    ),
    "portal frame": of_body(FRAME, frame_reference, 120, BOTH, held_back=True),
    "wrench": of_body(WRENCH, wrench_reference, 240, BOTH, held_back=True),
    "three-layer wall": Case(
        {
            "fields": Form(wall_fields, 400, by_fields=True),
            "energy": energy_form(wall_energy, 100, 4096),
        },
        closed_form,
        relative_l2,
        {"fields: L2": 1e-4, "energy: L2": 1e-2},
        units=15,
        depth=2,
        held_back=True,
    ),
    "torsion of a cross": Case(
        {
            "energy": energy_form(torsion_energy, 120),
            "strong form": strong_form(torsion_strong),
        },
        torsion_reference,
        torsion_measure,
        {"constant": 0.01},
        held_back=True,
    ),
}
