"""Branches of `Piecewise` that are never sampled, and points without a branch."""

import pytest
import sympy as sp

import keraspinn as kp

X, Y = sp.symbols("x y")
U = sp.Function("u")(X, Y)
BOX = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
WALL = {"wall": kp.Condition(U, on="boundary")}


def declare(*branches, on=None, domain=BOX):
    piecewise = sp.Piecewise(*branches)
    if on is None:
        return kp.Problem(domain, {"e": U.diff(X, 2) + piecewise}, WALL)
    return kp.Problem(domain, {"e": U.diff(X)}, {"c": kp.Condition(U - piecewise, on)})


@pytest.mark.parametrize(
    "branches",
    [
        [(1, sp.Eq(X, sp.Rational(1, 2))), (0, True)],
        [(1, sp.Eq(X, 0.5) & sp.Eq(Y, 0.5)), (0, True)],
        [(1, sp.Eq(X, 0.5) & (Y > 0.5)), (0, True)],
        [(1, sp.Eq(X, 0.5) | sp.Eq(X, 0.25)), (0, True)],
        [(0, sp.Ne(X, 0.5)), (1, True)],
        [(1, sp.Eq(X, Y)), (X, True)],
        [(1, sp.Eq(U, 0)), (U, True)],
        [(5, sp.Eq(X, 0.5)), (1 / (1 + X), True)],
    ],
)
def test_a_branch_on_a_surface_raises(branches):
    with pytest.raises(ValueError, match="equation 'e'.*holds at none of.*Gaus"):
        declare(*branches)


@pytest.mark.parametrize(
    "branches",
    [
        [(1, sp.Eq(X, 0)), (sp.sin(X) / X, True)],
        [(sp.sin(X) / X, sp.Ne(X, 0)), (1, True)],
        [(0, sp.Eq(X**2 + Y**2, 0)), (X * Y / (X**2 + Y**2), True)],
        [(1, sp.Eq(sp.sign(X - 0.5), 1)), (0, True)],
        [(1, sp.Eq(X, 0) | (Y > 0.5)), (0, True)],
        [(0, sp.Eq(X, 0)), (X * sp.log(X), True)],
        [(1, sp.Eq(X, 0)), (sp.cos(X), True)],
    ],
)
def test_removable_singularities_and_regions_are_allowed(branches):
    declare(*branches)


@pytest.mark.parametrize(
    "branches",
    [
        [(1, X < 0.5)],
        [(1, X < 0.4), (2, X > 0.6)],
        [(1, U < 0)],
        [(sp.Piecewise((1, Y < 0.5)), X < 0.5), (0, True)],
    ],
)
def test_a_point_without_a_branch_raises(branches):
    with pytest.raises(ValueError, match=r"no branch.*holds at \{'x': 0.*\(0, True\)"):
        declare(*branches)


@pytest.mark.parametrize(
    "branches",
    [
        [(1, X < 0.5), (2, X >= 0.5)],
        [(1, X <= 1)],
        [(1, U < 0), (2, U >= 0)],
        [(sp.Piecewise((1, X < 0.5)), X < 0.5), (0, True)],
        [(kp.Parameter("a", 2.0), X < 2), (0, True)],
        [(1, X < kp.Parameter("a", 2.0))],
    ],
)
def test_branches_that_cover_the_domain_need_no_default(branches):
    declare(*branches)


def test_condition_without_a_branch_on_its_part_raises():
    declare((Y, X < 0.5), on={X: 0})
    with pytest.raises(ValueError, match="condition 'c'.*no branch"):
        declare((Y, X < 0.5), on={X: 1})


def test_a_reference_needs_a_value_everywhere():
    with pytest.raises(ValueError, match="the reference.*no branch"):
        kp.Problem(BOX, {"e": U.diff(X)}, WALL, {U: sp.Piecewise((1, X < 0.5))})


def test_equations_without_conditions_warn():
    with pytest.warns(UserWarning, match="no conditions.*Condition.*Data") as caught:
        kp.Problem(BOX, {"e": U.diff(X)})
    assert caught[0].filename == __file__


