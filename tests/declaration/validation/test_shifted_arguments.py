"""Shifted fields in conditions: values, round trips and errors."""

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
from keraspinn.expressions import from_json, to_json
from keraspinn.expressions.image import At, with_images

X, Y, S = sp.symbols("x y s")
F = sp.Function("u")
U = F(X, Y)
BOX = kp.geometry.Box({X: (0, 2), Y: (0, 1)})
EXACT = sp.exp(X / 2) * sp.cos(Y) + X**2


def problem(*equations, on=None, domain=BOX, **options):
    condition = kp.Condition(list(equations), on=on or {X: 2})
    return kp.Problem(
        domain, {"e": U.diff(X, 2) + U.diff(Y, 2)}, {"c": condition}, **options
    )


class Exact(keras.layers.Layer):
    """The field EXACT, for the engine that differentiates any layer."""

    def call(self, points):
        x, y = points[..., :1], points[..., 1:]
        return ops.exp(x / 2) * ops.cos(y) + x * x


@pytest.mark.parametrize(
    ("equation", "misfit"),
    [
        (U - U.subs(X, 0), EXACT - EXACT.subs(X, 0)),
        (U.diff(X) - U.diff(X).subs(X, 0), (EXACT.diff(X) - EXACT.diff(X).subs(X, 0))),
        (U.subs(X, 0.5) * U.diff(Y), EXACT.subs(X, 0.5) * EXACT.diff(Y)),
        (
            U.diff(X, Y) + U.diff(Y).subs(X, 1) ** 2,
            EXACT.diff(X, Y) + EXACT.diff(Y).subs(X, 1) ** 2,
        ),
        (
            U + U.diff(X).subs({X: 1, Y: 0.5}),
            EXACT + EXACT.diff(X).subs({X: 1, Y: 0.5}),
        ),
        (U - U.subs(X, 2 - X), EXACT - EXACT.subs(X, 2 - X)),
        # SymPy's own chain rule at the mirror image.
        (
            U + U.subs(X, 2 - X).diff(X, 2),
            EXACT + EXACT.subs(X, 2 - X).diff(X, 2),
        ),
    ],
)
@pytest.mark.parametrize("scales", [None, "auto"])
@pytest.mark.filterwarnings("ignore:Derivatives are taken by nested")
def test_residuals_of_a_known_shifted_field(equation, misfit, scales):
    model = kp.PINNModel(problem(equation, scales=scales), Exact(), seed=0)
    batch = model.trainer.sources.draw(0, 0)["c"]
    (residuals,) = model._objective.residuals("c", batch)
    points = ops.convert_to_numpy(batch.coordinates).astype("float64")
    exact = sp.lambdify((X, Y), misfit)(*points.T)
    size = model.problem.scales.sizes(model.problem.terms["c"])[0]
    np.testing.assert_allclose(residuals * size, exact, rtol=2e-3, atol=2e-3)


def test_periodic_networks_satisfy_periodic_equations():
    model = kp.PINNModel(
        problem(U.diff(X) - 3 * U.diff(X).subs(X, 0), scales="auto"),
        kp.networks.MLP(5, 2),
        seed=0,
    )
    batch = model.trainer.sources.draw(0, 0)["c"]
    (residuals,) = model._objective.residuals("c", batch)
    points = ops.convert_to_numpy(batch.coordinates)
    slopes = [
        model.predict_expression(U.diff(X), np.array([[x, y] for _, y in points]))
        for x in (2.0, 0.0)
    ]
    size = model.problem.scales.sizes(model.problem.terms["c"])[0]
    np.testing.assert_allclose(residuals * size, slopes[0] - 3 * slopes[1], atol=1e-5)


def test_saving_keeps_the_shifted_argument():
    declared = problem(
        U - U.subs(X, 0), U.diff(X, Y) - 2 * U.diff(X, Y).subs(X, 1 - X / 2)
    )
    config = keras.saving.serialize_keras_object(declared)
    again = keras.saving.deserialize_keras_object(config)
    assert again.conditions["c"].expressions == declared.conditions["c"].expressions
    assert any(e.has(At) for e in again.conditions["c"].expressions)
    assert "u(x, y)[x=0]" in str(declared) or "u[x=0]" in str(declared)
    assert "x=0" in declared._repr_latex_()


def test_both_shifted_fields_have_one_scale():
    scales = problem(U - U.subs(X, 0), scales={U: 4.0}).scales
    assert scales.terms["c"] == (4.0,)


@pytest.mark.parametrize(
    ("declare", "match"),
    [
        (lambda: problem(U - U.subs(X, 5)), "outside of the domain"),
        (lambda: problem(U - U.subs(X, X + 1)), r"evaluated at \[3\."),
        (lambda: problem(U - U.subs(X, S)), "unknown symbol s|not one of them"),
        (lambda: problem(U - F(Y, X)), "two orders"),
        (lambda: problem(U - U.subs(X, Y)), "repeats one"),
        (lambda: problem(U - F(S, 0)), "unknown symbol s"),
        (lambda: problem(U - U.subs(X, U)), "follow from the coordinates"),
        (
            lambda: problem(U - U.subs(X, 1 + kp.Parameter("p", 0.5))),
            "follow from the coordinates",
        ),
        (
            lambda: kp.Problem(
                BOX,
                {"e": U.diff(X)},
                {"c": kp.Condition(U - U.subs(X, 0), on={X: 2}, hard=True)},
            ),
            "values at different points",
        ),
    ],
)
def test_invalid_arguments_raise(declare, match):
    with pytest.raises(ValueError, match=match):
        declare()


def test_malformed_files_raise():
    (expression,) = with_images((U - U.subs(X, 0),))
    data = to_json(next(iter(expression.atoms(At))))
    for tree in (data[:3], [*data, 1]):
        with pytest.raises(ValueError):
            from_json(tree)
