"""Scales of initial value problems, from a coarse integration."""

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.declaration.scaling.time_integration import integrated_fields

T, MU = sp.symbols("t mu")


def sizes(equations, conditions, end, start=0.0, on="initial", **boxes):
    domain = kp.geometry.Box(**{"time": {T: (start, end)}} | boxes)
    conditions = {"initial": kp.Condition(conditions, on=on)}
    return kp.Problem(domain, equations, conditions).scales.fields


def fields(names):
    return [sp.Function(name)(T) for name in names.split()]


@pytest.mark.parametrize("end", [5, 60, 600, 3e5])
def test_a_pendulum_of_first_order_has_one_scale_over_many_periods(end):
    x, v = fields("x v")
    equations = {"rate": x.diff(T) - v, "force": v.diff(T) + sp.sin(x)}
    scales = sizes(equations, [sp.Eq(x, 1.5), v], end)
    assert scales["x"] == pytest.approx(1.5, rel=0.3)
    assert scales["v"] == pytest.approx(1.363, rel=0.3)


def test_space_coordinate_of_an_ode_is_integrated():
    s = sp.Symbol("s")
    x, v = (sp.Function(name)(s) for name in "xv")
    equations = {"rate": x.diff(s) - v, "force": v.diff(s) + sp.sin(x)}
    domain = kp.geometry.Box({s: (0, 60)})
    end = {"end": kp.Condition([sp.Eq(x, 1.5), v], on={s: 0})}
    scales = kp.Problem(domain, equations, end).scales.fields
    assert scales["v"] == pytest.approx(1.363, rel=0.1)


def test_final_conditions_are_integrated_backwards():
    x, v = fields("x v")
    equations = {"rate": x.diff(T) - v, "force": v.diff(T) + sp.sin(x)}
    scales = sizes(equations, [sp.Eq(x, 1.5), v], 60, on={T: 60})
    assert scales["v"] == pytest.approx(1.363, rel=0.1)


def test_predators_of_a_limit_cycle_do_not_have_the_scale_of_another_solution():
    prey, predators = fields("N P")
    eaten = 0.02 * prey * predators / (1 + 0.008 * prey)
    equations = {
        "prey": prey.diff(T) - 0.6 * prey * (1 - prey / 500) + eaten,
        "predators": predators.diff(T) - 0.35 * eaten + 0.2 * predators,
    }
    scales = sizes(equations, [sp.Eq(prey, 100), sp.Eq(predators, 20)], 25)
    assert scales["N"] == pytest.approx(162, rel=0.1)
    assert scales["P"] == pytest.approx(100, rel=0.1)


def test_an_epidemic_breaks_out_late():
    s, e, i = fields("s e i")
    equations = {
        "susceptible": s.diff(T) + 0.6 * s * i,
        "exposed": e.diff(T) - 0.6 * s * i + 0.2 * e,
        "infected": i.diff(T) - 0.2 * e + 0.1 * i,
    }
    initial = [sp.Eq(s, 1), e, sp.Eq(i, 1e-6)]
    scales = sizes(equations, initial, 300)
    assert scales["e"] == pytest.approx(0.234, rel=0.05)
    assert scales["i"] == pytest.approx(0.337, rel=0.05)


def test_a_chain_of_decays_from_milliseconds_to_hours():
    a, b, c = fields("a b c")
    equations = {
        "a": a.diff(T) + 1e3 * a,
        "b": b.diff(T) - 1e3 * a + 10 * b,
        "c": c.diff(T) - 10 * b + 1e-3 * c,
    }
    scales = sizes(equations, [sp.Eq(a, 1), b, c], 1e4)
    assert scales == pytest.approx({"a": 1, "b": 0.955, "c": 1}, rel=0.05)


def test_a_late_pulse_moves_a_body_at_rest():
    (x,) = fields("x")
    pulse = sp.exp(-(((T - 70) / 2) ** 2))
    scales = sizes({"force": x.diff(T, 2) + x - pulse}, [x, x.diff(T)], 100)
    assert scales["x"] == pytest.approx(1.598, rel=0.05)


def test_a_mass_matrix_is_solved_for_the_highest_derivatives():
    x, y = fields("x y")
    equations = {
        "sum": 2 * x.diff(T, 2) + y.diff(T, 2) + 2 * x + y,
        "difference": x.diff(T, 2) - (1 + T / 100) * y.diff(T, 2) + x,
    }
    initial = [sp.Eq(x, 1), x.diff(T), y, y.diff(T)]
    scales = sizes(equations, initial, 20)
    assert scales["x"] == pytest.approx(1, rel=0.1)


