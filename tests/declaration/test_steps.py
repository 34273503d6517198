"""Features of steps that diffuse, against the equations that they solve."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.declaration.features import features_of
from keraspinn.declaration.kinks import kink_features
from keraspinn.declaration.steps import step_features

X, Y, T = sp.symbols("x y t")
U = sp.Function("u")(X, T)
HALF = sp.Rational(1, 2)
ROD = kp.geometry.Box({X: (0, 2)}, time={T: (0, 10)})
HEAT = sp.Eq(U.diff(T), U.diff(X, 2) / 50)
COLD = kp.Condition(U, on="initial")
WALLS = kp.Condition(U, on="boundary")


def features(equation=HEAT, domain=ROD, **conditions):
    problem = kp.Problem(domain, {"e": equation}, conditions)
    return step_features(problem, problem.scales)


def solves(feature, equation, at):
    residual = (equation.lhs - equation.rhs).subs(U, feature).doit()
    size = max(abs(term.subs(at).evalf()) for term in residual.args)
    return abs(residual.subs(at).evalf()) < 1e-9 * size


def test_initial_value_that_contradicts_a_dirichlet_condition():
    hot = kp.Condition(sp.Eq(U, 1), on={X: 0})
    (feature,) = features(initial=COLD, hot=hot, end=kp.Condition(U, on={X: 2}))
    assert solves(feature, HEAT, {X: 0.3, T: 1.0})
    assert float(feature.subs({X: 0, T: 5}).evalf()) == pytest.approx(1)
    assert float(feature.subs({X: 1, T: 0}).evalf()) == pytest.approx(0)
    assert float(feature.subs({X: 1, T: 5}).evalf()) == pytest.approx(0.0253, abs=1e-4)
    # Networks round the start of time, in float32 too.
    assert float(feature.subs({X: 0, T: -1e-6}).evalf()) == pytest.approx(1)


def test_initial_value_that_contradicts_a_robin_condition_has_a_kink():
    air = kp.Condition(sp.Eq(U.diff(X), 3 * (U - 1)), on={X: 0})
    (feature,) = features(initial=COLD, air=air, end=kp.Condition(U, on={X: 2}))
    assert solves(feature, HEAT, {X: 0.3, T: 1.0})
    flux = feature.diff(X).subs(X, 0)
    assert float(flux.subs(T, 5).evalf()) == pytest.approx(-1)
    assert float(feature.subs({X: 1, T: 0}).evalf()) == pytest.approx(0)


def test_advection_moves_the_step():
    equation = sp.Eq(U.diff(T) + U.diff(X) / 20, U.diff(X, 2) / 50)
    hot = kp.Condition(sp.Eq(U, 1), on={X: 0})
    end = kp.Condition(U.diff(X), on={X: 2})
    (feature,) = features(equation, initial=COLD, hot=hot, end=end)
    assert solves(feature, equation, {X: 0.3, T: 2.0})
    assert float(feature.subs({X: 0.1, T: 2}).evalf()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("value", "order"),
    [
        (sp.Piecewise((1, X < HALF), (0, True)), 0),
        (sp.Heaviside(X - HALF), 0),
        (sp.Abs(X - HALF), 1),
    ],
)
def test_initial_value_with_a_jump_or_kink(value, order):
    initial = kp.Condition(sp.Eq(U, value), on="initial")
    (feature,) = features(initial=initial, walls=kp.Condition(U.diff(X), on="boundary"))
    sides = [float(feature.subs({X: x, T: 0}).evalf()) for x in (1.5, -0.5)]
    assert sides == pytest.approx([0, 2], abs=1e-3)
    assert feature.has(sp.exp) == bool(order)
    assert solves(feature, HEAT, {X: 0.7, T: 1.0})


def test_initial_value_with_a_kink_where_the_period_closes():
    circle = kp.geometry.Box({X: (0, 2)}, time={T: (0, 10)}, periodic=[X])

    def closing(value, equation=HEAT):
        initial = kp.Condition(sp.Eq(U, value), on="initial")
        return features(equation, circle, initial=initial)

    (feature,) = closing(X * (2 - X))
    values = [feature, feature.diff(X), feature.diff(X, 2)]
    for time in (0.01, 9):
        ends = [[float(v.subs({X: x, T: time})) for v in values] for x in (0, 2)]
        assert ends[0] == pytest.approx(ends[1], abs=1e-9)
    # |s| at first, and its diffusion near the kink.
    assert float(feature.subs({X: 0.01, T: 0})) == pytest.approx(0.01, rel=1e-3)
    assert float(feature.subs({X: 2, T: 1})) == pytest.approx((4 / 50 / np.pi) ** 0.5)
    assert closing(sp.cos(sp.pi * X)) == closing((X - 1) ** 3) == []
    # Kinks and jumps, but none where it closes.
    assert closing(sp.Abs(sp.sin(sp.pi * X) - HALF)) == []
    assert closing(sp.sign(sp.sin(sp.pi * X) - HALF)) == []
    assert closing((X - 1) * sp.sign(X - 1)) != []  # Abs
    assert closing(sp.Max(X - 1, 1 - X) ** 2) != []
    drift = sp.Eq(U.diff(T) + U.diff(X) / 20, U.diff(X, 2) / 50)
    assert closing(X * (2 - X), drift) == []


def test_boundary_value_that_is_switched_off():
    pulse = sp.Piecewise((1, T < 4), (0, True))
    hot = kp.Condition(sp.Eq(U, pulse), on={X: 0})
    both = features(initial=COLD, hot=hot, end=kp.Condition(U, on={X: 2}))
    assert len(both) == 2
    at_wall = [{X: 0, T: 3.9}, {X: 0, T: 4.1}]
    values = [[float(f.subs(at).evalf()) for at in at_wall] for f in both]
    assert sorted(values) == [[0, pytest.approx(1)], [pytest.approx(1)] * 2]


def test_step_at_the_upper_end_is_reflected():
    hot = kp.Condition(sp.Eq(U, 1), on={X: 2})
    (feature,) = features(initial=COLD, hot=hot, end=kp.Condition(U, on={X: 0}))
    values = [float(feature.subs({X: x, T: 5}).evalf()) for x in (0, 2)]
    assert values == pytest.approx([0, 1], abs=1e-5)


def test_agreeing_and_unknown_conditions_have_none():
    bump = kp.Condition(sp.Eq(U, sp.sin(sp.pi * X)), on="initial")
    assert not features(initial=bump, walls=WALLS)
    hot = kp.Condition(sp.Eq(U, 1), on={X: 0})
    assert not features(hot=hot, end=kp.Condition(sp.Eq(U, sp.sin(T)), on={X: 2}))


def test_waves_and_periodic_coordinates_have_none():
    still = kp.Condition([U, U.diff(T)], on="initial")
    hot = kp.Condition(sp.Eq(U, 1), on="boundary")
    assert not features(sp.Eq(U.diff(T, 2), U.diff(X, 2)), initial=still, hot=hot)
    ring = kp.geometry.Box({X: (0, 2)}, time={T: (0, 10)}, periodic=[X])
    step = kp.Condition(sp.Eq(U, sp.Piecewise((1, X < 1), (0, True))), on="initial")
    assert not features(domain=ring, initial=step)


def test_features_stand_beside_a_periodic_coordinate(tmp_path):
    v = sp.Function("v")(X, Y, T)
    channel = kp.geometry.Box({X: (0, 1), Y: (0, 2)}, time={T: (0, 1)}, periodic=[X])
    heat = sp.Eq(v.diff(T), v.diff(X, 2) + v.diff(Y, 2))
    declared = {
        "cold": kp.Condition(v, on="initial"),
        "hot": kp.Condition(sp.Eq(v, 1), on={Y: 0}),
        "top": kp.Condition(v, on={Y: 2}),
    }
    problem = kp.Problem(channel, {"heat": heat}, declared)
    (feature,) = step_features(problem, problem.scales)
    assert feature.free_symbols == {Y, T}
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=0)
    names = [layer.name for layer in model.network.layers]
    assert {"features", "circles"} <= {*names}
    ends = model.predict(np.array([[0.0, 0.3, 0.2], [1.0, 0.3, 0.2]]), verbose=0)
    np.testing.assert_allclose(*ends, rtol=1e-5)
    model.save(tmp_path / "channel.keras")
    points = channel.grid(3)
    np.testing.assert_array_equal(
        kp.load_model(tmp_path / "channel.keras").predict(points, verbose=0),
        model.predict(points, verbose=0),
    )


def test_units_do_not_matter():
    def scaled(length, time, rise):
        rod = kp.geometry.Box({X: (0, 2 * length)}, time={T: (0, 10 * time)})
        rate = length**2 / time / 50
        hot = kp.Condition(sp.Eq(U, 300 + rise), on={X: 0})
        initial = kp.Condition(sp.Eq(U, 300), on="initial")
        end = kp.Condition(U.diff(X), on={X: 2 * length})
        declared = {"initial": initial, "hot": hot, "end": end}
        heat = sp.Eq(U.diff(T), rate * U.diff(X, 2))
        problem = kp.Problem(rod, {"e": heat}, declared)
        (feature,) = features_of(problem, problem.scales)
        x, t = sp.symbols("x t")
        return float(feature.subs({x: -0.9, t: 0.2}).evalf())

    assert scaled(1e-6, 1e-9, 0.5) == pytest.approx(scaled(1, 1, 100), rel=1e-6)


def test_plane_faces_have_a_feature_each():
    v = sp.Function("v")(X, Y, T)
    box = kp.geometry.Box({X: (0, 1), Y: (0, 1)}, time={T: (0, 1)})
    heat = sp.Eq(v.diff(T), v.diff(X, 2) + v.diff(Y, 2))
    declared = {
        "hot": kp.Condition(sp.Eq(v, 1), on="initial"),
        "cold": kp.Condition(v, on=[{X: 0}, {Y: 1}]),
        "insulated": kp.Condition(kp.normal_derivative(v, box), on=[{X: 1}, {Y: 0}]),
    }
    problem = kp.Problem(box, {"heat": heat}, declared)
    features = step_features(problem, problem.scales)
    assert sorted(str(*(f.free_symbols - {T})) for f in features) == ["x", "y"]


def test_curved_face_has_a_feature_of_the_distance():
    v = sp.Function("v")(X, Y, T)
    disk = kp.geometry.Disk((1, 0), 2, (X, Y)) * kp.geometry.Box(time={T: (0, 1)})
    declared = {
        "hot": kp.Condition(sp.Eq(v, 1), on="initial"),
        "cold": kp.Condition(v, on="boundary"),
    }
    heat = sp.Eq(v.diff(T), v.diff(X, 2) + v.diff(Y, 2))
    problem = kp.Problem(disk, {"heat": heat}, declared)
    (feature,) = step_features(problem, problem.scales)
    near = float(feature.subs({X: 2.99, Y: 0, T: 0.01}).evalf())
    assert near == pytest.approx(1 - sp.erf(0.01 / 0.2).evalf(), rel=0.01)
    assert float(feature.subs({X: 1, Y: -2, T: 0.5}).evalf()) == pytest.approx(1)


def test_sides_of_a_polygon_have_a_feature_each():
    v = sp.Function("v")(X, Y, T)
    corners = [(0, 0), (2, 0), (1.5, 1), (0, 1)]
    plate = kp.geometry.Polygon(corners, coordinates=(X, Y))
    declared = {
        "hot": kp.Condition(sp.Eq(v, 1), on="initial"),
        "cold": kp.Condition(v, on="boundary"),
    }
    heat = sp.Eq(v.diff(T), v.diff(X, 2) + v.diff(Y, 2))
    domain = plate * kp.geometry.Box(time={T: (0, 1)})
    problem = kp.Problem(domain, {"heat": heat}, declared)
    features = step_features(problem, problem.scales)
    assert len(features) == 4
    on_slope = {X: 1.75, Y: 0.5, T: 0.3}
    values = sorted(float(f.subs(on_slope).evalf()) for f in features)
    assert values[-1] == pytest.approx(1, abs=1e-3) and values[0] < 0.2


FORCE = sp.Piecewise((1, (X > HALF) & (X < 1)), (0, True))


@pytest.mark.parametrize(
    ("equation", "order"),
    [
        (U.diff(X, 2) + FORCE, 2),
        (U.diff(X) - FORCE, 1),
        (U.diff(T) - U.diff(X, 2) - sp.Heaviside(T - 3), 1),
        (U.diff(T) - U.diff(X, 2) - U.diff(X) * FORCE, 2),
    ],
)
def test_sources_that_jump_have_features_of_the_order_of_the_equation(equation, order):
    walls = {"walls": WALLS, "initial": COLD}
    problem = kp.Problem(ROD, {"e": equation}, walls)
    features = kink_features(problem, problem.scales)
    assert len(features) == (1 if equation.has(sp.Heaviside) else 2)
    for feature in features:
        ((value, _), _) = feature.args
        assert sp.degree(value, *feature.free_symbols) == order
        assert np.isfinite(float(feature.subs({X: 0.9, T: 5}).evalf()))


@pytest.mark.parametrize(
    "right_side",
    [
        U.diff(X, 2) - U.diff(X, 4),
        U.diff(X, 2) - U.diff(X, 3),
        U.diff(X, 2) + U.diff(X, 2, T),
        1e-14 * U.diff(X, 2),
        (X - 1) ** 2 * U.diff(X, 2),
        -U.diff(X, 2),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_other_equations_and_vanishing_diffusion_have_none(right_side):
    hot = kp.Condition(sp.Eq(U, 1), on={X: 0})
    equation = sp.Eq(U.diff(T), right_side)
    assert not features(equation, initial=COLD, hot=hot, end=kp.Condition(U, on={X: 2}))


def test_diffusion_by_a_parameter_of_the_domain_is_followed():
    m = sp.Symbol("m")
    v = sp.Function("v")(X, m, T)
    box = kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)}, parameters={m: (0.1, 1)})
    declared = {
        "cold": kp.Condition(v, on="initial"),
        "hot": kp.Condition(sp.Eq(v, 1), on={X: 0}),
        "end": kp.Condition(v, on={X: 1}),
    }
    heat = {"heat": sp.Eq(v.diff(T), m * v.diff(X, 2))}
    problem = kp.Problem(box, heat, declared)
    (feature,) = step_features(problem, problem.scales)
    exact = [sp.erfc(0.2 / sp.sqrt(4 * d * 0.5)) for d in (0.1, 1)]
    at = ({X: 0.2, T: 0.5, m: d} for d in (0.1, 1))
    values = [float(feature.subs(point).evalf()) for point in at]
    assert values == pytest.approx([float(e.evalf()) for e in exact], rel=1e-6)


@pytest.mark.parametrize("value", [sp.Max(X - HALF, 0), sp.Abs(X - HALF)])
def test_sources_that_bend_have_features_of_one_order_more(value):
    equation = U.diff(X, 2) + value
    problem = kp.Problem(ROD, {"e": equation}, {"walls": WALLS})
    (feature,) = kink_features(problem, problem.scales)
    ((power, _), _) = feature.args
    assert sp.degree(power, X) == 3


def test_removable_singularity_of_a_source_is_no_jump():
    source = sp.Piecewise((sp.sin(X - 1) / (X - 1), sp.Ne(X, 1)), (1, True))
    problem = kp.Problem(ROD, {"e": U.diff(X, 2) + source}, {"walls": WALLS})
    assert not kink_features(problem, problem.scales)


def test_features_far_from_the_origin_keep_their_digits_in_float32():
    v = sp.Function("v")(X, Y)
    inside = (X - 1000) ** 2 + (Y - 1000) ** 2 < 0.09
    k = sp.Piecewise((1, inside), (5, True))
    problem = kp.Problem(
        kp.geometry.Box({X: (999.5, 1000.5), Y: (999.5, 1000.5)}),
        energy=kp.integral(k * (v.diff(X) ** 2 + v.diff(Y) ** 2)),
        conditions={"rim": kp.Condition(v - X, on="boundary")},
    )
    features = features_of(problem, problem.scales)
    points = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    layers = (kp.layers.Features(features, ["x", "y"], dtype=d) for d in TYPES)
    single, double = (keras.ops.convert_to_numpy(layer(points)) for layer in layers)
    assert abs(double[:, 2]).max() > 0.5
    np.testing.assert_allclose(single, double, atol=1e-5)


TYPES = "float32", "float64"
