"""Numbers that are equal on all backends, in the requested precision."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn import backend
from keraspinn.sampling.sources import PointSources

# Numbers drawn by TensorFlow: `backend.uniform` for these words, points of a step.
WORDS = 7, 3, 4000000000, -1
SINGLE = [0.6514537930488586, 0.3836498260498047, 0.7566272616386414]
DOUBLE = [0.38364984669057967, 0.11384272476579693, 0.14228655458805894]
POINTS = [
    [-0.3059220314025879, 0.22387507557868958],
    [-1.2677996158599854, 1.6978096961975098],
    [1.1017920970916748, 1.0803569555282593],
]


def test_rejects_other_backends():
    with pytest.raises(ImportError, match="Received: 'torch'.*KERAS_BACKEND"):
        backend._load("torch")


def test_points_of_a_seed_are_the_same_on_every_backend(double):
    np.testing.assert_array_equal(backend.uniform((3,), WORDS, "float32"), SINGLE)
    np.testing.assert_array_equal(
        backend.uniform((3,), WORDS, "float64")[:2], DOUBLE[:2]
    )
    sources = PointSources(kp.problems.helmholtz(), "float32", 3)
    batch = sources.draw(11, 5)["residual"]
    np.testing.assert_allclose(batch.points, POINTS, rtol=1e-6)


def rounding_products():
    """Return whether JAX, or TensorFlow, may round products of float32."""
    if keras.backend.backend() == "jax":
        import jax

        return jax.config.jax_default_matmul_precision is None
    import tensorflow as tf

    return tf.config.experimental.tensor_float_32_execution_enabled()


@pytest.mark.slow
def test_products_are_not_rounded_while_a_model_computes():
    class Seen(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            seen.append(rounding_products())

        on_test_begin = on_predict_begin = lambda self, logs=None: self.on_epoch_end(0)

    seen = []
    model = kp.PINNModel(kp.problems.poisson(1), kp.networks.MLP(4, 1), seed=0)
    model.compile("adam")
    model.fit(steps_per_epoch=1, verbose=0, callbacks=[Seen()])
    points, values = model.problem.test_data(5)
    model.evaluate(points, values, verbose=0, callbacks=[Seen()])
    model.predict(points, verbose=0, callbacks=[Seen()])
    assert seen == [False] * 3
    assert rounding_products()  # settings of the process are unchanged


@pytest.mark.slow
@pytest.mark.parametrize("name", ["train", "test", "predict"])
def test_products_of_a_single_batch_are_not_rounded(name, monkeypatch):
    step, seen = getattr(kp.PINNModel, f"{name}_step"), set()

    def watched(self, data):
        seen.add(rounding_products())
        return step(self, data)

    monkeypatch.setattr(kp.PINNModel, f"{name}_step", watched)
    model = kp.PINNModel(kp.problems.poisson(1), kp.networks.MLP(4, 1), seed=0)
    model.compile("adam")
    getattr(model, f"{name}_on_batch")(model.problem.test_data(5)[0])
    assert seen == {False}


def test_products_of_a_program_are_not_rounded():
    # The function of `predict_expression` and the diagnostics.
    variable, seen = keras.Variable([1.0, 2.0]), set()

    def function(x):
        seen.add(rounding_products())
        return keras.ops.sum(x * variable**2)

    backend.compiled(function, read=[variable])(keras.ops.ones((2,)))
    assert seen == {False}


def test_full_precision_scopes_can_be_nested():
    with backend.full_products():
        with backend.full_products():
            pass
        assert not rounding_products()
    assert rounding_products()


def test_jax_precision_set_by_the_user_is_kept():
    import jax

    with jax.default_matmul_precision("tensorfloat32"), backend.full_products():
        assert jax.config.jax_default_matmul_precision == "tensorfloat32"


def test_points_far_from_the_origin_are_distinct():
    t = sp.Symbol("t")
    u = sp.Function("u")(t)
    start = 1.7e9
    problem = kp.Problem(
        kp.geometry.Box({t: (start, start + 100)}),
        {"decay": u.diff(t) + u / 50},
        {"initial": kp.Condition(u - 1, on={t: start})},
        {u: sp.exp((int(start) - t) / 50)},
    )
    model = kp.PINNModel(problem, kp.networks.MLP(8, 1))
    model.compile()
    points, values = problem.test_data(50)
    predicted = model.predict_expression(u, points)
    assert np.unique(predicted).size == 50
    np.testing.assert_allclose(model.predict(points, verbose=0)[:, 0], predicted, 1e-5)
    np.testing.assert_allclose(np.asarray(model(points))[:, 0], predicted, 1e-5)
    np.testing.assert_allclose(model.predict_on_batch(points)[:, 0], predicted, 1e-5)
    logs = model.evaluate(points, values, verbose=0, return_dict=True)
    assert model.test_on_batch(points, values, return_dict=True) == logs
    error = np.linalg.norm(predicted - values["u"]) / np.linalg.norm(values["u"])
    np.testing.assert_allclose(logs["u_relative_l2"], error, 1e-4)
    if keras.backend.result_type("float64", float) == "float32":  # on JAX without X64
        with pytest.raises(ValueError, match="float32, which does not.*jax_enable_x64"):
            model.train_on_batch(points)


def test_functions_keep_float64(double):
    x = keras.ops.convert_to_tensor(np.linspace(0.1, 0.9, 5), "float64")
    for name in ("tanh", "sin", "exp", "sqrt", "log"):
        result = getattr(keras.ops, name)(x)
        assert keras.backend.standardize_dtype(result.dtype) == "float64"
        np.testing.assert_allclose(result, getattr(np, name)(x), 1e-14)


def test_a_float64_network_computes_in_float64(double):
    network = kp.networks.MLP(4, 2, dtype="float64")
    points = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    outputs = keras.ops.convert_to_numpy(network(keras.ops.cast(points, "float64")))
    values, (*hidden, head) = points, [layer.get_weights() for layer in network.layers]
    for kernel, bias in hidden:
        values = np.tanh(values @ kernel + bias)
    np.testing.assert_allclose(outputs, values @ head[0] + head[1], 1e-13)


def test_scales_are_computed_in_double_precision():
    x = sp.Symbol("x")
    u = sp.Function("u")(x)
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1e-3)}),
        {"e": 1e30 * u.diff(x, 2) + 1e45 * sp.sin(1000 * x)},
        {"ends": kp.Condition(u, on="boundary")},
    )
    assert "u = 6e+07 û" in str(problem)
