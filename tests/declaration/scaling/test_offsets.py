"""Offsets of fields."""

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y, T = sp.symbols("x y t")
U = sp.Function("u")(T)


def scales(domain, equations, conditions=None, **options):
    problem = kp.Problem(domain, equations, conditions or {}, scales="auto", **options)
    return problem.scales


def test_only_fields_in_derivatives_have_an_offset():
    u, v, p = (sp.Function(name)(X, Y) for name in "uvp")
    box = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
    flow = {
        "x": u * u.diff(X) + v * u.diff(Y) + p.diff(X) - u.diff(X, 2) - u.diff(Y, 2),
        "y": u * v.diff(X) + v * v.diff(Y) + p.diff(Y) - v.diff(X, 2) - v.diff(Y, 2),
        "mass": u.diff(X) + v.diff(Y),
    }
    inlet = {
        "inlet": kp.Condition([u - 10, v], on={X: 0}),
        "walls": kp.Condition([u, v], on=[{Y: 0}, {Y: 1}]),
        "outlet": kp.Condition(p - 101325, on={X: 1}),
    }
    estimated = scales(box, flow, inlet)
    assert estimated.offsets == {"p": 101325.0}
    assert estimated.field("u") == 10 and 50 < estimated.field("p") < 500
    assert f"p = 101325 + {estimated.field('p'):.4g} û" in str(estimated)
    inlet["outlet"] = kp.Condition(p - 20, on={X: 1})  # doubled by friction
    assert scales(box, flow, inlet).offsets == {}
    inlet["outlet"] = kp.Condition(p - 101325, on={X: 1})
    mean = {"mean": kp.Condition(kp.integral(p) - 101325)}
    assert scales(box, flow, inlet | mean).offsets == {"p": 101325.0}
    decay = {"decay": sp.Eq(U.diff(T), -U)}
    start = {"initial": kp.Condition(U - 300, on="initial")}
    assert scales(kp.geometry.Box(time={T: (0, 1)}), decay, start).offsets == {}


def test_a_runaway_reaction_has_its_initial_value_as_offset():
    # In kelvin: exp(-E/RT) is singular at zero, where untrained networks are.
    temperature, amount = (sp.Function(name)(T) for name in "uc")
    rate = 1e-4 * sp.exp(9622 / sp.Integer(300)) * sp.exp(-9622 / temperature) * amount
    problem = kp.Problem(
        kp.geometry.Box(time={T: (0, 4000)}),
        {"mass": amount.diff(T) + rate, "heat": temperature.diff(T) - rate / 20},
        {"initial": kp.Condition([amount - 1000, temperature - 300], on="initial")},
    )
    assert problem.scales.offsets == {"u": 300}
    assert problem.scales.field("u") == pytest.approx(50, rel=0.1)
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1, outputs=2), seed=0)
    model.compile()
    points = np.linspace(0, 4000, 9)[:, None]
    assert np.isfinite(model.evaluate(points, verbose=0)).all()


@pytest.mark.parametrize("rise", [160, 500])
def test_fields_in_functions_singular_at_zero_have_an_offset(rise):
    temperature, amount = (sp.Function(name)(T) for name in "uc")
    rate = 1e5 * sp.exp(-4000 / temperature) * amount
    start = kp.Condition([temperature - 300, amount - 1], on="initial")
    cooling = 0.01 * (temperature - 300)  # temperature outside of `exp`
    for cooled in (0, cooling):
        heat = temperature.diff(T) - rise * rate + cooled
        estimated = scales(
            kp.geometry.Box(time={T: (0, 3)}),
            {"heat": heat, "mass": amount.diff(T) + rate},
            {"initial": start},
        )
        assert estimated.offset("u") == 300
        assert rise / 5 < estimated.field("u") < 3 * rise
    u = sp.Function("u")(X)
    walls = [kp.Condition(u - 300, on={X: 0}), kp.Condition(u - 700, on={X: 1})]
    heat = {"heat": u.diff(X, 2) + sp.exp(-4000 / u)}
    box = kp.geometry.Box({X: (0, 1)})
    estimated = scales(box, heat, dict(zip("ab", walls, strict=True)))
    assert (estimated.offset("u"), estimated.field("u")) == (
        500,
        pytest.approx(200, rel=0.01),
    )


def test_shifted_fields_have_the_offset():
    u = sp.Function("u")(X, T)
    rod = kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)})
    heat = {"heat": sp.Eq(u.diff(T), u.diff(X, 2))}
    start = kp.Condition(sp.Eq(u, 300 + 5 * sp.sin(2 * sp.pi * X)), on="initial")
    slopes = sp.Eq(u.diff(X), u.diff(X).subs(X, 0))
    closed = kp.Condition([sp.Eq(u, u.subs(X, 0)), slopes], on={X: 1})
    estimated = scales(rod, heat, {"initial": start, "closed": closed})
    assert (estimated.offset("u"), estimated.field("u")) == (300, 5)
    assert estimated.terms["closed"] == (5, 10)
    feedback = kp.Condition(sp.Eq(u.diff(X), 2 * (u.subs(X, 0) - 270)), on={X: 1})
    conditions = {"initial": start, "feedback": feedback}
    conditions["left"] = kp.Condition(u - 300, on={X: 0})
    problem = kp.Problem(rod, heat, conditions)
    assert 20 <= problem.scales.field("u") <= 180  # a flux of 60
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=0)
    model.compile()
    assert np.isfinite(model.evaluate(np.full((8, 2), 0.5), verbose=0)).all()


