"""Integrals along a coordinate: values, scales, files and errors."""

import warnings

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
from examples.public_examples.deepxde_integral import volterra
from keraspinn.expressions import normalize
from keraspinn.expressions.line_integral import LineIntegral

X, T, S, R = sp.symbols("x t s r")
U, V = sp.Function("u")(X), sp.Function("v")(X, T)
LINE = kp.geometry.Box({X: (0, 2)})
STRIP = kp.geometry.Box({X: (0, 2)}, time={T: (0, 1)})
EXACT = {U: sp.exp(X / 2) + X**2, V: sp.exp(X / 2) * sp.cos(T) + X**2}


class ExactU(keras.layers.Layer):
    def call(self, points):
        return ops.exp(points / 2) + points**2


class ExactV(keras.layers.Layer):
    def call(self, points):
        x, t = points[..., :1], points[..., 1:]
        return ops.exp(x / 2) * ops.cos(t) + x**2


CASES = [
    (U, sp.Integral(sp.exp(S - X) * U.subs(X, S), (S, 0, X))),
    (U, sp.Integral(sp.cos(X * S) * U.subs(X, S) ** 2, (S, 0, 2))),
    (U, sp.Integral(sp.exp(X * R) * U.diff(X).subs(X, R), (R, X / 2, X))),
    (U, sp.Integral(U, (X, 0, 1))),  # the bound variable has the coordinate's name
    (U, sp.Integral(sp.Integral(U.subs(X, R), (R, 0, S)), (S, 0, X))),
    (U, sp.Integral(U.diff(X, 2).subs(X, X - R**2), (R, 0, sp.sqrt(X)))),
    (V, sp.Integral(sp.exp(S - T) * V.diff(X, 2).subs(T, S), (S, 0, T))),
    (V, sp.Integral(V * S, (S, X, 1), (T, 0, 1))),
    (V, sp.Integral(V.subs({X: T, T: S}, simultaneous=True), (S, 0, 1))),
]


@pytest.mark.slow
@pytest.mark.parametrize(("field", "integral"), CASES)
@pytest.mark.filterwarnings("ignore:Derivatives are taken by nested")
@pytest.mark.filterwarnings("ignore:The problem is underdetermined")
@pytest.mark.filterwarnings("ignore:An? .*condition is missing")
def test_residuals_of_a_known_field(field, integral):
    domain, layer = (LINE, ExactU()) if field == U else (STRIP, ExactV())
    problem = kp.Problem(domain, {"e": field + 3 * integral}, {})
    assert_it_is_saved(problem)
    model = kp.PINNModel(problem, layer, seed=0)
    batch = model.trainer.sources.draw(0, 0)["residual"]
    (residuals,) = model._objective.residuals("residual", batch)
    solution = sp.Lambda(field.args, EXACT[field])
    exact = (field + 3 * integral).replace(field.func, solution).doit()
    exact = sp.lambdify(domain.coordinates, exact, "mpmath")
    points = ops.convert_to_numpy(batch.coordinates).astype("float64")[:5]
    expected = [float(sp.re(exact(*point))) for point in points.tolist()]
    (size,) = problem.scales.sizes(problem.terms["residual"])
    np.testing.assert_allclose(residuals[:5] * size, expected, rtol=2e-3, atol=2e-3)


@pytest.mark.slow
def test_training_solves_a_memory_equation():
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(volterra(), kp.networks.MLP(10, 1), seed=0)
    assert model.derivative_engine == "taylor"
    model.compile(keras.optimizers.Adam(1e-2))
    before = model.evaluate(*model.problem.test_data(), return_dict=True, verbose=0)
    model.fit(batch_size=32, steps_per_epoch=400, verbose=0)
    logs = model.evaluate(*model.problem.test_data(), return_dict=True, verbose=0)
    assert logs["u_relative_l2"] < before["u_relative_l2"] / 10


def test_one_forward_pass_for_all_quadrature_points(monkeypatch):
    model = kp.PINNModel(volterra(), kp.networks.MLP(4, 1), seed=0)
    passes, fields = [], model._objective.fields
    series = fields.scaled_values
    monkeypatch.setattr(
        fields,
        "scaled_values",
        lambda *arguments: (passes.append(1), series(*arguments))[1],
    )
    model._objective.residuals("residual", model.trainer.sources.draw(0, 0)["residual"])
    assert len(passes) == 2  # at the points, and at 20 quadrature points for each


@pytest.mark.filterwarnings("error::UserWarning")
def test_text_and_config_keep_the_line_integral():
    problem = volterra()
    assert "Integral(u(s)*exp(s - x), (s, 0, x))" in str(problem)
    assert r"\int\limits_{0}^{x}" in problem._repr_latex_()
    assert_it_is_saved(problem)


def assert_it_is_saved(problem):
    again = kp.Problem.from_config(problem.get_config())
    assert dict(again.equations) == dict(problem.equations)
    assert again.terms["residual"].expressions == problem.terms["residual"].expressions


def test_predict_evaluates_line_integrals():
    problem = volterra()
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=0)
    memory = sp.Integral(U.subs(X, S), (S, 0, X))
    ends = np.array([[1.0], [4.0]])
    s = np.linspace(0, 1, 2001)[:, None]
    for end, value in zip(ends, model.predict_expression(memory, ends), strict=True):
        exact = np.trapezoid(model.predict(s * end)[:, 0], s[:, 0] * end)
        np.testing.assert_allclose(value, exact, rtol=1e-4)


