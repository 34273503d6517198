import copy
import json
import pickle

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.expressions import required_derivatives

X, Y, T, K = sp.symbols("x y t k")
U, V = sp.Function("u")(X, Y), sp.Function("v")(X, Y)
BOX = kp.geometry.Box({X: (0, 1), Y: (0, 1)})


def problem(**changes):
    arguments = {
        "domain": BOX,
        "equations": {"laplace": U.diff(X, 2) + U.diff(Y, 2)},
        "conditions": {"boundary": kp.Condition(sp.Eq(U, X), on="boundary")},
    }
    return kp.Problem(**(arguments | changes))


def test_fields_and_parameters_are_collected():
    cavity = problem(
        equations={
            "momentum": (U * U.diff(X)).diff(X) + V,
            "continuity": U.diff(X) + V.diff(Y),
        }
    )
    assert cavity.field_names == ("u", "v")
    needed = required_derivatives(cavity.terms["residual"].expressions, (X, Y))
    assert needed == {"u": {(0, 0), (1, 0), (2, 0)}, "v": {(0, 0), (0, 1)}}
    needed = required_derivatives(cavity.terms["boundary"].expressions, (X, Y))
    assert needed == {"u": {(0, 0)}}


def test_fields_can_be_ordered():
    equations = {"sum": U + V}
    assert problem(equations=equations, fields=[V, U]).field_names == ("v", "u")


def test_problem_prints_its_equations():
    text = str(problem())
    assert "laplace: u_xx + u_yy = 0" in text and "x ∈ [0, 1]" in text
    assert "boundary: u - x = 0 on boundary" in text
    source = sp.Add(*(sp.sin(k * X) * sp.exp(-k * Y) for k in range(1, 6)))
    lines = str(problem(equations={"poisson": U.diff(X, 2) - source})).splitlines()
    assert max(map(len, lines)) <= 80 and lines[2].startswith("    ")
    latex = problem()._repr_latex_()
    assert latex.startswith("$$") and "u_{xx} + u_{yy}" in latex


