"""Hyperelasticity, conduction in several materials, Poisson's equation on an L."""

import functools

import numpy as np
import skfem
import sympy as sp
from skfem.helpers import dot, grad

import keraspinn as kp
from examples.energies import finite_elements as fem
from examples.energies.case import Case, Form, energy_form, strong_form
from examples.public_examples.common import declared_by

x, y = sp.symbols("x y")
# Lamé's constants and relative elongation of the rubber: Pa, Pa, 1.
MU, FIRST, STRETCH = 0.4e6, 1.0e6, 0.5


def rubber():
    """Return the domain, the deformation gradient and the displacements."""
    u, v = (sp.Function(name)(x, y) for name in "uv")
    deformation = sp.eye(2) + sp.Matrix([u, v]).jacobian([x, y])
    return kp.geometry.Box({x: (0, 1), y: (0, 1)}), deformation, (u, v)


def rubber_density():
    _, deformation, _ = rubber()
    log = sp.log(deformation.det())
    return (
        MU / 2 * ((deformation.T * deformation).trace() - 2)
        - MU * log
        + FIRST / 2 * log**2
    )


def grips(u, v):
    return {
        "left": kp.Condition([u, v], on={x: 0}, hard=True),
        "right": kp.Condition([u - STRETCH, v], on={x: 1}, hard=True),
    }


def rubber_energy():
    square, _, (u, v) = rubber()
    energy = kp.integral(rubber_density())
    return kp.Problem(square, energy=energy, conditions=grips(u, v))


def rubber_strong():
    square, deformation, (u, v) = rubber()
    inverse = deformation.inv().T
    stress = MU * (deformation - inverse)
    stress += FIRST * sp.log(deformation.det()) * inverse
    equations = {
        s.name: stress[k, 0].diff(x) + stress[k, 1].diff(y)
        for k, s in enumerate((x, y))
    }
    free = kp.Condition([stress[0, 1], stress[1, 1]], on=[{y: 0}, {y: 1}])
    return kp.Problem(square, equations, grips(u, v) | {"free": free})


def rubber_reference():
    def solve(number):
        mesh = skfem.MeshQuad().refined(number)
        return fem.hyperelasticity(mesh, MU, FIRST, STRETCH)

    return fem.converged(solve, (2, 3, 4))


def rubber_measure(model, reference):
    v = sp.Function("v")(x, y)
    displacement = model.predict_expression(v, np.array([[0.5, 0.0]]))[0]
    energy = model.integrate(rubber_density())
    return {
        "energy": abs(float(energy) / reference["energy"] - 1),
        "narrowing": abs(float(displacement) / reference["narrowing"] - 1),
    }


def relative_l2(model, reference):
    """Return the relative L2 error against the problem's reference."""
    logs = model.evaluate(*model.problem.test_data(), return_dict=True, verbose=0)
    end = "_relative_l2"
    (error,) = [float(v) for k, v in logs.items() if k.endswith(end)]
    return {"L2": error}


def closed_form():
    return {}


T = sp.Function("T")(x)
T1, T2 = (sp.Function(name)(x) for name in ("T1", "T2"))
HALF = sp.Rational(1, 2)
LEFT, RIGHT = kp.geometry.Box({x: (0, HALF)}), kp.geometry.Box({x: (HALF, 1)})
BAR = kp.geometry.Box({x: (0, 1)})


def by_side(left, right):
    return sp.Piecewise((left, x < HALF), (right, True))


def two_fields(first, second, exact):
    """Declare conduction through two layers, with a field in each."""
    k1, k2 = first(T1), second(T2)
    joint = kp.interface_condition(
        LEFT, RIGHT, (T1, T2), ([-k1 * T1.diff(x)], [-k2 * T2.diff(x)])
    )
    return kp.Problem(
        BAR,
        {
            "left": kp.Equation((k1 * T1.diff(x)).diff(x), on=LEFT),
            "right": kp.Equation((k2 * T2.diff(x)).diff(x), on=RIGHT),
        },
        {
            "hot": kp.Condition(sp.Eq(T1, 1), on={x: 0}),
            "cold": kp.Condition(T2, on={x: 1}),
            "interface": joint,
        },
        reference={kp.by_region({LEFT: T1, RIGHT: T2}): exact},
    )


def ends():
    return {
        "hot": kp.Condition(sp.Eq(T, 1), on={x: 0}, hard=True),
        "cold": kp.Condition(T, on={x: 1}, hard=True),
    }


def one_field(first, second, exact):
    """Declare conduction through two layers, with a field whose coefficient jumps."""
    flux = by_side(first(T), second(T)) * T.diff(x)
    return kp.Problem(BAR, {"heat": flux.diff(x)}, ends(), reference={T: exact})


def copper(_):
    return sp.Integer(400)


def glass(_):
    return sp.Rational(138, 100)


def slab_exact():
    """Return the temperature in two layers with the same flux."""
    k1, k2 = copper(0), glass(0)
    flux = 1 / (HALF / k1 + HALF / k2)
    return by_side(1 - flux * x / k1, flux * (1 - x) / k2)


def slab_energy():
    density = by_side(copper(T), glass(T)) * T.diff(x) ** 2 / 2
    return kp.Problem(
        BAR,
        energy=kp.integral(density),
        conditions=ends(),
        reference={T: slab_exact()},
    )


def warm(value):
    return 2 * (1 + value)


def cool(value):
    return 1 - value / 2


