import keras
import numpy as np
import pytest
from keras import layers, ops

import keraspinn as kp
from keraspinn.derivatives.engines import taylor_derivatives
from keraspinn.derivatives.taylor import IndexSet, MissingRule, Taylor, propagate
from tensors import nested_gradients

INDICES = [(0, 0), (1, 0), (2, 1), (0, 3)]


def points(count=5, dtype="float64"):
    # No layer is as wide as the number of points: `keras.ops.add` would then take
    # a column for a bias (Keras 3.15 on TensorFlow).
    return ops.cast(np.random.default_rng(0).uniform(-1, 1, (count, 2)), dtype)


def assert_exact(layer, x=None, rtol=1e-12):
    x = points() if x is None else x
    layer(x)  # builds it
    derivatives = taylor_derivatives(
        lambda series: propagate(layer, series), x, INDICES
    )
    for index, derivative in derivatives.items():
        expected = nested_gradients(layer, x, index)
        assert derivative.dtype == layer(x).dtype
        scale = np.abs(expected).max()
        np.testing.assert_allclose(
            derivative, expected, rtol=rtol, atol=rtol * scale, err_msg=str(index)
        )


def series(x=None):
    return Taylor.of_points(points() if x is None else x, IndexSet(INDICES))


@pytest.fixture(autouse=True)
def random_weights():
    keras.utils.set_random_seed(0)


def dense(units=3, **kwargs):
    kwargs = {"dtype": "float64", "bias_initializer": "random_normal"} | kwargs
    return layers.Dense(units, **kwargs)


@pytest.mark.parametrize("activation", ["tanh", kp.activations.sin, None, "relu"])
@pytest.mark.parametrize("use_bias", [True, False])
def test_dense(activation, use_bias):
    assert_exact(dense(activation=activation, use_bias=use_bias))


@pytest.mark.parametrize(
    "activation",
    ["sigmoid", "softplus", "swish", "gelu", "exponential", "linear"]
    + [ops.sin, ops.cos, ops.exp, keras.activations.tanh],
)
def test_activation(activation):
    assert_exact(layers.Activation(activation, dtype="float64"))


@pytest.mark.parametrize(
    ("scale", "offset"),
    [(0.5, 0.0), (2, 1), ([2.0, 3.0], [0.1, 0.2]), (np.array([2.0, 3.0]), -1.0)],
)
def test_rescaling(scale, offset):
    assert_exact(layers.Rescaling(scale, offset, dtype="float64"))


def given_normalization():
    return layers.Normalization(mean=[1.0, 2.0], variance=[0.3, 4.0], dtype="float64")


def constant_normalization():
    # A variance of zero: the layer divides by the least deviation it allows.
    return layers.Normalization(mean=[0.1, 0.2], variance=[0.0, 4.0], dtype="float64")


def adapted_normalization(axis=-1):
    layer = layers.Normalization(axis=axis, dtype="float64")
    layer.adapt(np.random.default_rng(1).uniform(-3, 2, (50, 2)))
    return layer


@pytest.mark.parametrize(
    "layer",
    [
        given_normalization,
        constant_normalization,
        adapted_normalization,
        lambda: adapted_normalization(axis=1),
        lambda: adapted_normalization(axis=None),
    ],
)
def test_normalization(layer):
    assert_exact(layer())


def test_normalization_in_front_of_a_network():
    assert_exact(keras.Sequential([given_normalization(), dense(activation="tanh")]))


@pytest.mark.parametrize("options", [{"invert": True}, {"axis": 0}])
def test_other_normalizations_have_no_rule(options):
    layer = layers.Normalization(mean=0.5, variance=2.0, dtype="float64", **options)
    layer.build((3, 2))
    with pytest.raises(MissingRule, match="axis -1"):
        propagate(layer, series())


class Merging(layers.Layer):
    """Three branches of the input, one of them of width 1, merged by `merge`."""

    def __init__(self, merge, branches=3, widths=(3, 3, 3)):
        super().__init__(dtype="float64")
        self.merge = merge
        self.branches = [
            dense(width, activation=activation)
            for width, activation in zip(widths, ("tanh", None, "sigmoid"), strict=True)
        ][:branches]

    def call(self, x):
        return self.merge([branch(x) for branch in self.branches])


