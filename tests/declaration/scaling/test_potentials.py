"""How large fields are in domains with holes, from polynomials beside potentials."""

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.declaration.scaling.poles import FROM_CORNER, poles_of, potential

X, Y, Z = sp.symbols("x y z")
U, V = sp.Function("u")(X, Y), sp.Function("v")(X, Y)
BOX = kp.geometry.Box({X: (0, 2), Y: (0, 1)})


def disk(center, radius):
    return kp.geometry.Disk(center, radius, coordinates=(X, Y))


def laplacian(field, coordinates=(X, Y)):
    return sum(field.diff(symbol, 2) for symbol in coordinates)


def size(domain, equation, conditions=None, field=U):
    """The field's size; of one that is zero all round, if not said."""
    conditions = conditions or {"rim": kp.Condition(field, on="boundary")}
    found = kp.Problem(domain, {"e": equation}, conditions).scales
    return found.field(field.func.__name__)


def ring(inner, outer=1.0):
    """The largest value of -Δu = 1 in a ring, zero on both circles."""
    r = np.linspace(inner, outer, 10_001)
    rise = (outer**2 - inner**2) / 4 / np.log(inner / outer)
    return np.max((outer**2 - r**2) / 4 - rise * np.log(r / outer))


@pytest.mark.parametrize("symbols", [(X, Y), (X, Y, Z)])
@pytest.mark.parametrize("index", [(0, 0, 0), (2, 1, 0), (3, 4, 2)])
def test_a_derivative_of_a_potential_is_sympys(symbols, index):
    points = np.random.default_rng(0).normal(size=(20, len(symbols)))
    index = index[: len(symbols)]
    r = sp.sqrt(sum(symbol**2 for symbol in symbols))
    expected = sp.log(r) if len(symbols) == 2 else 1 / r
    for pair in zip(symbols, index, strict=True):
        expected = expected.diff(pair)
    expected = sp.lambdify(symbols, expected)(*points.T)
    assert potential(points, index) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("inner", [0.01, 0.1, 0.3])
def test_a_source_in_a_ring(inner):
    domain = disk((0, 0), 1) - disk((0, 0), inner)
    assert size(domain, laplacian(U) + 1) == pytest.approx(ring(inner), rel=0.02)
    annulus = kp.geometry.Annulus((0, 0), inner, 1, coordinates=(X, Y))
    assert size(annulus, laplacian(U) + 1) == pytest.approx(ring(inner), rel=0.02)


def test_a_source_in_a_ring_in_watts_and_metres():
    found = size(disk((3, 0), 0.1) - disk((3, 0), 0.02), 50 * laplacian(U) + 1e6)
    assert found == pytest.approx(2e4 * ring(0.02, 0.1), rel=0.02)


def test_a_source_in_a_shell():
    u = sp.Function("u")(X, Y, Z)
    ball = kp.geometry.Ball((0, 0, 0), 1, coordinates=(X, Y, Z))
    shell, r = ball - kp.geometry.Ball((0, 0, 0), 0.2), np.linspace(0.2, 1, 10_001)
    expected = np.max((1 - r**2) / 6 - 0.04 * (1 / r - 1))
    found = size(shell, laplacian(u, (X, Y, Z)) + 1, field=u)
    assert found == pytest.approx(expected, rel=0.02)


# By finite elements of second order (scikit-fem), graded round the holes.
SQUARE = kp.geometry.Box({X: (-1, 1), Y: (-1, 1)})
L = kp.geometry.Polygon(
    [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], coordinates=(X, Y)
)
TWO = disk((0.5, 0.5), 0.1) + disk((1.4, 0.5), 0.1)


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        (SQUARE - kp.geometry.Box({X: (-0.3, 0.3), Y: (-0.3, 0.3)}), 0.0759),
        (BOX - disk((0.5, 0.5), 0.1) - disk((1.5, 0.3), 0.08), 0.0786),
        (BOX - TWO, 0.0629),
        (L - disk((0.5, 0.4), 0.2), 0.104),
        (L, 0.150),
        (
            kp.geometry.Ellipse((0, 0), (0.3, 0.2), coordinates=(X, Y))
            - kp.geometry.Ellipse((0.08, 0.03), (0.06, 0.03)),
            0.00892,
        ),
    ],
    ids=["square", "two disks", "a union", "an L", "no hole", "ellipse"],
)
def test_a_source_beside_holes_and_corners(domain, expected):
    assert size(domain, laplacian(U) + 1) == pytest.approx(expected, rel=0.1)


def test_all_heat_leaves_by_what_radiates_in_a_small_hole():
    outer, hole, k, heat = disk((0, 0), 0.1), disk((0, 0), 0.02), 20, 1e6
    domain = outer - hole
    flux = k * kp.normal_derivative(U, domain)
    conditions = {
        "insulated": kp.Condition(flux, on=outer),
        "radiates": kp.Condition(flux + 5.67e-8 * U**4, on=hole),
    }
    expected = (heat * (0.1**2 - 0.02**2) / 0.04 / 5.67e-8) ** 0.25
    expected += heat / k * (0.005 * np.log(5) - (0.1**2 - 0.02**2) / 4)
    found = size(domain, k * laplacian(U) + heat, conditions)
    assert found == pytest.approx(expected, rel=0.02)


def test_a_current_from_a_hole_heats_a_plate():
    hole, s, k, voltage = disk((4e-3, -2e-3), 2e-3), 1e4, 20, 0.5
    plate = kp.geometry.Box({X: (-0.01, 0.01), Y: (-0.01, 0.01)})
    sides = [{X: -0.01}, {X: 0.01}, {Y: -0.01}, {Y: 0.01}]
    heat = k * laplacian(V) + s * (U.diff(X) ** 2 + U.diff(Y) ** 2)
    found = kp.Problem(
        plate - hole,
        {"charge": laplacian(U), "heat": heat},
        {
            "contact": kp.Condition([U - voltage, V], on=hole),
            "earth": kp.Condition([U, V], on=sides),
        },
    ).scales
    assert found.field("u") == voltage
    assert found.field("v") == pytest.approx(s * voltage**2 / 8 / k, rel=0.1)


def test_a_slit_that_no_two_degrees_agree_on_is_as_the_terms_say():
    slit = kp.geometry.Box({X: (-0.5, 0.5), Y: (-0.05, 0.05)})
    assert size(SQUARE - slit, laplacian(U) + 1) == 1  # 0.107 in truth


def test_poles_are_where_something_was_cut_from_the_domain():
    tips = len(FROM_CORNER)
    assert poles_of(BOX) == []
    assert len(poles_of(BOX - TWO)) == 2
    assert len(poles_of((BOX - TWO) * kp.geometry.Box({Z: (0, 1)}))) == 2
    assert len(poles_of(BOX - disk((9, 9), 8.6))) == 0  # whose middle is far off
    assert len(poles_of(L)) == tips
    triangle = [(0.5, 0.3), (0.9, 0.3), (0.5, 0.7)]
    holed = kp.geometry.Polygon([(0, 0), (2, 0), (0, 2)], [triangle], (X, Y))
    assert len(poles_of(holed)) == 1 + 3 * tips
    ring_road = kp.geometry.Box({X: (0, 2), Y: (0, 1)}, periodic=[X])
    assert poles_of(ring_road - disk((0.5, 0.5), 0.1)) == []  # they do not repeat
