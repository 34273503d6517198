"""Overflow, underflow and rounding in a model's dtype."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.declaration.validation.dtype_range import precision_fault

X, T = sp.symbols("x t")
U = sp.Function("u")(T)
UNIX = 1.7e9


def later(equation, start=UNIX):
    box = kp.geometry.Box(time={T: (start, start + 100)})
    return kp.Problem(box, {"decay": equation}, {"i": kp.Condition(U - 1, "initial")})


def refused(problem, network=None):
    with pytest.raises(ValueError) as caught:
        kp.PINNModel(problem, network or kp.networks.MLP(4, 1))
    return str(caught.value)


def test_a_late_explicit_time_raises_in_float32_only():
    problem = later(U.diff(T) + sp.sin(T) * U)
    message = refused(problem)
    assert "equation 'decay'" in message and "does not tell apart" in message
    assert "so that it begins at zero" in message and "float64" in message
    network = kp.networks.MLP(4, 1, dtype="float64")
    kp.PINNModel(problem, network, dtype="float64")


def test_a_custom_network_receives_unscaled_time():
    network = keras.Sequential([keras.layers.Dense(4, "tanh"), keras.layers.Dense(1)])
    problem = later(U.diff(T) + U / 20)
    assert "the network" in refused(problem, network)
    kp.PINNModel(problem, kp.networks.MLP(4, 1))
    kp.PINNModel(later(U.diff(T) + U / 20, start=0), network)


@pytest.mark.slow
def test_a_late_time_without_explicit_use_trains():
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(later(U.diff(T) + U / 20), kp.networks.MLP(16, 2), seed=0)
    model.compile(kp.optimizers.SSBroyden())
    model.fit(batch_size=200, steps_per_epoch=100, verbose=0)
    t = np.linspace(0, 100, 41)
    predicted = model.predict(UNIX + t[:, None], verbose=0)[:, 0]
    np.testing.assert_allclose(predicted, np.exp(-t / 20), atol=0.02)


def test_tiny_coefficients_raise():
    u = sp.Function("u")(X)
    box = kp.geometry.Box({X: (0, 1)})
    wall = {"wall": kp.Condition(u, on="boundary")}
    for equation in (1e-22 * u.diff(X, 2) + 1e-22, 6e-39 * u.diff(X, 2) + 1e-19 * u):
        problem = kp.Problem(box, {"e": equation}, wall, scales=kp.Scales.raw(box))
        message = refused(problem)
        assert "equation 'e'" in message and "Nondimensionalise" in message


def test_data_out_of_range_raise():
    u = sp.Function("u")(X)
    box = kp.geometry.Box({X: (0, 1)})
    data = {"gauge": kp.Data([[0.5]], {u: [3e12]})}
    problem = kp.Problem(box, {"e": u.diff(X, 2)}, data, scales=kp.Scales.raw(box))
    message = refused(problem)
    assert "condition 'gauge'" in message and "3e+12" in message


def test_float64_points_in_a_call_agree_with_predict():
    model = kp.PINNModel(later(U.diff(T) + U / 20), kp.networks.MLP(8, 2), seed=0)
    points = UNIX + np.linspace(0, 100, 9)[:, None]
    called = keras.ops.convert_to_numpy(model(points))
    assert called.dtype == "float32" and len(np.unique(called)) == 9
    np.testing.assert_allclose(called, model.predict(points, verbose=0), rtol=1e-6)


def test_points_that_the_dtype_rounds_raise():
    model = kp.PINNModel(later(U.diff(T) + U / 20), kp.networks.MLP(4, 1), seed=0)
    points = (UNIX + np.linspace(0, 100, 9)[:, None]).astype("float32")
    for take in (model, model.predict, model.predict_on_batch):
        with pytest.raises(ValueError, match="in float32, which does not resolve"):
            take(points)


WALL = {"wall": kp.Condition(sp.Function("u")(X), on="boundary")}


@pytest.mark.parametrize(
    ("equation", "is_held"),
    [
        (lambda u: 1e13 * sp.exp(-28 / (0.1 * u + 0.9)), True),  # 7 of 1e13
        (lambda u: 1e13 * sp.exp(-0.1 * u), False),
        (lambda u: 1e28 * sp.exp(-60 * u), False),
        (lambda u: 1e-20 * u, True),
        (lambda u: sp.Piecewise((1000.0, X < 0.5), (0, True)) + u, True),
        (lambda u: u - 1e35, False),
        (lambda u: (1e4 + u) ** 4, False),
        (lambda u: kp.Parameter("E", 210e9) * u, False),
        (lambda u: X**2 * u, True),
        (lambda u: 1e20 * X**2 * u, False),
    ],
)
def test_residuals_out_of_the_dtype_range_are_detected(equation, is_held):
    u, box = sp.Function("u")(X), kp.geometry.Box({X: (0, 1)})
    equation = {"e": u.diff(X, 2) - equation(u)}
    problem = kp.Problem(box, equation, WALL, scales=kp.Scales.raw(box))
    fault = precision_fault(problem, "float32")
    assert (fault is None) == is_held and precision_fault(problem, "float64") is None
    if fault:
        assert "equation 'e': float32 cannot hold" in fault
        assert "u_xx" in fault and "Nondimensionalise" in fault


@pytest.mark.parametrize("coefficient", [1e-200, 1e200])
def test_float64_overflow_raises(coefficient):
    u, box = sp.Function("u")(X), kp.geometry.Box({X: (0, 1)})
    equation = {"e": coefficient * u.diff(X, 2)}
    problem = kp.Problem(box, equation, WALL, scales=kp.Scales.raw(box))
    assert "float64 cannot hold" in precision_fault(problem, "float64")


@pytest.mark.parametrize("coefficient", [sp.exp(-100 - X), sp.exp(-2000 * (X + 1))])
def test_coefficients_that_underflow_raise(coefficient):
    """Their numbers are not small, but their values are."""
    u = sp.Function("u")(X)
    equation = {"e": coefficient * (u.diff(X, 2) - sp.sin(X))}
    message = refused(
        kp.Problem(kp.geometry.Box({X: (0, 1)}), equation, WALL, scales=None)
    )
    assert "equation 'e': float32 cannot hold the squares" in message


def test_a_prediction_that_underflows_raises():
    """Training computes 1e-42 u'' = 1e-42 in its scales, a prediction in the user's."""
    u = sp.Function("u")(X)
    equation = 1e-42 * (u.diff(X, 2) - 1)
    problem = kp.Problem(kp.geometry.Box({X: (0, 1)}), {"e": equation}, WALL)
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=0)
    with pytest.raises(ValueError, match="float32 cannot hold a number .*e-42"):
        model.predict_expression(equation, [[0.5]])
    (value,) = model.astype("float64").predict_expression(equation, [[0.5]])
    assert 0 < abs(value) < 1e-40