def layers_exact():
    """Return the temperature for k1 = 2 (1 + T) and k2 = 1 - T / 2, by Kirchhoff."""
    middle = sp.Symbol("middle")
    # ∫ k dT is linear in x: 2 T + T² on the left, T - T² / 4 on the right.
    flux = 3 - (2 * middle + middle**2)
    (root,) = [
        r for r in sp.Poly(flux - middle + middle**2 / 4, middle).nroots() if 0 < r < 1
    ]
    flux = 2 * float(flux.subs(middle, root))
    left = -1 + sp.sqrt(4 - flux * x)
    right = 2 - sp.sqrt(4 - 4 * flux * (1 - x))
    return by_side(left, right)


U = sp.Function("T")(x, y)
RADIUS, K1, K2 = HALF, 10, 1
SQUARE = kp.geometry.Box({x: (-1, 1), y: (-1, 1)})
OUTSIDE = x * (1 - sp.Rational(K1 - K2, K1 + K2) * RADIUS**2 / (x**2 + y**2))
INSIDE = sp.Rational(2 * K2, K1 + K2) * x
FIBRE_FIELDS = declared_by("examples/gallery/two_materials.py")


def fibre_one():
    """Return the exact field, the conductivity and the conditions for one field."""
    in_fibre = x**2 + y**2 < RADIUS**2
    exact = sp.Piecewise((INSIDE, in_fibre), (OUTSIDE, True))
    sides = {"sides": kp.Condition(sp.Eq(U, OUTSIDE), on="boundary", weight=1000)}
    return exact, sp.Piecewise((K1, in_fibre), (K2, True)), sides


def fibre_energy():
    exact, k, sides = fibre_one()
    density = k * (U.diff(x) ** 2 + U.diff(y) ** 2) / 2
    energy = kp.integral(density)
    return kp.Problem(SQUARE, energy=energy, conditions=sides, reference={U: exact})


def fibre_strong():
    exact, k, sides = fibre_one()
    heat = (k * U.diff(x)).diff(x) + (k * U.diff(y)).diff(y)
    return kp.Problem(SQUARE, {"heat": heat}, sides, reference={U: exact})


W = sp.Function("u")(x, y)
CORNER = kp.geometry.Polygon(
    [(-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)], coordinates=(x, y)
)
RIM = {"rim": kp.Condition(W, on="boundary", hard=True)}
L_DENSITY = (W.diff(x) ** 2 + W.diff(y) ** 2) / 2 - W


def corner_energy():
    return kp.Problem(CORNER, energy=kp.integral(L_DENSITY), conditions=RIM)


def corner_strong():
    # Behind a hard condition a network cannot use the corner's features.
    soft = {"rim": kp.Condition(W, on="boundary")}
    return kp.Problem(CORNER, {"poisson": W.diff(x, 2) + W.diff(y, 2) + 1}, soft)


@functools.cache
def corner_solution(size=0.125):
    mesh = fem.boxes(((-1, 0), (-1, 1)), ((-1, 1), (0, 1)), size=size)
    return fem.poisson(fem.graded(mesh, [(0, 0)], rounds=12))


@skfem.Functional
def _dirichlet(w):
    return dot(grad(w.u), grad(w.u))


def corner_reference():
    def solve(size):
        basis, values = corner_solution(size)
        u = basis.interpolate(values)
        return {"energy": -_dirichlet.assemble(basis, u=u) / 2}

    return fem.converged(solve, (0.25, 0.125, 0.0625))


def corner_measure(model, reference):
    """Return relative errors in L2 and in the energy norm, that of the gradient."""
    basis, solution = corner_solution()
    points = np.array(basis.global_coordinates())
    columns = points.reshape(2, -1).T
    weights, exact = basis.dx.ravel(), basis.interpolate(solution)
    errors = model.predict_expression(W, columns) - np.array(exact).ravel()
    gradient = [model.predict_expression(W.diff(s), columns) for s in (x, y)]
    differences = np.array(gradient) - np.array(exact.grad).reshape(2, -1)
    squares = np.array(exact.grad).reshape(2, -1) ** 2

    def norm(values):
        return np.sqrt((weights * values).sum())

    return {
        "L2": norm(errors**2) / norm(np.array(exact).ravel() ** 2),
        "energy norm": norm((differences**2).sum(axis=0)) / norm(squares.sum(axis=0)),
    }


def materials(first, second, exact):
    return {
        "fields": Form(lambda: two_fields(first, second, exact()), 400, by_fields=True),
        "strong form": strong_form(lambda: one_field(first, second, exact())),
    }


CASES = {
    "neo-Hookean block": Case(
        {
            "energy": energy_form(rubber_energy),
            "strong form": strong_form(rubber_strong),
        },
        rubber_reference,
        rubber_measure,
        {"energy": 0.01, "narrowing": 0.01},
        depth=2,
    ),
    "slab": Case(
        materials(copper, glass, slab_exact)
        | {"energy": energy_form(slab_energy, 100, 4096)},
        closed_form,
        relative_l2,
        {"fields: L2": 1e-6, "energy: L2": 1e-3},
        units=15,
        depth=2,
    ),
    "fibre": Case(
        {
            "fields": Form(FIBRE_FIELDS, 5000, by_fields=True),
            "energy": energy_form(fibre_energy, 60),
            "strong form": strong_form(fibre_strong),
        },
        closed_form,
        relative_l2,
        {"fields: L2": 1e-4},
        depth=2,
    ),
    "layers with k(T)": Case(
        materials(warm, cool, layers_exact),
        closed_form,
        relative_l2,
        {"fields: L2": 1e-5},
        units=15,
        depth=2,
    ),
    "Poisson on an L": Case(
        {
            "energy": energy_form(corner_energy, 120),
            "strong form": strong_form(corner_strong),
        },
        corner_reference,
        corner_measure,
        {},
    ),
}
