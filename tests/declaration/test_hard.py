"""Forms g + φ N that keep boundary and initial values."""

import warnings

import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.declaration.hard import build_hard_forms
from keraspinn.declaration.validation.discontinuities import find_discontinuity

X, Y, T = sp.symbols("x y t")
U, V = (sp.Function(name)(X, T) for name in "uv")
W = sp.Function("w")(X, Y)
STRING = kp.geometry.Box({X: (0, 2)}, time={T: (5, 9)})
SQUARE = kp.geometry.Box({X: (0, 1), Y: (-1, 1)})


def hard(equations, on):
    return kp.Condition(equations, on=on, hard=True)


def form(domain, *conditions):
    named = {f"c{k}": condition for k, condition in enumerate(conditions)}
    (hard_form,) = build_hard_forms(domain, named).values()
    return hard_form


def test_one_hard_value_on_the_whole_boundary():
    hard_form = form(SQUARE, hard(sp.Eq(3 * W, 6 * X), "boundary"))
    assert sp.simplify(hard_form.value - 2 * X) == 0
    assert sp.simplify(hard_form.factor - X * (1 - X) * 4 * (1 - Y) * (1 + Y)) == 0


def test_hard_values_of_all_faces_are_blended():
    exact = sp.exp(X) * sp.cos(Y) + X * Y**2
    faces = [{X: 0}, {X: 1}, {Y: -1}, {Y: 1}]
    prescribed = [hard(W - exact.subs(face), face) for face in faces]
    hard_form = form(SQUARE, *prescribed)
    for face in faces:
        assert sp.simplify((hard_form.value - exact).subs(face)) == 0
        assert hard_form.factor.subs(face) == 0
    assert hard_form.factor.subs({X: 0.5, Y: 0.2}) > 0


def test_hard_value_on_the_whole_boundary_does_not_give_values_inside():
    exact = sp.exp(X) * sp.cos(Y)
    lift = form(SQUARE, hard(sp.Eq(W, exact), "boundary")).value
    for face in ({X: 0}, {X: 1}, {Y: -1}, {Y: 1}):
        assert sp.simplify((lift - exact).subs(face)) == 0
    assert abs(float((lift - exact).subs({X: 0.5, Y: 0}))) > 0.01


def test_hard_initial_velocity_of_a_string():
    left, right = sp.sin(T - 5) + X, 2 + X * 0
    begin = [sp.Eq(U, X + X * (2 - X)), sp.Eq(U.diff(T), 1 - X / 2)]
    hard_form = form(
        STRING, hard(U - left, {X: 0}), hard(U - right, {X: 2}), hard(begin, "initial")
    )
    for at, value in (({X: 0}, sp.sin(T - 5)), ({X: 2}, 2), ({T: 5}, begin[0].rhs)):
        assert sp.simplify(hard_form.value.subs(at) - value) == 0
    assert sp.simplify(hard_form.value.diff(T).subs(T, 5) - begin[1].rhs) == 0
    assert hard_form.factor.subs(T, 5) == 0 == hard_form.factor.diff(T).subs(T, 5)
    assert hard_form.factor.diff(T, 2).subs(T, 5) != 0


def test_fields_have_separate_hard_forms():
    forms = build_hard_forms(
        STRING, {"i": hard([U - X, V + 1], "initial"), "w": hard(V + 1, {X: 0})}
    )
    assert forms["u"].value == X and forms["v"].value == -1
    assert not forms["u"].factor.has(X) and forms["v"].factor.has(X)


@pytest.mark.parametrize(
    "condition, key",
    [
        (hard(U.diff(X), {X: 0}), "derivative other than the initial velocity"),
        (hard(U.diff(T), {X: 0}), "elsewhere than at the initial time"),
        (hard(U.diff(T), "initial"), "no hard condition gives its value"),
        (hard(U.diff(X) + U, {X: 0}), "relates several"),
        (hard(U - V, {X: 0}), "relates several"),
        (hard(U**2 - 1, {X: 0}), "not linear"),
        (hard(X * U - 1, {X: 2}), "not linear"),
        (hard(U - kp.Parameter("k", 1.0), {X: 0}), "unknown coefficient"),
        (hard(U - sp.Max(X - 1, 0), "initial"), r"Max\(0, x - 1\).*\(x \+ sqrt"),
        (hard(U - sp.Abs(X - 1), "initial"), r"Abs\(x - 1\).*sqrt"),
        (hard(U, {X: 0, T: 5}), "No smooth function is known"),
    ],
)
def test_conditions_that_cannot_be_hard_raise(condition, key):
    with pytest.raises(ValueError, match=key) as caught:
        form(STRING, condition)
    assert "'c0' cannot be hard" in str(caught.value)
    assert "without `hard=True`" in str(caught.value)


def test_hard_values_with_a_kink_warn():
    smooth = sp.Piecewise(((X - 1) ** 2, X < 1), (0, True))
    outside = sp.Piecewise((X, X < 3), (6 - X, True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        form(STRING, hard(U - smooth - outside, "initial"))
    for other in (2 - X, 3):
        with pytest.warns(UserWarning, match="kink or a jump at x = 1"):
            form(STRING, hard(U - sp.Piecewise((X, X < 1), (other, True)), "initial"))


def test_hard_values_with_a_kink_at_the_ends_of_a_period_warn():
    ring = kp.geometry.Box({X: (-1, 1)}, time={T: (0, 1)}, periodic=[X])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        form(ring, hard(U - X**4 + 2 * X**2, "initial"))
        form(ring, hard(U - sp.sin(3 * sp.pi * X), "initial"))
        form(ring, hard(U - sp.exp(-20 * X**2), "initial"))
        form(ring, hard(U - 293, "initial"))
        form(ring, hard(U - 293 - sp.cos(sp.pi * X) / 100, "initial"))
    # The Gaussian's derivative jumps by 0.4 % of its maximum.
    for kinked in (X**2 * sp.cos(sp.pi * X), X, sp.exp(-8 * X**2), 293 + X / 100):
        with pytest.warns(UserWarning, match="kink or a jump at the two ends of x"):
            form(ring, hard(U - kinked, "initial"))


def test_contradictory_hard_values_raise():
    lid = hard(W - 1, {Y: 1})
    with pytest.raises(ValueError, match="agree where they meet"):
        form(SQUARE, lid, hard(W, [{X: 0}, {X: 1}, {Y: -1}]))
    form(SQUARE, hard(W - X * (1 - X), {Y: 1}), hard(W, [{X: 0}, {X: 1}, {Y: -1}]))


def test_hard_conditions_are_no_loss_terms_but_set_scales():
    problem = kp.Problem(
        STRING,
        {"wave": U.diff(T, 2) - U.diff(X, 2)},
        {
            "begin": hard([U - 30, U.diff(T)], "initial"),
            "end": kp.Condition(U - 30, {X: 2}),
        },
        scales="auto",
    )
    assert list(problem.terms) == ["residual", "end"]
    assert problem.scales.field("u") == 30 and "begin" not in problem.scales.terms
    assert "by construction" in str(problem)
    again = kp.Problem.from_config(problem.get_config())
    assert again.hard == problem.hard and again.conditions["begin"].hard


@pytest.mark.parametrize(
    "value",
    [
        sp.Piecewise((0.3 * X, X < 0.1), (0.1 * X + 0.2 * X, True)),  # to rounding
        sp.Piecewise((X, sp.cos(X) < 3 * X), (X, True)),  # SymPy does not solve it
    ],
)
def test_smooth_piecewise_hard_values_do_not_warn(value):
    assert find_discontinuity(kp.geometry.Box({X: (0, 1)}), value) is None
