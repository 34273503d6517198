import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.declaration.singularities import (
    has_reentrant_corner,
    scaled_corners,
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
    assert len(scaled_corners(problem, problem.scales)) == count


def test_corners_of_a_heat_equation_in_time_have_features():
    corners = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    domain = g.Polygon(corners, coordinates=(X, Y)) * g.Box(time={T: (0, 3)})
    problem = kp.Problem(
        domain,
        {"heat": W.diff(T) - W.diff(X, 2) - W.diff(Y, 2)},
        {
            "start": kp.Condition(W, on="initial"),
            "rim": kp.Condition(sp.Eq(W, 1), on="boundary"),
        },
    )
    (corner,) = scaled_corners(problem, problem.scales)
    assert corner["at"] == pytest.approx([0, 0])
    assert corner["plane"] == [0, 1]
    network = kp.networks.MLP(4, 1)
    model = kp.PINNModel(problem, network, seed=0)
    copy = kp.networks.MLP.from_config(network.get_config())
    copy.build((None, 3))
    copy.set_weights(network.get_weights())
    points = domain.grid(4)
    np.testing.assert_array_equal(copy(points), network(points))
    assert "corners" in [layer.name for layer in model.network.layers]


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
    assert not scaled_corners(problem, problem.scales)


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
