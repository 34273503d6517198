"""Networks with inconsistent derivatives, or values that depend on the batch."""

import keras
import numpy as np
import pytest
import sympy as sp
from keras import layers, ops

import keraspinn as kp

x, y = sp.symbols("x y")
u = sp.Function("u")(x, y)
ON_TENSORFLOW = keras.backend.backend() == "tensorflow"


def model_of(network, equation=None, width=1):
    equation = u.diff(x, 2) + u.diff(y, 2) if equation is None else equation
    problem = kp.Problem(
        kp.geometry.Box({x: (0, width), y: (0, width)}),
        {"e": equation},
        {"b": kp.Condition(u, on="boundary")},
    )
    return kp.PINNModel(problem, network, seed=0)


class Layer(layers.Layer):
    """Apply a function to the features of two hidden layers."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.first, self.second = layers.Dense(8, "tanh"), layers.Dense(8, "tanh")
        self.head = layers.Dense(1)

    def call(self, points):
        return self.head(self.function(self.first(points), self.second(points)))


@pytest.fixture(autouse=True)
def random_weights():
    keras.utils.set_random_seed(0)


@pytest.mark.filterwarnings("ignore:Derivatives are taken by nested")
@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a * ops.stop_gradient(b),
        lambda a, b: a + ops.square(b - ops.stop_gradient(b)),
    ],
)
def test_stopped_gradients_are_refused(function):
    with pytest.raises(ValueError, match="derivative ∂.* is wrong.*stops gradients"):
        model_of(Layer(function))


@pytest.mark.filterwarnings("ignore:Derivatives are taken by nested")
def test_only_derivatives_that_are_needed_are_compared():
    network = Layer(lambda a, b: a + ops.square(b - ops.stop_gradient(b)))
    model_of(network, u.diff(x) + u.diff(y))  # wrong in the second order alone


@pytest.mark.filterwarnings("ignore:Derivatives are taken by nested")
@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a - ops.mean(a, axis=0, keepdims=True),
        lambda a, b: ops.cumsum(a, axis=0),
        lambda a, b: ops.flip(a, axis=0),
        lambda a, b: layers.Dropout(0.5)(a, training=True),
    ],
)
def test_values_that_depend_on_the_batch_are_refused(function):
    with pytest.raises(ValueError, match="changes with the other points"):
        model_of(Layer(function))


@pytest.mark.filterwarnings("ignore:Derivatives are taken by nested")
def test_batch_normalization_in_training_is_refused():
    norm = layers.BatchNormalization()
    norm.build((None, 8))
    with pytest.raises(ValueError, match="BatchNormalization"):
        model_of(Layer(lambda a, b: norm(a, training=True)))


@pytest.mark.filterwarnings("ignore:Derivatives are taken by nested")
@pytest.mark.parametrize("kind", [layers.LayerNormalization, layers.RMSNormalization])
def test_normalization_within_a_custom_layer_is_refused(kind):
    norm = kind()
    norm.build((None, 8))
    network = Layer(lambda a, b: norm(a))
    if ON_TENSORFLOW and kind is layers.LayerNormalization:
        with pytest.raises(ValueError, match="RMSNormalization"):
            model_of(network)
    else:
        model_of(network)  # as the error says


def test_a_wrong_rule_is_refused():
    class Cube(layers.Layer):
        def call(self, x):
            return x * x * x

    @kp.taylor.register_rule(Cube)
    def square(layer, x):
        return x * x

    with pytest.raises(ValueError, match="register_rule"):
        model_of(keras.Sequential([layers.Dense(4), Cube(), layers.Dense(1)]))


def chain(*inner):
    return keras.Sequential([*inner, layers.Dense(1)])


@pytest.mark.filterwarnings("ignore:Derivatives are taken by nested")
@pytest.mark.filterwarnings("ignore:The network has kinks")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("network", "width"),
    [
        (lambda: kp.networks.SIREN(30, 4), 1),
        (lambda: kp.networks.PirateNet(20, 2), 1),
        (lambda: kp.networks.MLP(8, 2, kernel_initializer="zeros"), 1),
        (lambda: chain(layers.Dense(50, "relu"), layers.Dense(50, "tanh")), 1),
        (lambda: chain(layers.Rescaling(1e6), layers.Dense(9, "tanh")), 1e-6),
        (lambda: chain(layers.Dense(9, "tanh")), 1e4),
    ],
)
def test_consistent_networks_pass(network, width, dtype):
    if dtype == "float64" and keras.backend.backend() == "jax":
        pytest.importorskip("jax").config.jax_enable_x64 or pytest.skip("float32")
    policy = keras.config.dtype_policy()
    keras.config.set_dtype_policy(dtype)
    try:
        scale = width**2 if width < 1 else 1
        model_of(network(), scale * (u.diff(x, 2) + u.diff(y, 2)), width)
    finally:
        keras.config.set_dtype_policy(policy)


@pytest.mark.parametrize("frequency", [20, 40, 75, 150])
def test_fourier_features_with_short_waves_pass(frequency):
    t = sp.Symbol("t")
    w = sp.Function("w")(t)
    domain = kp.geometry.Box({}, time={t: (0, 20)})
    initial = kp.Condition([w - 1, w.diff(t)], on="initial")
    problem = kp.Problem(domain, {"o": w.diff(t, 2) + 100 * w}, {"initial": initial})
    features = kp.layers.FourierFeatures(20, frequency, seed=1)
    kp.PINNModel(problem, chain(features, layers.Dense(30, "tanh")))


class RoundedInputs(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.head = layers.Dense(20, "tanh"), layers.Dense(1)

    def call(self, points):
        return self.head(self.hidden(ops.cast(points, "float32")))


def test_casts_below_float64_are_refused():
    if not ON_TENSORFLOW:
        pytest.importorskip("jax").config.jax_enable_x64 or pytest.skip("float32")
    policy = keras.config.dtype_policy()
    keras.config.set_dtype_policy("float64")
    try:
        for dtype in ("float64", "float32"):
            network = Layer(lambda a, b, d=dtype: ops.cast(ops.cast(a, d), "float64"))
            if dtype == "float64":
                model_of(network)
                continue
            with pytest.raises(ValueError, match="rounds to less than float64"):
                model_of(network)
        # On an interval where a step of 2⁻¹⁷ is 73.9 spacings of float32.
        w = sp.Function("w")(x)
        problem = kp.Problem(
            kp.geometry.Box({x: (0, 1)}),
            {"e": w.diff(x, 2) + 1},
            {"b": kp.Condition(w, on="boundary")},
        )
        with pytest.raises(ValueError, match="rounds to less than float64"):
            kp.PINNModel(problem, RoundedInputs())
    finally:
        keras.config.set_dtype_policy(policy)


def test_each_network_of_a_dict_is_compared():
    v = sp.Function("v")(x, y)
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1), y: (0, 1)}),
        {"e": u.diff(x, 2) + v, "f": v.diff(y) - u},
        {"b": kp.Condition([u, v], on="boundary")},
    )
    normalized = chain(layers.Dense(4, "tanh"), layers.LayerNormalization())
    kp.PINNModel(problem, {u: kp.networks.MLP(4, 1), v: normalized}, seed=0)
    coupled = Layer(lambda a, b: a - ops.mean(a, axis=0, keepdims=True))
    with (
        pytest.warns(UserWarning, match="nested"),
        pytest.raises(ValueError, match="o"),
    ):
        kp.PINNModel(problem, {u: kp.networks.MLP(4, 1), v: coupled}, seed=0)


def test_inactive_layers_warn():
    network = chain(layers.Dense(4, "tanh"), layers.Dropout(0.1, name="drop"))
    with pytest.warns(UserWarning, match="'drop' .Dropout. does nothing") as caught:
        model = model_of(network)
    assert model.derivative_engine == "taylor"
    assert not [w for w in caught if "nested" in str(w.message)]


def test_attention_without_dropout_has_no_inactive_layer(recwarn):
    inputs = keras.Input((2,))
    features = layers.Reshape((2, 2))(layers.Dense(4, "tanh")(inputs))
    attention = layers.MultiHeadAttention(1, 2)(features, features)
    model_of(keras.Model(inputs, layers.Dense(1)(layers.Flatten()(attention))))
    assert not [w for w in recwarn if "does nothing" in str(w.message)]


def test_a_learned_function_still_trains_behind_tf_function():
    """Keep the check's values out of a user's graph."""
    tf = pytest.importorskip("tensorflow")
    if not ON_TENSORFLOW:
        pytest.skip("of TensorFlow alone")

    class Graph(layers.Layer):
        def build(self, shape):
            self.kernel = self.add_weight(shape=(shape[-1], 1))
            self.function = tf.function(lambda p: ops.tanh(p @ self.kernel))

        def call(self, points):
            return self.function(points)

        def compute_output_shape(self, shape):
            return shape[0], 1

    network = Graph()
    with pytest.warns(UserWarning, match="nested"):
        model_of(network)
    network.kernel.assign([[1.0], [2.0]])
    points = np.array([[0.5, 0.1]], "float32")
    np.testing.assert_allclose(network(points), np.tanh([[0.7]]), rtol=1e-5)
