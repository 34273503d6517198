import itertools

import keras
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import layers, ops

import keraspinn as kp
import tensors
from keraspinn.derivatives.engines import (
    choose_engine,
    jvp_derivatives,
    taylor_derivatives,
)
from keraspinn.derivatives.taylor import propagate


def points(dimension=2, count=2, dtype="float64", seed=0):
    return ops.cast(
        np.random.default_rng(seed).uniform(-1, 1, (count, dimension)), dtype
    )


def series_of(network):
    return lambda series: propagate(network, series)


def without_rule(network):
    """Wrap a network in a class without a Taylor rule."""

    class Unknown(keras.Model):
        def __init__(self):
            super().__init__(dtype="float64")
            self.network = network

        def call(self, x):
            return self.network(x)

        def compute_output_shape(self, shape):
            return self.network.compute_output_shape(shape)

    return Unknown()


# Nested Jacobian-vector products


def test_jvp_derivatives_of_known_functions():
    coordinates = x, y, z = sp.symbols("x y z")
    expressions = (sp.exp(x) * sp.sin(2 * y) + z**2, x**2 * y * z**3)

    def function(p):
        x, y, z = p[..., 0], p[..., 1], p[..., 2]
        return ops.stack([ops.exp(x) * ops.sin(2 * y) + z**2, x**2 * y * z**3], axis=-1)

    indices = [i for i in itertools.product(range(4), repeat=3) if sum(i) <= 3]
    p = points(3)
    derivatives = jvp_derivatives(function, p, indices)
    assert list(derivatives) == indices
    for index in indices:
        orders = list(zip(coordinates, index, strict=True))
        for column, expression in enumerate(expressions):
            exact = sp.lambdify(coordinates, expression.diff(*orders))
            np.testing.assert_allclose(
                derivatives[index][:, column],
                [exact(*row) for row in np.array(p)],
                rtol=1e-12,
                atol=1e-14,
            )


def test_constants_have_zero_derivatives():
    p = points()
    for function in (
        lambda p: ops.ones((2, 3), "float64"),
        lambda p: 2.0 * p + 1.0,
        lambda p: ops.stack([p[:, 1] ** 3, p[:, 1]], axis=-1),
    ):
        derivatives = jvp_derivatives(function, p, [(2, 0), (1, 1), (3, 0)])
        for derivative in derivatives.values():
            assert derivative.shape == function(p).shape
            assert not np.any(derivative)


@pytest.mark.parametrize(
    ("indices", "evaluations"),
    [
        ([(0, 0)], 1),
        ([(0, 0), (1, 0), (2, 0), (3, 0)], 1),
        ([(2, 0), (0, 2), (0, 0)], 2),  # an equation of Helmholtz
        ([(2, 1), (1, 1), (0, 1)], 1),
        ([], 0),
    ],
)
def test_intermediate_derivatives_are_computed_once(indices, evaluations):
    calls = []

    def function(p):
        calls.append(p)
        return ops.sin(p[:, :1]) * ops.exp(p[:, 1:])

    jvp_derivatives(function, points(), indices)
    assert len(calls) == evaluations


# Both engines


def functional_network(units, outputs, activation, dimension, dtype, **options):
    x = keras.Input((dimension,), dtype=dtype)
    activation = kp.activations.get(activation)
    shared = layers.Dense(units, activation=activation, dtype=dtype, **options)
    left, right = shared(x), shared(layers.Rescaling(0.5, dtype=dtype)(x))
    y = layers.Multiply(dtype=dtype)([left, right])
    return keras.Model(x, layers.Dense(outputs, dtype=dtype)(y))


def network_of(kind, dimension, activation, initializer, seed):
    keras.utils.set_random_seed(seed)
    options = {
        "units": 3,
        "outputs": 2,
        "activation": activation,
        "kernel_initializer": initializer,
        "bias_initializer": "random_normal",
        "dtype": "float64",
    }
    if kind == "functional":
        return functional_network(dimension=dimension, **options)
    if kind == "mlp":
        return kp.networks.MLP(depth=2, **options)
    return kp.networks.ModifiedMLP(depth=2, gate_input=kind == "gate input", **options)


@st.composite
def cases(draw, max_order=4):
    dimension = draw(st.integers(1, 3))
    entries = st.tuples(*[st.integers(0, max_order)] * dimension)
    entries = entries.filter(lambda index: sum(index) <= max_order)
    return (
        draw(st.sampled_from(["mlp", "modified", "gate input", "functional"])),
        draw(st.sampled_from(["tanh", "sin", "sigmoid", "swish", "softplus", "gelu"])),
        draw(st.sampled_from(["glorot_normal", "random_uniform", "orthogonal"])),
        draw(st.lists(entries, min_size=1, max_size=3, unique=True)),
        draw(st.integers(0, 2**32 - 1)),
    )


