import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y = sp.symbols("x y")
U = sp.Function("u")(X, Y)


def restored(part):
    return keras.saving.deserialize_keras_object(
        keras.saving.serialize_keras_object(part)
    )


@pytest.mark.parametrize(
    "on", ["boundary", {X: 0}, [{X: 0}, {Y: 1.5}], ["initial", {X: 0, Y: 1}]]
)
def test_condition_round_trip(on):
    condition = kp.Condition([sp.Eq(U, X), U.diff(X)], on=on, weight=2)
    copy = restored(condition)
    assert copy.expressions == condition.expressions == (U - X, U.diff(X))
    assert (copy.on, copy.weight) == (on, 2.0)
    assert str(copy) == str(condition)  # and no {x: 0.0} for {x: 0}


@pytest.mark.parametrize(
    ("on", "text"),
    [
        ({X: 1.0}, "{x: 1}"),
        ([{X: -sp.Rational(1, 2)}, {Y: sp.pi}], "[{x: -0.5}, {y: 3.14159}]"),
        ({X: "left"}, "{x: left}"),  # a domain rejects it with this text
    ],
)
def test_numbers_of_faces_are_formatted_as_those_of_the_domain(on, text):
    assert kp.Condition(U, on=on).place == f"= 0 on {text}"


def test_data_and_reference_round_trip():
    points, values = [[0.1, 0.2], [0.3, 0.4]], {U: [[1.0], [2.0]], U.diff(X): [3, 4]}
    data = restored(kp.Data(points, values, weight=3))
    assert data.expressions == (U, U.diff(X)) and data.weight == 3
    np.testing.assert_array_equal(data.points, points)
    np.testing.assert_array_equal(data.targets, [[1, 3], [2, 4]])
    reference = restored(kp.Reference(points, values, names={U.diff(X): "slope"}))
    assert reference.names == ("u", "slope")


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: kp.Condition([], on="boundary"), ValueError, "at least one equation"),
        (lambda: kp.Condition("u = 0", on="boundary"), TypeError, "u = 0"),
        (lambda: kp.Condition(sp.Eq(U, U), on="boundary"), ValueError, "[Tt]rue"),
        (lambda: kp.Condition(U, "boundary", -1), ValueError, "zero or more.* -1"),
        (lambda: kp.Condition(U, "boundary", np.inf), ValueError, "finite.* inf"),
        (lambda: kp.Condition(U, "boundary", "big"), ValueError, "Received: 'big'"),
        (lambda: kp.Data([0.1, 0.2], {U: [1]}), ValueError, r"shape \(n, d\)"),
        (lambda: kp.Data([[]], {}), TypeError, "dict from expressions"),
        (lambda: kp.Data(np.zeros((0, 2)), {U: []}), ValueError, r"shape \(0, 2\)"),
        (lambda: kp.Data([[0, 1]], {"u": [1]}), TypeError, "SymPy expressions"),
        (
            lambda: kp.Data(np.zeros((3, 2)), {U: np.zeros((3, 3))}),
            ValueError,
            r"values of u\(x, y\) must have shape \(3,\).*shape \(3, 3\)",
        ),
        (lambda: kp.Data([[0, 1]], {U: [1, 2]}), ValueError, r"shape \(1,\)"),
        (lambda: kp.Data([[0, np.nan]], {U: [1]}), ValueError, "points must be finite"),
        (
            lambda: kp.Data([[0, 1], [0, 2]], {U: [1, np.inf]}),
            ValueError,
            "values of u.* must be finite. Received: inf in row 1",
        ),
        (lambda: kp.Data([["a", "b"]], {U: [1]}), ValueError, "array of numbers"),
        (
            lambda: kp.Reference([[0, 1]], {U: [1]}, names={X: "x"}),
            ValueError,
            "which are no expressions in `values`",
        ),
    ],
)
def test_invalid_declarations_raise(build, error, message):
    with pytest.raises(error, match=message):
        build()


def test_expressions_up_to_a_constant_are_a_list():
    with pytest.raises(TypeError, match=r"such as \[p\]. Received: u\(x, y\)"):
        kp.Reference([[0.1, 0.2]], {U: [1.0]}, up_to_constant=U)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (kp.Condition(U, on={X: 0}), kp.Condition(sp.Eq(U, 1), on={X: 0})),
        (kp.Condition(U, on="boundary"), kp.Condition(1 - U, on={X: 0})),
        (kp.Condition(U.diff(X), on={X: 0}), kp.Condition(U.diff(X), on={X: 0})),
        (kp.Condition(U, on={X: 0}), kp.Condition(3 * (U - Y), on={X: 0})),
        (kp.Condition(U, {X: 0}, where=Y < 0.6), kp.Condition(U - 1, {X: 0})),
        (
            kp.Condition(U, {X: 0}, where=Y < 0.6),
            kp.Condition(U - 1, {X: 0}, where=Y > 0.5),
        ),
    ],
)
def test_duplicate_conditions_raise(first, second):
    box = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
    with pytest.raises(
        ValueError, match="'a' and 'b' prescribe .* twice on x = 0.*: [uD]"
    ):
        kp.Problem(box, {"e": U.diff(X, 2)}, {"a": first, "b": second})


def test_one_face_may_have_several_boundary_conditions():
    box = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
    cauchy = {n: kp.Condition(e, {X: 0}) for n, e in (("a", U), ("b", U.diff(X)))}
    parts = {
        n: kp.Condition(U - i, {X: 1}, where=w)
        for i, (n, w) in enumerate((("c", Y < 0.5), ("d", Y > 0.5)))
    }
    corner = {"corner": kp.Condition(U - 1, {X: 0, Y: 0})}
    robin = {"robin": kp.Condition(U.diff(X) + U, {X: 0})}
    kp.Problem(box, {"e": U.diff(X, 2)}, cauchy | parts | corner | robin)
    with pytest.raises(ValueError, match="Condition 'a' prescribes .* twice"):
        kp.Problem(box, {"e": U}, {"a": kp.Condition([U, U - 1], {X: 0})})