@kp.taylor.register_rule(Merging)
def merging_rule(layer, x):
    return propagate(layer.merge, [propagate(branch, x) for branch in layer.branches])


@pytest.mark.parametrize(
    ("merge", "branches", "widths"),
    [
        (layers.Add, 3, (3, 3, 3)),
        (layers.Add, 3, (3, 1, 3)),
        (layers.Add, 3, (1, 3, 1)),
        (layers.Subtract, 2, (3, 3, 3)),
        (layers.Subtract, 2, (1, 3, 3)),
        (layers.Multiply, 3, (3, 3, 3)),
        (layers.Multiply, 3, (3, 1, 3)),
        (layers.Multiply, 3, (1, 3, 1)),
        (layers.Concatenate, 3, (3, 1, 2)),
    ],
)
def test_merging_layers(merge, branches, widths):
    assert_exact(Merging(merge(dtype="float64"), branches, widths))


def test_concatenate_joins_series_that_lack_coefficients():
    """Join the points' series, which ends at order 1 and is the same at all points."""
    x = series()
    curved = x * x
    joined = propagate(layers.Concatenate(dtype="float64"), [x, curved, x])
    assert joined.value.shape == (5, 6)
    for index in INDICES:
        np.testing.assert_array_equal(
            joined.derivative(index),
            np.concatenate([s.derivative(index) for s in (x, curved, x)], axis=-1),
        )
    assert max(map(sum, joined.coefficients)) == 2


@pytest.mark.parametrize("axis", [-1, 1])
def test_concatenate_along_features(axis):
    assert_exact(Merging(layers.Concatenate(axis=axis, dtype="float64")))


def test_concatenate_along_points_has_no_rule():
    with pytest.raises(MissingRule, match="axis -1"):
        propagate(layers.Concatenate(axis=0, dtype="float64"), [series(), series()])


def test_sequential():
    assert_exact(
        keras.Sequential(
            [
                layers.Rescaling(0.5, dtype="float64"),
                dense(activation="swish"),
                layers.Identity(dtype="float64"),
                keras.Sequential(
                    [dense(4), layers.Activation("tanh", dtype="float64")]
                ),
                dense(1),
            ]
        )
    )


def test_layers_and_networks_of_the_package():
    class Gate(layers.Layer):
        def __init__(self):
            super().__init__(dtype="float64")
            self.parts = [dense(4, activation="tanh") for _ in range(3)]
            self.gate = kp.layers.GatedDense(4, "sigmoid", dtype="float64")

        def call(self, x):
            return self.gate(*(part(x) for part in self.parts))

    @kp.taylor.register_rule(Gate)
    def gate_rule(layer, x):
        return propagate(layer.gate, *(propagate(part, x) for part in layer.parts))

    assert_exact(Gate())
    options = {"units": 3, "outputs": 2, "dtype": "float64"}
    assert_exact(kp.networks.MLP(depth=2, activation="sin", **options))
    assert_exact(kp.networks.ModifiedMLP(depth=2, **options))
    assert_exact(kp.networks.ModifiedMLP(depth=2, gate_input=True, **options))


@pytest.mark.parametrize(
    "network",
    [
        lambda: keras.Sequential([layers.Rescaling(0.5), layers.Dense(3, "tanh")]),
        lambda: kp.networks.ModifiedMLP(3, 3),
    ],
)
def test_an_ensemble_axis_in_front_of_the_points(network):
    layer = network()
    layer.build((None, 2))
    x = ops.reshape(points(20, "float32"), (4, 5, 2))
    together = propagate(layer, series(x))
    for member in range(4):
        alone = propagate(layer, series(x[member]))
        for index in INDICES:
            assert together.derivative(index).shape == (4, 5, alone.value.shape[-1])
            np.testing.assert_allclose(
                together.derivative(index)[member],
                alone.derivative(index),
                rtol=1e-4,
                atol=1e-5,
            )


