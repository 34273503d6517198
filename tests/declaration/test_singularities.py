import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.declaration.singularities import (
    corner_features,
    has_reentrant_corner,
    singular_corners,
)

X, Y, Z, T = sp.symbols("x y z t")
g = kp.geometry
SQUARE = g.Box({X: (0, 1), Y: (0, 1)})
CUBE = g.Box({X: (0, 1), Y: (0, 1), Z: (0, 1)})


@pytest.mark.parametrize(
    "domain",
    [
        g.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], coordinates=(X, Y)),
        SQUARE - g.Box({X: (0.4, 0.6), Y: (0.4, 0.6)}),
        SQUARE - g.Box({X: (0.4, 0.6), Y: (0.5, 1)}),
        g.Sector((0, 0), 1, (0, 4.7), coordinates=(X, Y)),
        CUBE - g.Box({X: (0.5, 1), Y: (0, 1), Z: (0.5, 1)}),
    ],
    ids=str,
)
def test_reentrant_corners_are_detected(domain):
    assert has_reentrant_corner(domain)


@pytest.mark.parametrize(
    "domain",
    [
        *(SQUARE, CUBE, g.Box({X: (0, 20), Y: (0, 1)}), g.Box({X: (0, 1)})),
        *(g.Box({X: (0, 1)}, time={T: (0, 1)}), g.Box(time={T: (0, 1)})),
        *(SQUARE - g.Disk((0.5, 0.5), 0.02), SQUARE - g.Disk((0, 0), 0.2)),
        g.Polygon([(0, 0), (1, 0), (0.2, 0.6)], coordinates=(X, Y)),
        g.Ball((0, 0, 0), 1, coordinates=(X, Y, Z)),
        g.Box({X: (0, 1), Y: (0, 1)}, periodic=[X]),
    ],
    ids=str,
)
def test_convex_corners_and_round_holes_are_not_reentrant(domain):
    assert not has_reentrant_corner(domain)


U = sp.Function("u")(X, Y)
ELL = SQUARE - g.Box({X: (0.4, 1), Y: (0.4, 1)})


def corners_of(domain, **conditions):
    energy = kp.integral(U.diff(X) ** 2 + U.diff(Y) ** 2)
    problem = kp.Problem(domain, energy=energy, conditions=conditions)
    return singular_corners(problem)


def test_reentrant_corner_between_neumann_sides_has_position_and_angle():
    (corner,) = corners_of(ELL, low=kp.Condition(U, on={Y: 0}))
    assert corner.at == pytest.approx((0.4, 0.4), abs=1e-9)
    assert corner.direction == pytest.approx(-3 * np.pi / 4)
    assert corner.exponent == pytest.approx(2 / 3)
    assert corner.radius is None


def test_reentrant_corner_between_dirichlet_and_neumann_has_half_the_exponent():
    (corner,) = corners_of(ELL, side=kp.Condition(U, on={X: 0.4}))
    assert corner.exponent == pytest.approx(1 / 3)


def test_end_of_a_dirichlet_condition_on_a_straight_side_is_a_corner():
    corner, *others = corners_of(
        SQUARE, anode=kp.Condition(U, on={Y: 0}, where=X < sp.Rational(3, 10))
    )
    assert corner.at == pytest.approx((0.3, 0.0), abs=1e-9)
    assert corner.exponent == pytest.approx(1 / 2)
    assert corner.direction == pytest.approx(np.pi / 2)
    assert not others, "right angles between value and flux are smooth"


def test_features_of_a_square_hole_end_where_the_ray_meets_the_domain_again():
    hole = SQUARE - g.Box({X: (0.4, 0.6), Y: (0.4, 0.6)})
    corners = corners_of(hole, rim=kp.Condition(U, on={X: 0}))
    assert len(corners) == 4
    for corner in corners:
        assert 0.27 < corner.radius < 0.2829


W = sp.Function("w")(X, Y, T)


@pytest.mark.parametrize(
    "equations, count",
    [
        ([U.diff(X, 2) + U.diff(Y, 2) + U**2], 1),
        ([(U * U.diff(X)).diff(X) + (U * U.diff(Y)).diff(Y)], 1),
        ([U.diff(X, 2) + 2 * U.diff(Y, 2)], 0),
        ([U.diff(X, 2) + U.diff(Y, 2) + U.diff(X, Y)], 0),
        ([U.diff(X, 4) + U.diff(Y, 4)], 0),
    ],
)
def test_strong_forms_have_features_where_second_derivatives_are_a_laplacian(
    equations, count
):
    named = {f"e{k}": e for k, e in enumerate(equations)}
    problem = kp.Problem(ELL, named, {"rim": kp.Condition(U, on="boundary")})
    assert len(corner_features(problem, problem.scales)) == 2 * count