def test_the_largest_value_over_a_parameter_coordinate_counts():
    x, v = (sp.Function(name)(T, MU) for name in "xv")
    domain = kp.geometry.Box(time={T: (0, 60)}, parameters={MU: (1, 16)})
    equations = {"rate": x.diff(T) - v, "force": v.diff(T) + MU * x}
    initial = {"initial": kp.Condition([sp.Eq(x, 1), v], on="initial")}
    scales = kp.Problem(domain, equations, initial).scales.fields
    assert scales["v"] == pytest.approx(4, rel=0.05)


def test_a_reaction_beside_a_fast_oscillation_keeps_its_limit():
    # The oscillation of 1e5 periods is not followed to the end of the reaction.
    x, v, z = fields("x v z")
    equations = {
        "rate": x.diff(T) - v,
        "force": v.diff(T) + 4e5 * x,
        "reaction": z.diff(T) - 0.01 * z * (1 - z),
    }
    scales = sizes(equations, [sp.Eq(x, 0.1), v, sp.Eq(z, 1e-3)], 1500)
    assert scales["z"] == pytest.approx(1, rel=0.1)
    assert scales["x"] == pytest.approx(0.1, rel=0.3)


@pytest.mark.parametrize(
    "kind", ["algebraic", "boundary values", "blow-up", "singular"]
)
def test_problems_without_time_integration_keep_their_scales(kind):
    x, v = fields("x v")
    conditions = [sp.Eq(x, 1), sp.Eq(v, 1)]
    equations = {"x": x.diff(T) - v, "v": v.diff(T) + x}
    if kind == "algebraic":
        equations, conditions = {"x": x.diff(T) + v, "v": v - x**3}, conditions[:1]
    if kind == "boundary values":
        equations, conditions = {"x": x.diff(T, 2) + x, "v": v.diff(T) - x}, conditions
    if kind == "blow-up":
        equations["v"] = v.diff(T) - v**2 - 1
    if kind == "singular":
        equations["v"] = T * v.diff(T) + x
    scales = sizes(equations, conditions, 4)
    assert all(0.1 < size < 100 for size in scales.values())
    assert np.isfinite(list(scales.values())).all()


@pytest.mark.parametrize("kind", ["normal derivative", "shifted argument"])
def test_normals_and_shifted_arguments_use_the_spectral_solution(kind):
    s = sp.Symbol("s")
    w, domain = sp.Function("w")(s), kp.geometry.Box({s: (0, 5)})
    equation, conditions = w.diff(s, 2) + w, [w - 1, w.diff(s)]
    if kind == "normal derivative":
        conditions[1] = kp.normal_derivative(w, domain)
    else:
        equation = w.diff(s, 2) + w.subs(s, s / 2)
    condition = kp.Condition(conditions, on={s: 0})
    scales = kp.Problem(domain, {"force": equation}, {"end": condition}).scales
    assert 0.3 < scales.field("w") < 10


def test_redundant_initial_condition_is_no_error():
    x, v = fields("x v")
    equations = {"rate": x.diff(T) - v, "force": v.diff(T) + sp.sin(x)}
    scales = sizes(equations, [x, sp.Eq(x.diff(T), 1)], 60)
    assert all(0.1 < size < 100 for size in scales.values())


@pytest.mark.parametrize("end", [20, 72])
def test_unstable_solution_keeps_its_scale(end):
    (x,) = fields("x")
    equation = x.diff(T, 2) - x + 2 * sp.sin(T)
    scales = sizes({"force": equation}, [x, sp.Eq(x.diff(T), 1)], end)
    assert 0.5 < scales["x"] < 3


def test_condition_inside_the_interval_is_not_an_initial_condition():
    (x,) = fields("x")
    scales = sizes({"growth": x.diff(T) - x}, sp.Eq(x, 1), 10, on={T: 5})
    assert scales["x"] == pytest.approx(np.exp(5), rel=0.5)


def test_an_equation_on_a_part_of_the_time_is_not_integrated_beyond():
    (x,) = fields("x")
    rate = kp.Equation(x.diff(T) - 3 * x, where=T < 2)
    assert sizes({"growth": rate}, sp.Eq(x, 1), 10)["x"] < 1e4


def test_unbounded_growth_is_not_a_scale():
    (x,) = fields("x")
    assert sizes({"growth": x.diff(T) - x}, sp.Eq(x, 1), 700)["x"] < 1e30


def test_a_small_field_beside_a_huge_one_of_another_unit():
    r, v, a, w = fields("r v a w")
    equations = {
        "orbit": r.diff(T) - v,
        "gravity": v.diff(T) + r,
        "angle": a.diff(T) - w,
        "swing": w.diff(T) + 400 * sp.sin(a),
    }
    initial = [sp.Eq(r, 1.5e11), v, sp.Eq(a, 1e-3), w]
    scales = sizes(equations, initial, 60)
    assert scales["a"] == pytest.approx(1e-3, rel=0.3)
    assert scales["w"] == pytest.approx(2e-2, rel=0.3)