@pytest.mark.parametrize("rate", [100, 1000])
def test_source_terms_that_overflow_raise(rate):
    u = sp.Function("u")(X)
    equation = u.diff(X, 2) - sp.exp(rate * X)
    message = refused(kp.Problem(kp.geometry.Box({X: (0, 1)}), {"e": equation}, WALL))
    assert "float32 cannot hold" in message and f"exp({rate}*x)" in message


def test_products_of_large_and_small_factors_do_not_overflow():
    u = sp.Function("u")(X)
    equation = u.diff(X) - X**12 * sp.exp(-X) * u
    box = kp.geometry.Box({X: (0, 10)})
    kp.PINNModel(kp.Problem(box, {"e": equation}, WALL), kp.networks.MLP(4, 1))


def test_a_late_time_in_a_hard_condition_raises():
    u = sp.Function("u")(X, T)
    box = kp.geometry.Box({X: (0, 1)}, time={T: (UNIX, UNIX + 100)})

    def made(value, dtype="float32"):
        walls = kp.Condition(u - value, on="boundary", hard=True)
        problem = kp.Problem(box, {"heat": u.diff(T) - u.diff(X, 2)}, {"walls": walls})
        return problem, kp.networks.MLP(4, 1, dtype=dtype)

    message = refused(*made(sp.sin(T / 5)))
    assert "condition 'walls'" in message and "float64" in message
    kp.PINNModel(*made(X))
    kp.PINNModel(*made(sp.sin(T / 5), "float64"), dtype="float64")


def test_a_reference_out_of_range_raises():
    """SymPy takes exp(34000000.0) out of the exponential."""
    equation = {"decay": U.diff(T) + U / 50}
    start = {"i": kp.Condition(U - 1, "initial")}
    box = kp.geometry.Box(time={T: (UNIX, UNIX + 100)})
    exact = sp.exp(-(T - sp.Integer(int(UNIX))) / 50)
    kp.Problem(box, equation, start, reference={U: exact})
    with pytest.raises(ValueError, match="In the reference of u.*float64 can hold"):
        kp.Problem(box, equation, start, reference={U: sp.exp(-(T - UNIX) / 50)})


@pytest.mark.parametrize("size", [2e-9, 2e-3, 2e11])
def test_a_parameter_far_from_scale_one_warns(size, recwarn):
    u = sp.Function("u")(X)
    data = {**WALL, "sensors": kp.Data([[0.5]], {u: [0.1]})}

    def made(k):
        equations = {"e": k * u.diff(X, 2) + size}
        problem = kp.Problem(kp.geometry.Box({X: (0, 1)}), equations, data)
        return kp.PINNModel(problem, kp.networks.MLP(4, 1))

    with pytest.warns(UserWarning, match=r"'k' starts from .*\* keraspinn.Parameter"):
        made(kp.Parameter("k", initial=size))
    recwarn.clear()
    made(size / 2 * kp.Parameter("k", initial=2))
    made(size * kp.Parameter("k", initial=0))
    assert not recwarn


def test_initial_coefficient_outside_of_the_real_domain_is_no_overflow():
    u = sp.Function("u")(X)
    rate = sp.sqrt(kp.Parameter("c", initial=-1.0))
    box = kp.geometry.Box({X: (0, 1)})
    problem = kp.Problem(box, {"e": rate * u.diff(X) - 1}, WALL)
    assert precision_fault(problem, "float32") is None


def test_a_small_term_whose_number_underflows_raises_in_predictions():
    x = sp.Symbol("x")
    u = sp.Function("u")(x)
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1e7)}),
        {"e": u.diff(x) - 1e-7},
        {"c": kp.Condition(u, on={x: 0})},
    )
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=0)
    small = 1e-40 * x + 7e-29
    with pytest.raises(ValueError, match="cannot hold a number in"):
        model.predict_expression(7e-29 * u + small, [[5e6]])
    model.predict_expression((7e-29 * u + small) / 7e-29, [[5e6]])  # as advised