@settings(max_examples=15, deadline=None)
@given(cases())
def test_both_engines_agree(case):
    kind, activation, initializer, indices, seed = case
    dimension = len(indices[0])
    network = network_of(kind, dimension, activation, initializer, seed)
    p = points(dimension, seed=seed)
    taylor = taylor_derivatives(series_of(network), p, indices)
    jvp = jvp_derivatives(network, p, indices)
    assert list(taylor) == list(jvp) == indices
    for index in indices:
        assert taylor[index].shape == jvp[index].shape == (2, 2)
        assert taylor[index].dtype == jvp[index].dtype == "float64"
        scale = np.abs(jvp[index]).max()
        np.testing.assert_allclose(
            taylor[index], jvp[index], rtol=1e-10, atol=1e-10 * scale
        )


def test_an_intermediate_that_is_used_twice():
    """Avoid the error of nested `keras.ops.jvp`, run eagerly (TensorFlow #127753)."""

    def cubed_sine(x):
        sine = ops.sin(x)
        return (sine * sine) * sine

    x = sp.Symbol("x")
    exact = (sp.sin(x) ** 3).diff(x, 2).subs(x, 0.7)
    point = ops.cast(np.array([[0.7]]), "float64")
    derivative = jvp_derivatives(cubed_sine, point, [(2,)])[(2,)]
    np.testing.assert_allclose(derivative, [[float(exact)]], rtol=1e-12)