def test_a_division_by_an_initial_parameter_of_zero_declares():
    (x,) = fields("x")
    k = kp.Parameter("k", initial=0.0)
    equation = x.diff(T) / k + x
    assert sizes({"decay": equation}, sp.Eq(x, 1), 60)["x"] == pytest.approx(1)


def integrated(equations, conditions, end):
    domain = kp.geometry.Box(time={T: (0, end)})
    conditions = {"initial": kp.Condition(conditions, on="initial")}
    problem = kp.Problem(domain, equations, conditions)
    points = np.linspace(0, end, 101)[:, None]
    values = np.zeros((len(problem.fields), 101))
    return integrated_fields(problem, problem.scales, points, values), points[:, 0]


def test_fields_of_an_initial_value_problem_with_an_offset():
    x, v = fields("x v")
    equations = {"rate": x.diff(T) - v, "force": v.diff(T) + x - 300}
    (velocity, position), t = integrated(equations, [sp.Eq(x, 301), v], 20)
    np.testing.assert_allclose(position, 300 + np.cos(t), rtol=0, atol=1e-7)
    np.testing.assert_allclose(velocity, -np.sin(t), rtol=0, atol=1e-7)


def test_an_outbreak_from_one_in_a_million_is_integrated():
    (x,) = fields("x")
    (infected,), t = integrated({"logistic": x.diff(T) - x * (1 - x)}, x - 1e-6, 30)
    np.testing.assert_allclose(infected, 1 / (1 + (1e6 - 1) * np.exp(-t)), rtol=1e-6)


@pytest.mark.parametrize("turn", [4, 8, 18])
def test_a_field_that_returns_from_round_off_is_not_confirmed_as_zero(turn):
    # It falls to exp(-turn²/2), and returns.
    (x,) = fields("x")
    reaction = {"reaction": x.diff(T) - (T - turn) * x + x**3}
    (level,), _ = integrated(reaction, x - 1, 2.5 * turn)
    assert level[-1] == pytest.approx(np.sqrt(1.5 * turn), rel=0.1)


def test_a_field_that_decays_for_good_is_integrated_below_round_off():
    a, b = fields("a b")
    chain = {"a": a.diff(T) + 40 * a, "b": b.diff(T) - 40 * a + b}
    (first, second), t = integrated(chain, [a - 1000, b], 20)
    exact = 40e3 / 39 * (np.exp(-t) - np.exp(-40 * t))
    np.testing.assert_allclose(second, exact, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(first, 1e3 * np.exp(-40 * t), rtol=1e-6, atol=1e-6)


def test_a_short_infusion_is_not_passed_over():
    (x,) = fields("x")
    dose = sp.Piecewise((500, (T > 0.6253) & (T < 0.6273)), (0, True))
    (level,), t = integrated({"dose": x.diff(T) - dose}, x - 1, 1)
    np.testing.assert_allclose(level, 1 + (t > 0.6273), rtol=1e-6)


def test_another_solution_than_zero_has_no_integrated_fields():
    (x,) = fields("x")
    rate = {"rate": x.diff(T) - sp.sqrt(sp.Abs(x))}
    assert integrated(rate, x, 1)[0] is None


@pytest.mark.parametrize("end, is_known", [(3, True), (60, False)])
def test_a_long_chaotic_time_has_no_integrated_fields(end, is_known):
    x, y, z = fields("x y z")
    equations = {
        "x": x.diff(T) - 10 * (y - x),
        "y": y.diff(T) - x * (28 - z) + y,
        "z": z.diff(T) - x * y + 8 * z / 3,
    }
    result, _ = integrated(equations, [x - 1, y - 1, z - 1], end)
    assert (result is not None) == is_known


def test_boundary_value_problems_have_no_integrated_fields():
    (x,) = fields("x")
    domain = kp.geometry.Box(time={T: (0, 1)})
    ends = {"initial": kp.Condition(x, on="initial"), "end": kp.Condition(x, on={T: 1})}
    problem = kp.Problem(domain, {"force": x.diff(T, 2) + 1}, ends)
    assert integrated_fields(problem, problem.scales, *np.zeros((2, 1, 1))) is None


@pytest.mark.parametrize("is_right", [True, False])
def test_an_unstable_field_is_known_where_the_model_is_far_from_it(is_right):
    # Errors of an integration grow as exp(t), to 5 % at the end.
    (x,) = fields("x")
    initial = {"initial": kp.Condition([x, x.diff(T) - 1], on="initial")}
    domain = kp.geometry.Box(time={T: (0, 20)})
    force = {"force": x.diff(T, 2) - x + 2 * sp.sin(T)}
    problem = kp.Problem(domain, force, initial)
    points = np.linspace(0, 20, 101)[:, None]
    values = np.sin(points.T) if is_right else 1e3 + points.T
    fields_ = integrated_fields(problem, problem.scales, points, values)
    assert (fields_ is None) == is_right
