"""float64 from points to loss, and rejection of half precision."""

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
import tensors

X, Y = sp.symbols("x y")
U = sp.Function("u")(X, Y)
NARROW = {"float32", "float16", "bfloat16"}


@pytest.fixture
def policy():
    previous = keras.config.dtype_policy()
    yield keras.config.set_dtype_policy
    keras.config.set_dtype_policy(previous)


class Unknown(keras.layers.Dense):
    """Dense layer without a Taylor rule."""


NETWORKS = {
    "MLP": lambda: kp.networks.MLP(4, 2, activation="gelu"),
    "ModifiedMLP": lambda: kp.networks.ModifiedMLP(4, 2),
    "Sequential": lambda: keras.Sequential(
        [keras.layers.Dense(4, "swish"), keras.layers.Dense(1)]
    ),
    "jvp": lambda: keras.Sequential([Unknown(4, "tanh"), keras.layers.Dense(1)]),
}


def problem():
    """Return a problem whose numbers all exceed the digits of float32."""
    c = kp.Parameter("c", initial=0.1)
    power = sp.sin(0.3 * X + 2) ** sp.Rational(1, 3)
    table = np.array([[0.1, 0.2], [0.2, 0.7]])
    return kp.Problem(
        kp.geometry.Box({X: (0.1, 0.3), Y: (0, 1.7)}),
        {"e": sp.Eq(U.diff(X, 2) + c * sp.exp(X / 10) * U.diff(Y), sp.pi * power)},
        {
            "faces": kp.Condition(sp.Eq(U, sp.log(Y + X)), on=[{X: 0.1}, {X: 0.3}]),
            "boundary": kp.Condition(U.diff(Y) - 0.7, on="boundary", weight=0.1),
            "data": kp.Data(table, {U: [0.1, 0.3]}),
        },
        reference={U: X / 3},
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_float64_from_points_to_gradients(policy, name):
    policy("float64")
    model = kp.PINNModel(problem(), NETWORKS[name](), seed=0)
    assert model.derivative_engine == ("jvp" if name == "jvp" else "taylor")
    model.compile("adam", jit_compile=False)
    model.set_weighting(kp.weighting.GradientRatio())
    model.trainer.prepare()
    state, iteration = model.trainer.state.read(), ops.convert_to_tensor(0)

    def gradients_and_weights():
        step = model.trainer.step
        batches, _ = step.points(state, iteration)
        losses, gradients = model._objective.gradients(batches, step.variables)
        return gradients, step.updated_weights(gradients, losses, state, iteration)

    # Keras's optimizers contain constants in single precision.
    types = tensors.program_types(gradients_and_weights)
    assert "float64" in types and not types & NARROW
    points, values = ops.zeros((7, 2), "float64"), ops.zeros(7, "float64")
    types = tensors.program_types(
        lambda *data: model.test_step(data), points, {"u": values}
    )
    assert "float64" in types and not types & NARROW


@pytest.mark.parametrize(("dtype", "floor"), [("float64", 1e-14), ("float32", 1e-5)])
@pytest.mark.parametrize("layer", [keras.layers.Dense, Unknown])
def test_derivative_round_off_is_that_of_the_type(policy, dtype, floor, layer):
    policy(dtype)
    network = keras.Sequential([layer(1, "tanh", use_bias=False)])
    model = kp.PINNModel(problem(), network)
    network.layers[0].kernel.assign([[0.7], [0.3]])
    points = np.random.default_rng(0).uniform(size=(50, 2))
    kernel = network.layers[0].kernel.numpy().astype("float64")
    if dtype == "float32":
        points = points.astype(dtype).astype("float64")
    z = np.tanh(points @ kernel[:, 0])
    exact = kernel[0] ** 2 * -2 * z * (1 - z**2)
    error = np.abs(model.predict_expression(U.diff(X, 2), points) - exact).max()
    assert error < floor
    assert dtype == "float64" or error > 1e-10  # or the test could not fail


@pytest.mark.slow
def test_trains_and_measures_in_float64(policy):
    policy("float64")
    model = kp.PINNModel(problem(), kp.networks.MLP(4, 1), seed=0)
    model.compile("adam")
    points, values = model.problem.test_data(5)
    history = model.fit(
        batch_size=4, steps_per_epoch=2, verbose=0, validation_data=(points, values)
    ).history
    assert np.isfinite(history["loss"]).all()
    error = model.predict(points, verbose=0)[:, 0] - values["u"]
    exact = np.linalg.norm(error) / np.linalg.norm(values["u"])
    assert history["val_u_relative_l2"][0] == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("name", ["mixed_float16", "mixed_bfloat16", "float16"])
def test_rejects_half_precision(policy, name):
    policy(name)
    with pytest.raises(ValueError, match=f"need float32 or float64.*'{name}'"):
        kp.PINNModel(problem(), kp.networks.MLP(4, 1))


def test_rejects_a_layer_in_half_precision():
    inside = keras.layers.Dense(4, "tanh", dtype="mixed_float16")
    network = keras.Sequential([keras.Sequential([inside]), keras.layers.Dense(1)])
    with pytest.raises(ValueError, match="need float32 or float64.*'mixed_float16'"):
        kp.PINNModel(problem(), network)


def test_rejects_mixed_types():
    network = kp.networks.MLP(4, 1, dtype="float64")
    with pytest.raises(ValueError, match="one for the model.*'float64'"):
        kp.PINNModel(problem(), network)