# Types


@pytest.mark.parametrize(
    ("points_dtype", "policy", "result"),
    [
        ("float32", "float64", "float64"),
        ("float64", "float32", "float32"),
        ("float32", "mixed_bfloat16", "bfloat16"),
    ],
)
def test_a_layer_computes_in_its_dtype(points_dtype, policy, result):
    network = kp.networks.ModifiedMLP(3, 2, dtype=policy)
    x = points(dtype=points_dtype)
    y = propagate(network, series(x))
    assert y.dtype == result
    assert network(x).dtype == y.value.dtype
    np.testing.assert_allclose(
        ops.cast(network(x), "float32"), ops.cast(y.value, "float32"), rtol=0.02
    )


def test_dtypes_may_change_within_a_network():
    x = points(dtype="float32")
    network = keras.Sequential(
        [
            layers.Normalization(mean=0.1, variance=2.0),
            dense(4, activation="tanh", dtype="float64"),
            layers.Dense(4, activation="tanh"),
            dense(2, dtype="float64"),
        ]
    )
    network.build((None, 2))
    assert_exact(network, x, rtol=1e-5)


# Rules


def test_a_subclass_does_not_inherit_a_rule():
    class Doubled(layers.Dense):
        def call(self, x):
            return 2.0 * super().call(x)

    class DoubledNetwork(kp.networks.MLP):
        def call(self, x):
            return 2.0 * super().call(x)

    for layer in (Doubled(3), DoubledNetwork(3), keras.Sequential([Doubled(3)])):
        with pytest.raises(MissingRule, match="of class Doubled"):
            propagate(layer, series())


@pytest.mark.parametrize(
    "layer",
    [
        layers.UnitNormalization(),
        layers.BatchNormalization(),
        layers.LeakyReLU(),
        layers.Lambda(lambda x: x),
        keras.Sequential([layers.Dense(3), layers.RMSNormalization()]),
    ],
)
def test_layers_without_a_rule_are_named(layer):
    with pytest.raises(MissingRule, match="No Taylor rule for layer '.*register_rule"):
        propagate(layer, series())


def test_activations_without_a_rule_are_named():
    with pytest.raises(MissingRule, match="'elu'.*register_activation"):
        propagate(layers.Dense(3, activation="elu"), series())


def test_a_user_registers_a_rule():
    class Squared(layers.Layer):
        def call(self, x):
            return x * x

    with pytest.raises(MissingRule):
        propagate(Squared(), series())

    @kp.taylor.register_rule(Squared)
    def squared_rule(layer, x):
        return x * x

    assert_exact(Squared(dtype="float64"))
    assert_exact(keras.Sequential([dense(activation="tanh"), Squared(dtype="float64")]))

    # Registered again, as when a notebook's cell is run twice, the last one counts.
    kp.taylor.register_rule(Squared)(lambda layer, x: x)
    x = series(points(dtype="float32"))
    assert propagate(Squared(), x) is x
    assert squared_rule(None, x).value.shape == (5, 2)


def test_a_user_registers_a_rule_for_a_model():
    class Residual(keras.Model):
        def __init__(self):
            super().__init__(dtype="float64")
            self.inner = dense(2, activation="tanh")

        def call(self, x):
            return x + self.inner(x)

    @kp.taylor.register_rule(Residual)
    def residual_rule(model, x):
        return x + propagate(model.inner, x)

    assert_exact(Residual())


def test_layers_inside_an_unbuilt_layer_are_built():
    """Build the parts of a layer without `build`, which counts as built itself."""
    layer = Merging(layers.Add(dtype="float64"))
    layer.built = True
    assert propagate(layer, series()).value.shape == (5, 3)
    assert all(branch.built for branch in layer.branches)


def test_a_replaced_call_has_no_rule():
    network = kp.networks.MLP(3)
    propagate(network, series())
    network.call = lambda x: 2.0 * x
    with pytest.raises(MissingRule, match="No Taylor rule"):
        propagate(network, series())