@pytest.mark.parametrize("unit", [1e-15, 1e15])
def test_offsets_do_not_depend_on_units(unit):
    even = {"ends": kp.Condition(sp.Eq(U, 300 * unit), on="initial")}
    year = kp.geometry.Box(time={T: (0, 1)})
    estimated = scales(year, {"warms": sp.Eq(U.diff(T), 10 * unit)}, even)
    assert estimated.offset("u") / unit == pytest.approx(300)
    assert estimated.field("u") / unit == pytest.approx(10, rel=0.1)


@pytest.mark.parametrize("pull", [9.81, 1 / (1 - T)])  # singular at T = 1
def test_a_field_that_may_leave_its_initial_value_has_no_offset(pull):
    pendulum = {"pendulum": U.diff(T, 2) + pull * sp.sin(U)}
    start = {"initial": kp.Condition([U - 3.14, U.diff(T)], on="initial")}
    estimated = scales(kp.geometry.Box(time={T: (0, 0.9)}), pendulum, start)
    assert estimated.offsets == {} and estimated.field("u") == 3.14


def test_a_temperature_in_a_rate_has_an_offset():
    """Catalyst pellet: exp(-1/u) is singular at zero, where untrained networks are."""
    u, c = sp.Function("T")(X), sp.Function("c")(X)
    rate = sp.exp(-9622 * (1 / u - sp.Rational(1, 600))) * c
    domain = kp.geometry.Box({X: (0, 3e-3)})
    conditions = {
        "centre": kp.Condition([c.diff(X), u.diff(X)], on={X: 0}),
        "surface": kp.Condition([c - 40, u - 600], on={X: 3e-3}),
    }
    mass = 1e-6 * (c.diff(X, 2) + 2 / X * c.diff(X)) - rate
    heat = 0.2 * (u.diff(X, 2) + 2 / X * u.diff(X)) + 8e4 * rate
    estimated = scales(domain, {"mass": mass, "heat": heat}, conditions)
    assert estimated.offset("T") == 600
    assert 4 < estimated.field("T") < 36  # 12.3 K, by Prater's relation 16 K at most


def fin(zero, unknown=False):
    """Return a cooling fin whose conductivity grows with temperature."""
    u = sp.Function("T")(X, Y)
    air, base, film = 20 + zero, 120 + zero, 100.0
    if unknown:
        film *= kp.Parameter("h", initial=1.5)
    conductivity = 15.0 * (1 + 3e-3 * (u - air))
    box = kp.geometry.Box({X: (0, 0.05), Y: (0, 0.004)})
    flux = -conductivity * kp.normal_derivative(u, box)
    sides = [{X: 0.05}, {Y: 0}, {Y: 0.004}]
    conditions = {
        "base": kp.Condition(sp.Eq(u, base), on={X: 0}, hard=True),
        "air": kp.Condition(sp.Eq(flux, film * (u - air)), on=sides),
    }
    conduction = [(conductivity * u.diff(s)).diff(s) for s in (X, Y)]
    return scales(box, {"heat": sum(conduction)}, conditions)


@pytest.mark.parametrize("unknown", [False, True])
def test_a_fin_in_kelvin_has_the_scales_of_one_in_celsius(unknown):
    celsius, kelvin = fin(0.0, unknown), fin(273.15, unknown)
    shift = kelvin.offset("T") - celsius.offset("T")
    assert shift == pytest.approx(273.15, abs=0.5)
    assert kelvin.field("T") == pytest.approx(celsius.field("T"), rel=0.01)
    for name, sizes in celsius.terms.items():
        assert kelvin.terms[name] == pytest.approx(sizes, rel=0.01)


@pytest.mark.parametrize("zero", [20.0, 293.15])
def test_scales_of_temperature_differences_do_not_depend_on_zero(zero):
    hot, cold = (sp.Function(name)(X) for name in "hc")
    estimated = scales(
        kp.geometry.Box({X: (0, 2)}),
        {"hot": hot.diff(X) + (hot - cold), "cold": cold.diff(X) - (hot - cold) / 2},
        {"inlets": kp.Condition([hot - zero - 60, cold - zero], on={X: 0})},
    )
    assert estimated.offsets == {"h": zero + 60, "c": zero}
    assert 20 < estimated.field("h") < 180 and 10 < estimated.field("c") < 90


def test_a_cooling_body_has_an_offset():
    def cooling(air):
        start = {"initial": kp.Condition(U - 350, on="initial")}
        law = {"law": U.diff(T) + (U - air)}
        return scales(kp.geometry.Box(time={T: (0, 5)}), law, start)

    assert cooling(293).offset("u") == 350 and 19 < cooling(293).field("u") < 171
    assert cooling(0).offsets == {} and cooling(0).field("u") == 350