def test_measurements_and_algebraic_equations_raise_no_warning(recwarn):
    kp.Problem(BOX, {"e": U.diff(X)}, {"d": kp.Data([[0.5, 0.5]], {U: [1.0]})})
    kp.Problem(BOX, {"e": U**3 + U - X})
    assert not recwarn


@pytest.mark.parametrize(
    "condition",
    [
        (X <= sp.Rational(1, 2)) & (X >= sp.Rational(1, 2)),
        (X - sp.Rational(1, 2)) ** 2 <= 0,
        sp.Abs(X - sp.Rational(1, 2)) < 1e-9,
        X > 5,
    ],
)
def test_an_unsampled_branch_warns(condition):
    with pytest.warns(UserWarning, match=r"equation 'e'.*holds at none of 1000 points"):
        declare((1, condition), (0, True))


def test_a_coefficient_of_two_layers_in_a_condition_does_not_warn(recwarn):
    """The branch of the other layer never applies on the face x = 1."""
    k, q = sp.Piecewise((1, X < 0.5), (2, True)), sp.Function("q")(X)
    u = sp.Function("u")(X)
    convection = kp.Condition(k * u.diff(X) + u - 1, on={X: 1})
    conditions = {"base": kp.Condition(u, on={X: 0}), "convection": convection}
    equations = {"flux": u.diff(X) - q / k, "balance": q.diff(X) - 1}
    kp.Problem(kp.geometry.Box({X: (0, 1)}), equations, conditions)
    assert not recwarn
    with pytest.warns(UserWarning, match="holds at none of"):
        declare((1, (X > 0.5) & (X < 0.500001)), (0, True), on={Y: 0})


def test_sampled_branches_do_not_warn(recwarn):
    declare((1, X < 0.1), (2, X < 0.5), (0, True))
    declare((1, Y >= 1), (0, True), on="boundary")
    declare((1, (U > 100) & (X > 5)), (0, True))
    assert not recwarn


def test_an_uncoupled_field_needs_a_condition(recwarn):
    other = sp.Function("v")(X, Y)
    apart = {"e": U.diff(X), "f": other.diff(Y)}
    with pytest.warns(UserWarning, match="no conditions for v, and infinitely many"):
        kp.Problem(BOX, apart, WALL)
    recwarn.clear()
    kp.Problem(BOX, {"e": U.diff(X) + other.diff(X), "f": other.diff(Y)}, WALL)
    assert not recwarn


@pytest.mark.parametrize(
    "known",
    [
        sp.log(X - 0.5),
        sp.sqrt(X - 0.5) * U,
        sp.asin(2 * X) * U.diff(Y),
        (X - 0.5) ** 1.5,
        (X - sp.Rational(1, 2)) ** sp.Rational(1, 3),
    ],
)
def test_functions_without_a_real_value_raise(known):
    with pytest.raises(ValueError, match="'e'.* no real value at .*'x': .*Max"):
        kp.Problem(BOX, {"e": U.diff(X, 2) + known}, WALL)


@pytest.mark.parametrize(
    "known",
    [
        X * sp.log(X),
        sp.sqrt(X) / sp.sin(X),
        sp.sqrt(sp.Max(X - 0.5, 0)),
        sp.Piecewise((sp.sqrt(X - 0.5), X > 0.5), (0, True)),
        sp.sqrt(U - 1),
    ],
)
def test_functions_with_real_values_are_allowed(known):
    kp.Problem(BOX, {"e": U.diff(X, 2) + known}, WALL)


def test_a_boundary_value_without_a_real_value_raises():
    with pytest.raises(ValueError, match="condition 'c'.*no real value at"):
        known = {"c": kp.Condition(U - sp.log(X - 1), on={X: 0}, hard=True)}
        kp.Problem(BOX, {"e": U.diff(X)}, known)


def test_a_reference_without_a_real_value_raises():
    with pytest.raises(ValueError, match="the reference.*no real value at"):
        kp.Problem(BOX, {"e": U.diff(X, 2)}, WALL, {U: sp.sqrt(X - 0.5)})