def test_corners_of_a_heat_equation_in_time_have_features():
    corners = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    domain = g.Polygon(corners, coordinates=(X, Y)) * g.Box(time={T: (0, 3)})
    problem = kp.Problem(
        domain,
        {"heat": W.diff(T) - W.diff(X, 2) - W.diff(Y, 2)},
        {
            "initial": kp.Condition(W, on="initial"),
            "rim": kp.Condition(sp.Eq(W, 1), on="boundary"),
        },
    )
    features = corner_features(problem, problem.scales)
    assert [f.free_symbols for f in features] == [{X, Y}] * 2
    network = kp.networks.MLP(4, 1)
    model = kp.PINNModel(problem, network, seed=0)
    copy = kp.networks.MLP.from_config(network.get_config())
    copy.build((None, 3))
    copy.set_weights(network.get_weights())
    points = domain.grid(4)
    np.testing.assert_array_equal(copy(points), network(points))
    assert "features" in [layer.name for layer in model.network.layers]


WEDGE = g.Polygon([(0.2, 0.5), (0.8, 0.48), (0.8, 0.52)], coordinates=(X, Y))


@pytest.mark.parametrize(
    ("domain", "count"),
    [
        (SQUARE - WEDGE, 3),
        (SQUARE - (g.Disk((0.5, 0.5), 0.3) - g.Disk((0.5, 0.5), 0.297)), 0),
        (SQUARE - g.Disk((0.5, 0.5), 0.008), 0),
        (g.Box({X: (0, 1000), Y: (0, 1)}), 0),
    ],
)
def test_wedges_thin_shells_and_small_holes(domain, count):
    assert len(corners_of(domain, rim=kp.Condition(U, on="boundary"))) == count


def test_strong_forms_have_no_features_between_dirichlet_and_neumann_in_an_l_shape():
    rim = kp.Condition(U, on=[{X: 0}, {Y: 0}, {X: 0.4}])
    flux = kp.Condition(kp.normal_derivative(U, ELL), on=[{X: 1}, {Y: 1}, {Y: 0.4}])
    poisson = {"e": U.diff(X, 2) + U.diff(Y, 2) + 1}
    problem = kp.Problem(ELL, poisson, {"rim": rim, "flux": flux})
    (corner,) = singular_corners(problem)
    assert corner.exponent == pytest.approx(1 / 3)
    assert not corner_features(problem, problem.scales)


def test_fields_of_materials_have_no_corner_at_the_interface():
    left, right = (g.Box({X: ends, Y: (0, 1)}) for ends in ((0, 0.5), (0.5, 1)))
    a, b = (sp.Function(name)(X, Y) for name in "ab")
    half = sp.Rational(1, 2)
    problem = kp.Problem(
        SQUARE,
        {
            "left": kp.Equation(a.diff(X, 2) + a.diff(Y, 2) + 1, on=left),
            "right": kp.Equation(b.diff(X, 2) + b.diff(Y, 2) + 1, on=right),
        },
        {
            "a": kp.Condition(a, on=[{X: 0}, {Y: 0}, {Y: 1}], where=half > X),
            "b": kp.Condition(b, on=[{X: 1}, {Y: 0}, {Y: 1}], where=half < X),
            "joint": kp.interface_condition(
                left, right, (a, b), ([a.diff(X), a.diff(Y)], [b.diff(X), b.diff(Y)])
            ),
        },
    )
    assert not singular_corners(problem)


P = sp.Function("p")(X, Y)
RIGHT = sp.Piecewise((1, X > sp.Rational(1, 4)), (0, True))


@pytest.mark.parametrize(
    ("conditions", "corners"),
    [
        ({"top": (1, {Y: 1}), "rest": (0, [{X: 0}, {X: 1}, {Y: 0}])}, [(0, 1), (1, 1)]),
        ({"left": (0, {X: 0}), "right": (X * Y, {X: 1})}, []),
        ({"bottom": (RIGHT, {Y: 0}), "sides": (X, [{X: 0}, {X: 1}])}, [(0.25, 0)]),
        ({"rim": (293 + 1e-3 * X, "boundary")}, []),
        ({"top": (303, {Y: 1}), "left": (293, {X: 0})}, [(0, 1)]),
    ],
)
def test_corners_where_dirichlet_values_jump(conditions, corners):
    declared = {
        n: kp.Condition(sp.Eq(U, v), on=on) for n, (v, on) in conditions.items()
    }
    problem = kp.Problem(SQUARE, {"e": U.diff(X, 2) + U.diff(Y, 2)}, declared)
    jumps = [c.at for c in singular_corners(problem) if c.exponent == 0]
    assert sorted(jumps) == [pytest.approx(at, abs=1e-6) for at in corners]
    assert len(corner_features(problem, problem.scales)) == len(corners)