def test_problem_can_be_copied_and_pickled():
    original = problem(reference={U: X})
    for copied in (copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
        assert copied.get_config() == original.get_config()


def test_a_field_named_like_a_derivative():
    slope = sp.Function("u_x")(X, Y)
    first_order = problem(equations={"e": sp.Eq(U.diff(X), slope)})
    assert "e: -u_x(x, y) + Derivative(u(x, y), x) = 0" in str(first_order)
    with pytest.raises(
        ValueError, match=r"Two references have the same name: \['u_x'\]"
    ):
        problem(
            equations={"e": sp.Eq(U.diff(X), slope)}, reference={U.diff(X): 1, slope: 1}
        )


def test_a_problem_can_reuse_the_parts_of_another():
    declared = problem(reference={U: X})
    again = kp.Problem(
        declared.domain, declared.equations, declared.conditions, declared.reference
    )
    assert again.get_config() == declared.get_config()


def test_problem_is_immutable():
    with pytest.raises(AttributeError, match="cannot be changed"):
        problem().fields = ()
    with pytest.raises(TypeError):
        problem().equations["another"] = U


def test_problem_config_round_trip_by_json():
    nu = kp.Parameter("nu", 0.5, positive=True)
    original = problem(
        equations={"a": sp.Eq(nu * U.diff(X, 2), sp.Piecewise((1, X < Y), (0, True)))},
        conditions={
            "walls": kp.Condition(sp.Eq(U.diff(X), nu), on=[{X: 0}, {Y: 1}], weight=3),
            "sensors": kp.Data([[0.1, 0.2]], {U: [1.0]}),
        },
        reference={U: sp.exp(-X) * sp.sin(Y)},
    )
    config = json.loads(json.dumps(keras.saving.serialize_keras_object(original)))
    restored = keras.saving.deserialize_keras_object(config)
    assert dict(restored.equations) == dict(original.equations)
    assert restored.parameters == original.parameters == (nu,)
    assert dict(restored.reference) == dict(original.reference)
    assert restored.get_config() == original.get_config()
    points, values = restored.test_data(5)
    np.testing.assert_allclose(
        values["u"], np.exp(-points[:, 0]) * np.sin(points[:, 1])
    )


def test_reference_may_be_a_table():
    speed = sp.sqrt(U**2 + V**2)
    table = kp.Reference([[0.5, 0.5]], {speed: [2.0]}, names={speed: "speed"})
    compared = problem(equations={"sum": U + V}, reference=table)
    points, values = compared.test_data()
    assert points.tolist() == [[0.5, 0.5]] and values["speed"].tolist() == [2.0]
    assert compared.reference_expressions == {"speed": speed}
    restored = keras.saving.deserialize_keras_object(
        keras.saving.serialize_keras_object(compared)
    )
    assert restored.reference_expressions == {"speed": speed}


def test_reference_names_are_short():
    compared = problem(reference={U: X, U.diff(X): 1, U**2: X**2})
    assert list(compared.reference_expressions) == ["u", "u_x", "u**2"]


SUPPORTED = "sin"  # contained in every list of supported functions


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"domain": None}, TypeError, "`domain` must be a geometry"),
        ({"equations": {}}, TypeError, "dict from names to equations"),
        ({"equations": U}, TypeError, "dict from names to equations"),
        ({"equations": {"residual": U}}, ValueError, "'residual_loss'"),
        (
            {"equations": {"heat": U * kp.Parameter("heat_loss", 1.0)}},
            ValueError,
            "columns of the logs would have the same name",
        ),
        ({"equations": {"e": sp.Function("u").diff(X)}}, ValueError, "apply it to"),
        ({"equations": {"a": U + K}}, ValueError, "equation 'a'.*k"),
        ({"equations": {"a": sp.zeta(U)}}, ValueError, f"zeta.*{SUPPORTED}"),
        ({"equations": {"a": U.diff(T)}}, ValueError, "no field in 0 = 0"),
        (
            {"equations": {"a": sp.Function("u")(X).diff(X)}},
            ValueError,
            r"u\(x\)",
        ),
        (
            {
                "equations": {"a": U},
                "conditions": {
                    "b": kp.Condition(sp.Function("u")(Y, X), on="boundary")
                },
            },
            ValueError,
            "together.*u",
        ),
        (
            {"conditions": {"b": kp.Condition(U, on={X: 2})}},
            ValueError,
            r"part of the domain. Received \{x: 2\}",
        ),
        (
            {"conditions": {"b": kp.Condition(U, on={T: 0})}},
            ValueError,
            "no coordinate t",
        ),
        (
            {"conditions": {"b": kp.Condition(U, on="initial")}},
            ValueError,
            "names no part of the domain: 'initial'",
        ),
        (
            {"conditions": {"residual": kp.Condition(U, on="boundary")}},
            ValueError,
            "'residual' is the equations' loss term",
        ),
        (
            {"conditions": {"laplace": kp.Condition(U, on="boundary")}},
            ValueError,
            "the same name: .'laplace_loss'",
        ),
        (
            {
                "conditions": {
                    "b": kp.Condition(U - kp.Parameter("b_loss", 1), on="boundary")
                }
            },
            ValueError,
            "the same name: .'b_loss'",
        ),
        ({"conditions": {"b": U}}, TypeError, "must be a Condition or Data"),
        ({"conditions": [U]}, TypeError, "dict from names to Condition or Data"),
        (
            {"conditions": {"d": kp.Data([[0.1]], {U: [1]})}},
            ValueError,
            r"a column for each of \['x', 'y'\], with n of .* Received: shape",
        ),
        ({"reference": {V: X}}, ValueError, r"names \['v'\], which are no fields"),
        ({"reference": {U: V}}, ValueError, "must be known"),
        ({"reference": {U: "sin(x)"}}, TypeError, "must be a SymPy expression"),
        ({"reference": X}, TypeError, "`reference` must be a dict"),
        ({"fields": [V]}, ValueError, r"each field of the equations once: \['u'\]"),
        (
            {
                "equations": {
                    "a": U * kp.Parameter("c", 1) + kp.Parameter("c", 2),
                }
            },
            ValueError,
            "c",
        ),
    ],
)
def test_invalid_declarations_raise(changes, error, message):
    with pytest.raises(error, match=f"(?s){message}"):
        problem(**changes)


def test_test_data_has_as_many_points_as_the_dimension_allows():
    symbols = sp.symbols("a b c d e")
    field = sp.Function("u")(*symbols)
    many = kp.Problem(
        kp.geometry.Box(dict.fromkeys(symbols, (0, 1))),
        {"e": field.diff(symbols[0])},
        {"wall": kp.Condition(field, on={symbols[0]: 0})},
        reference={field: symbols[0]},
    )
    points, values = many.test_data()
    assert points.shape == (11**5, 5) and values["u"].shape == (11**5,)
    with pytest.raises(ValueError, match=r"1e\+10 points.*Write n=11"):
        many.test_data(100)


def test_test_data_needs_a_reference():
    with pytest.raises(ValueError, match="no reference. Declare one"):
        problem().test_data()


def test_equation_names_may_be_any_text():
    equations = {"∂u/∂t = 0, [W/m²]": U.diff(X)}
    problem = kp.Problem(BOX, equations, {"wall": kp.Condition(U, on="boundary")})
    assert list(kp.Problem.from_config(problem.get_config()).equations) == [*equations]