@pytest.mark.parametrize("activation", ["swish", "gelu", "softplus"])
def test_both_engines_agree_on_functions_tensorflow_has_gradients_for(activation):
    """Differentiate through custom gradients twice."""
    layer = layers.Activation(activation, dtype="float64")
    p, indices = points(), [(0, 0), (2, 0)]
    taylor = taylor_derivatives(series_of(layer), p, indices)
    jvp = jvp_derivatives(layer, p, indices)
    for index in indices:
        np.testing.assert_allclose(taylor[index], jvp[index], rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("mode", ["eager", "graph", "compiled"])
def test_both_engines_give_gradients_by_the_weights(mode):
    network = kp.networks.ModifiedMLP(3, 2, activation="sin", dtype="float64")
    network.build((None, 2))
    p, indices = points(count=5), [(2, 0), (0, 2), (0, 0)]

    def loss(engine):
        if engine == "taylor":
            derivatives = taylor_derivatives(series_of(network), p, indices)
        else:
            derivatives = jvp_derivatives(network, p, indices)
        return ops.mean(ops.square(sum(derivatives.values())))

    def value_and_gradients(engine):
        def run():
            return tensors.value_and_gradients_by_variables(
                lambda: loss(engine), network.trainable_variables
            )

        return (run if mode == "eager" else tensors.compiled(run, mode == "compiled"))()

    value, gradients = value_and_gradients("taylor")
    other_value, other_gradients = value_and_gradients("jvp")
    np.testing.assert_allclose(value, other_value, rtol=1e-12)
    for gradient, other in zip(gradients, other_gradients, strict=True):
        np.testing.assert_allclose(gradient, other, rtol=1e-10, atol=1e-13)

    # Check independently of both engines: perturb one weight.
    kernel = network.head.kernel
    saved, step = kernel.numpy(), np.zeros(kernel.shape)
    step[1] = 1e-6
    kernel.assign(saved + step)
    above = loss("taylor")
    kernel.assign(saved - step)
    below = loss("taylor")
    np.testing.assert_allclose((above - below) / 2e-6, gradients[-2][1, 0], rtol=1e-6)


@pytest.mark.parametrize("engine", ["taylor", "jvp"])
def test_leading_axes_in_front_of_the_points(engine):
    network = kp.networks.MLP(3, 1, dtype="float64")
    network.build((None, 2))
    p, indices = ops.reshape(points(count=12), (3, 4, 2)), [(0, 0), (1, 1)]

    def derivatives(p):
        if engine == "taylor":
            return taylor_derivatives(series_of(network), p, indices)
        return jvp_derivatives(network, p, indices)

    together = derivatives(p)
    for member, index in itertools.product(range(3), indices):
        assert together[index].shape == (3, 4, 1)
        np.testing.assert_allclose(
            together[index][member], derivatives(p[member])[index], rtol=1e-12
        )


def test_a_derivative_at_a_point_depends_on_that_point_alone():
    network = kp.networks.ModifiedMLP(3, 2, dtype="float64")
    p = points(count=4)
    together = taylor_derivatives(series_of(network), p, [(2, 1)])[2, 1]
    apart = taylor_derivatives(series_of(network), p[1:3], [(2, 1)])[2, 1]
    np.testing.assert_allclose(together[1:3], apart, rtol=1e-12)


# Choice of the engine


def engine_for(network, dimension=2, dtype="float32"):
    return choose_engine(series_of(network), dimension, dtype)


@pytest.mark.parametrize(
    "network",
    [
        lambda: kp.networks.MLP(3),
        lambda: kp.networks.ModifiedMLP(3, activation="swish"),
        lambda: keras.Sequential([layers.Dense(3, activation="tanh")]),
        lambda: layers.Dense(1),
    ],
)
@pytest.mark.parametrize("dimension", [1, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_networks_with_rules_use_taylor(network, dimension, dtype):
    assert engine_for(network(), dimension, dtype) == "taylor"


@pytest.mark.parametrize("policy", ["float64", "mixed_bfloat16"])
def test_dtypes_of_network_and_points_may_differ(policy):
    assert engine_for(kp.networks.ModifiedMLP(3, dtype=policy)) == "taylor"
    mixed = keras.Sequential([layers.Dense(3, dtype=policy), layers.Dense(1)])
    assert engine_for(mixed) == "taylor"


def quantized():
    network = keras.Sequential([keras.Input((2,)), layers.Dense(3, name="whole")])
    network.quantize("int8")
    return network


@pytest.mark.parametrize(
    ("network", "layer"),
    [
        (lambda: keras.Sequential([layers.RMSNormalization(name="own")]), "own"),
        (lambda: keras.Sequential([layers.UnitNormalization(name="own")]), "own"),
        (lambda: kp.networks.MLP(3, activation="elu"), "hidden_1"),
        (lambda: without_rule(kp.networks.MLP(3)), "unknown"),
        (quantized, "whole"),
    ],
)
def test_networks_without_rules_use_jvp_and_name_the_layer(network, layer):
    with pytest.warns(UserWarning, match=f"slower.*layer '{layer}") as warnings:
        assert engine_for(network()) == "jvp"
    assert len([w for w in warnings if "slower" in str(w.message)]) == 1


def test_networks_with_rules_do_not_warn(recwarn):
    engine_for(kp.networks.MLP(3))
    assert not recwarn.list


def test_an_error_in_a_users_rule_is_not_hidden():
    class Broken(layers.Layer):
        def call(self, x):
            return x

    @kp.taylor.register_rule(Broken)
    def broken_rule(layer, x):
        return {}["no such key"]

    with pytest.raises(KeyError, match="no such key"):
        engine_for(Broken())


def test_dropout_acts_as_in_inference():
    network = keras.Sequential([layers.Dense(3), layers.Dropout(0.5, seed=0)])
    p = points(dtype="float32")
    first, second = (jvp_derivatives(network, p, [(0, 0), (1, 0)]) for _ in range(2))
    for index in first:
        np.testing.assert_array_equal(first[index], second[index])
    np.testing.assert_array_equal(first[0, 0], network(p, training=False))


@pytest.mark.slow
def test_a_layer_that_concatenates_trains_under_xla_as_without_it():
    class Waves(layers.Layer):  # without a rule
        def call(self, x):
            return ops.concatenate([ops.sin(x), ops.cos(x)], axis=-1)

    def losses(jit_compile):
        keras.utils.set_random_seed(0)
        network = keras.Sequential([Waves(), kp.networks.MLP(5, 1)])
        model = kp.PINNModel(kp.problems.helmholtz(), network, seed=0)
        assert model.derivative_engine == "jvp"
        model.compile(keras.optimizers.Adam(1e-3), jit_compile=jit_compile)
        history = model.fit(epochs=2, steps_per_epoch=3, batch_size=8, verbose=0)
        return history.history["loss"]

    np.testing.assert_allclose(losses(True), losses(False), rtol=1e-4)


def test_derivatives_with_combinations_agree_with_single_derivatives():
    network = kp.networks.ModifiedMLP(6, 2, outputs=2, dtype="float64")
    p = points(2, 5)
    network(p)
    indices = [(0, 1), (3, 0), (2, 1), (1, 2), (0, 3)]
    combinations = ((((0, 3), 1.0), ((2, 1), 2.0)), (((1, 2), 1.0), ((3, 0), -1.0)))
    single = taylor_derivatives(series_of(network), p, indices)
    together = taylor_derivatives(series_of(network), p, indices, combinations)
    assert list(together) == indices
    np.testing.assert_allclose(together[0, 1], single[0, 1], rtol=1e-12)
    for combination in combinations:
        value, expected = (
            sum(weight * np.array(derivatives[index]) for index, weight in combination)
            for derivatives in (together, single)
        )
        np.testing.assert_allclose(value, expected, rtol=1e-11, atol=1e-12)