def test_feature_of_a_jump_is_harmonic_and_jumps_by_the_angle():
    on = {
        "top": kp.Condition(sp.Eq(U, 1), on={Y: 1}),
        "left": kp.Condition(U, on={X: 0}),
    }
    problem = kp.Problem(SQUARE, {"e": U.diff(X, 2) + U.diff(Y, 2)}, on)
    (angle,) = corner_features(problem, problem.scales)
    laplacian = angle.diff(X, 2) + angle.diff(Y, 2)
    assert abs(laplacian.evalf(subs={X: 0.3, Y: 0.6})) < 1e-9
    ends = [angle.evalf(subs={X: x, Y: y}) for x, y in ((0, 0.9), (0.1, 1))]
    assert float(abs(ends[1] - ends[0])) == pytest.approx(np.pi / 2, abs=1e-4)


@pytest.mark.parametrize(
    "equations",
    [
        [U.diff(X, 2) + 4 * U.diff(Y, 2)],
        [U.diff(X, 2) + U.diff(Y, 2) - P.diff(X), U.diff(X) + P.diff(Y)],
    ],
    ids=["anisotropic", "with a pressure"],
)
@pytest.mark.filterwarnings("ignore:.*underdetermined")
def test_jumps_have_no_features_unless_the_loss_is_finite(equations):
    declared = {
        "top": kp.Condition(sp.Eq(U, 1), on={Y: 1}),
        "rest": kp.Condition(U, on=[{X: 0}, {X: 1}, {Y: 0}]),
    }
    equations = {f"e{k}": e for k, e in enumerate(equations)}
    problem = kp.Problem(SQUARE, equations, declared)
    assert singular_corners(problem) and not corner_features(problem, problem.scales)


def test_feature_of_a_jump_vanishes_before_its_branch_cut_enters_the_domain():
    ring = g.Disk((0, 0), 1, (X, Y)) - g.Disk((0, 0), 0.5)
    half_hot = sp.Piecewise((1, Y > 0), (0, True))
    declared = {
        "inner": kp.Condition(sp.Eq(U, half_hot), on=g.Disk((0, 0), 0.5)),
        "outer": kp.Condition(U, on=g.Disk((0, 0), 1)),
    }
    problem = kp.Problem(ring, {"e": U.diff(X, 2) + U.diff(Y, 2)}, declared)
    features = corner_features(problem, problem.scales)
    assert len(features) == 2
    sides = [
        [f.subs({X: x, Y: y}) for x in (-0.7, 0.7) for y in (-1e-9, 1e-9)]
        for f in features
    ]
    for values in sides:
        values = [float(v) for v in values]
        assert abs(values[0] - values[1]) < 1e-6 and abs(values[2] - values[3]) < 1e-6


NOTCH = SQUARE - g.Box({X: (0.4, 1), Y: (0.4, 1)})
SIDES = [{Y: 0.4}, {X: 0}, {Y: 0}, {X: 1}, {Y: 1}]


def test_reentrant_corner_where_values_jump_has_both_features():
    declared = {
        "a": kp.Condition(sp.Eq(U, 1), on={X: 0.4}),
        "b": kp.Condition(U, on=SIDES),
    }
    problem = kp.Problem(NOTCH, {"e": U.diff(X, 2) + U.diff(Y, 2)}, declared)
    at_corner = [c.exponent for c in singular_corners(problem) if min(c.at) > 0.1]
    assert 0.0 in at_corner and pytest.approx(2 / 3, abs=1e-6) in at_corner
    energy = kp.integral(U.diff(X) ** 2 + U.diff(Y) ** 2)
    stored = kp.Problem(NOTCH, energy=energy, conditions=declared)
    assert len(corner_features(stored, stored.scales)) == 2


@pytest.mark.parametrize(
    ("value", "other"),
    [(U - sp.exp(-(((X - 0.5) * 50) ** 2)), U), (U**2 - 4, U - 2)],
    ids=["steep", "implicit"],
)
def test_steep_and_implicit_values_are_no_jumps(value, other):
    on = [{X: 0}, {X: 1}, {Y: 1}]
    declared = {"a": kp.Condition(value, on={Y: 0}), "b": kp.Condition(other, on=on)}
    problem = kp.Problem(SQUARE, {"e": U.diff(X, 2) + U.diff(Y, 2)}, declared)
    assert not singular_corners(problem)