@pytest.mark.slow
def test_integral_equation_of_the_first_kind_trains():
    """The field occurs only under the integral, at quadrature points."""
    total = sp.Integral(sp.exp(X * S) * U.subs(X, S), (S, 0, 2))
    problem = kp.Problem(LINE, {"first": total - sp.exp(X)})
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=0)
    model.compile(keras.optimizers.Adam(1e-2), max_points_per_pass=40)
    losses = model.fit(batch_size=7, steps_per_epoch=20, epochs=3, verbose=0)
    losses = losses.history["loss"]
    assert losses[-1] < losses[0]


def test_data_of_line_integrals():
    column = sp.Integral(V.subs(X, S), (S, 0, X))
    data = kp.Data([[1.0, 0.5], [2.0, 0.5]], {column: [1.0, 2.0]})
    ends = kp.Condition(V, on="boundary")
    start = kp.Condition(V - sp.sin(X), on="initial")
    problem = kp.Problem(
        STRIP,
        {"heat": V.diff(T) - V.diff(X, 2)},
        {"seen": data, "ends": ends, "initial": start},
    )
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=0)
    batch = model.trainer.sources.draw(0, 0)["seen"]
    assert np.isfinite(model._objective.residuals("seen", batch)).all()


def test_scales_with_a_large_kernel():
    """u = 1 + 0.9 ∫ u is a geometric series: ten."""
    mean = sp.Integral(U.subs(X, S), (S, 0, 2)) / 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = kp.Problem(LINE, {"e": U - 1 - 0.9 * mean})
    assert problem.scales.fields["u"] == pytest.approx(10, rel=0.01)


WINDOW = sp.Abs(S - sp.Rational(13, 10)) < sp.Rational(1, 100)


@pytest.mark.parametrize(
    "kernel",
    [
        1 / sp.sqrt(X - S),
        sp.Abs(S - X / 3),
        sp.exp(-1e4 * (X - S) ** 2),
        sp.Piecewise((1, WINDOW), (0, True)),  # between the quadrature points
        sp.Piecewise((1, X / 2 > S), (0, True)),  # in the middle
        sp.cos(60 * S),
    ],
)
def test_an_unresolved_kernel_warns(kernel):
    with pytest.warns(UserWarning, match=r"'e'.*twenty points.*Substitute"):
        kp.Problem(
            LINE,
            {"e": U - 1 - sp.Integral(kernel * U.subs(X, S), (S, 0, X))},
            {"end": kp.Condition(U - 1, on={X: 0})},
        )


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize(
    "kernel",
    [
        S,
        sp.sin(sp.pi * S),
        sp.cos(20 * S),
        sp.exp(5 * (S - X)),
        sp.cos(sp.pi * (X - S)),
    ],
)
def test_a_smooth_kernel_does_not_warn(kernel):
    """Include kernels whose mean is zero."""
    line = kp.geometry.Box({X: (-1, 1)})
    integral = sp.Integral(kernel * U.subs(X, S), (S, -1, 1))
    kp.Problem(line, {"e": U - integral / 2}, {"end": kp.Condition(U - 1, on={X: 1})})


@pytest.mark.parametrize(
    ("declare", "match"),
    [
        (lambda: normalize(sp.Integral(U, X)), "lower and an upper limit"),
        (lambda: normalize(sp.Integral(U, (X, 0, sp.oo))), "both finite"),
        (
            lambda: normalize(
                sp.Integral(sp.DiracDelta(S - 1) * U.subs(X, S), (S, 0, 2))
            ),
            r"write its result, u\.subs",
        ),
        (
            lambda: kp.Problem(LINE, {"e": U + sp.Integral(U.subs(X, S), (S, 0, 5))}),
            "outside of the domain",
        ),
        (
            lambda: kp.Problem(LINE, {"e": U + sp.Integral(U.subs(X, S), (S, 0, R))}),
            "unknown symbol r",
        ),
        (
            lambda: kp.Problem(
                LINE,
                {"e": U.diff(X)},
                {"c": kp.Condition(U - CASES[3][1], on={X: 0}, hard=True)},
            ),
            "values at different points",
        ),
        (
            lambda: kp.Problem(
                STRIP,
                {"e": V - sp.Integral(sp.Function("k")(S), (S, 0, X))},
            ),
            r"can be applied only to the coordinates x, t\. Received k",
        ),
    ],
)
def test_invalid_arguments_raise(declare, match):
    with pytest.raises(ValueError, match=match):
        declare()


def test_derivatives_follow_leibniz():
    integral = normalize(CASES[0][1])
    assert integral.diff(X) == U + LineIntegral(
        -sp.exp(S - X) * U.subs(X, S), S, sp.S.Zero, X
    )
    assert integral.free_symbols == {X}
    assert integral.subs(S, 3) == integral
    # A bound variable with the coordinate's name is another symbol.
    assert normalize(sp.Integral(U, (X, 0, X))).diff(X) == U
    inner = sp.Integral(U * S, (X, 0, S))
    derivative = normalize(sp.Integral(inner, (S, 0, X))).diff(X)
    (bound,) = derivative.args[0].free_symbols - {X, S}
    assert derivative == LineIntegral(U.subs(X, bound) * X, bound, 0, X)


def test_dummy_of_a_line_integral_is_saved_by_a_name():
    bound = sp.Dummy("s")
    equation = U - sp.Integral(U.subs(X, bound), (bound, 0, X)) - 1
    problem = kp.Problem(LINE, {"e": equation})
    assert_it_is_saved(problem)
