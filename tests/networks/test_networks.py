import subprocess
import sys

import keras
import numpy as np
import pytest
from keras import ops

import keraspinn as kp
from keraspinn.networks import MLP, ModifiedMLP

VARIANTS = {
    "mlp": (MLP, {}),
    "modified": (ModifiedMLP, {}),
    "gate input": (ModifiedMLP, {"gate_input": True}),
}
each_variant = pytest.mark.parametrize("variant", VARIANTS)


def network(variant, **options):
    network_class, arguments = VARIANTS[variant]
    return network_class(**arguments, **options)


def points(count=7, dimension=2, dtype="float64"):
    return ops.cast(np.random.default_rng(0).normal(size=(count, dimension)), dtype)


def weights_by_layer(model):
    """Return kernel and bias of every layer, in order."""
    return {
        layer.name: (layer.kernel.numpy(), layer.bias.numpy()) for layer in model.layers
    }


# The forward rule


def numpy_mlp(weights, x, phi):
    *hidden, (head, offset) = weights.values()
    for kernel, bias in hidden:
        x = phi(x @ kernel + bias)
    return x @ head + offset


def numpy_modified_mlp(weights, x, phi):
    """Apply the rule of the paper, section 2.6."""
    weights = iter(weights.values())

    def dense(h):
        kernel, bias = next(weights)
        return h @ kernel + bias

    u, v, h = phi(dense(x)), phi(dense(x)), phi(dense(x))
    for _ in range(3):
        z = phi(dense(h))
        h = (1 - z) * u + z * v
    return dense(h)


def numpy_gate_input(weights, x, phi):
    """Apply the rule of the authors' code."""
    weights = list(weights.values())
    (w1, b1), (w2, b2), *gates, (head, offset) = weights
    encoder_1, encoder_2 = phi(x @ w1 + b1), phi(x @ w2 + b2)
    h = x
    for kernel, bias in gates:
        z = phi(h @ kernel + bias)
        h = encoder_1 - z * encoder_1 + z * encoder_2
    return h @ head + offset


@pytest.mark.parametrize(("activation", "phi"), [("tanh", np.tanh), ("sin", np.sin)])
@pytest.mark.parametrize(
    ("variant", "by_hand"),
    [
        ("mlp", numpy_mlp),
        ("modified", numpy_modified_mlp),
        ("gate input", numpy_gate_input),
    ],
)
def test_forward_rule(variant, by_hand, activation, phi):
    model = network(
        variant,
        units=5,
        depth=3,
        outputs=2,
        activation=activation,
        bias_initializer="random_normal",
        dtype="float64",
    )
    x = points()
    result = model(x)
    expected = by_hand(weights_by_layer(model), np.array(x), phi)
    assert result.dtype == "float64"
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("variant", "names"),
    [
        ("mlp", "hidden_1 hidden_2 hidden_3 head"),
        ("modified", "encoder_u encoder_v hidden_1 gate_1 gate_2 gate_3 head"),
        ("gate input", "encoder_u encoder_v gate_1 gate_2 gate_3 head"),
    ],
)
def test_layers_come_in_the_order_of_the_rule(variant, names):
    model = network(variant, units=5, depth=3)
    model.build((None, 2))
    assert [layer.name for layer in model.layers] == names.split()
    kernels = [weight.path.split("/")[-2] for weight in model.weights[::2]]
    assert kernels == names.split()


# Shapes and counts


@pytest.mark.parametrize(
    ("d", "units", "depth", "outputs"), [(2, 50, 5, 1), (3, 10, 2, 4), (1, 7, 2, 1)]
)
def test_parameter_counts(d, units, depth, outputs):
    options = {"units": units, "depth": depth, "outputs": outputs}
    first, square = (d + 1) * units, (units + 1) * units
    head = (units + 1) * outputs
    expected = {
        "mlp": first + (depth - 1) * square + head,
        "modified": 3 * first + depth * square + head,
        "gate input": 3 * first + (depth - 1) * square + head,
    }
    for variant, count in expected.items():
        model = network(variant, **options)
        model.build((None, d))
        assert model.count_params() == count


def test_five_hidden_layers_of_fifty_units():
    for variant, count in {"mlp": 10_401, "modified": 13_251}.items():
        model = network(variant, units=50, depth=5)
        model.build((None, 2))
        assert model.count_params() == count


@each_variant
def test_build(variant):
    model = network(variant, units=3, depth=2, outputs=2)
    assert model.compute_output_shape((None, 2)) == (None, 2)
    assert model.compute_output_shape((4, 8, 2)) == (4, 8, 2)
    model.build((None, 2))
    assert model.built
    assert all(layer.built for layer in model.layers)
    before = [id(weight) for weight in model.weights]
    assert model(points(9)).shape == (9, 2)
    assert model(ops.ones((4, 8, 2))).shape == (4, 8, 2)
    assert [id(weight) for weight in model.weights] == before
    assert model(keras.Input((2,))).shape == (None, 2)


@each_variant
def test_summary_knows_every_shape(variant):
    model = network(variant, units=3, depth=2)
    model.build((None, 2))
    lines = []
    model.summary(print_fn=lambda line, **kwargs: lines.append(line), line_length=90)
    text = "\n".join(lines)
    assert "unbuilt" not in text
    assert "?" not in text
    assert text.count("(None, 3)") == len(model.layers) - 1
    assert text.count("(None, 1)") == 1


# Types


@each_variant
@pytest.mark.parametrize("policy", ["float64", "mixed_bfloat16"])
def test_dtype_policy_reaches_every_layer(variant, policy):
    model = network(variant, units=3, depth=2, dtype=policy)
    y = model(points(dtype="float32"))
    assert {layer.dtype_policy.name for layer in model.layers} == {policy}
    assert keras.backend.standardize_dtype(y.dtype) == model.compute_dtype
    assert all(w.dtype == model.variable_dtype for w in model.weights)


# Initialisation


@each_variant
def test_initialisation_is_glorot_normal_and_zero(variant):
    model = network(variant, units=150, depth=3)
    model.build((None, 100))
    for kernel, bias in weights_by_layer(model).values():
        expected = (2 / sum(kernel.shape)) ** 0.5
        within = 4 / (2 * kernel.size) ** 0.5
        assert kernel.std() == pytest.approx(expected, rel=within)
        assert abs(kernel.mean()) < 5 * expected / kernel.size**0.5
        assert not np.any(bias)


INITIALIZERS = {
    "name": lambda: "glorot_normal",
    "instance": keras.initializers.GlorotNormal,
    "seeded": lambda: keras.initializers.GlorotNormal(seed=3),
    "generator": lambda: keras.initializers.GlorotNormal(
        seed=keras.random.SeedGenerator(3)
    ),
    "config": lambda: keras.initializers.serialize(
        keras.initializers.GlorotNormal(seed=3)
    ),
}


@each_variant
@pytest.mark.parametrize("initializer", INITIALIZERS)
def test_layers_have_different_weights(variant, initializer):
    model = network(
        variant, units=5, depth=4, kernel_initializer=INITIALIZERS[initializer]()
    )
    model.build((None, 5))
    kernels = [kernel for kernel, _ in weights_by_layer(model).values()]
    for index, kernel in enumerate(kernels):
        for other in kernels[:index]:
            assert kernel.shape != other.shape or not np.allclose(kernel, other)


@each_variant
def test_a_seed_fixes_the_weights(variant):
    def weights(seed):
        initializer = keras.initializers.GlorotNormal(seed=seed)
        model = network(variant, units=5, depth=3, kernel_initializer=initializer)
        model.build((None, 5))
        return model.get_weights()

    for first, again, other in zip(weights(1), weights(1), weights(2), strict=True):
        np.testing.assert_array_equal(first, again)
        assert not np.any(first) or not np.allclose(first, other)


def test_neighbouring_seeds_share_no_layer():
    """Avoid seeds that are the network's plus the layer's number."""
    kernels = []
    for seed in (1, 2):
        initializer = keras.initializers.GlorotNormal(seed=seed)
        model = MLP(5, 4, kernel_initializer=initializer)
        model.build((None, 5))
        kernels += [kernel for kernel, _ in list(weights_by_layer(model).values())[:-1]]
    assert len({kernel.tobytes() for kernel in kernels}) == len(kernels)


def test_keras_seeds_the_default_initialisation():
    results = []
    for _ in range(2):
        keras.utils.set_random_seed(5)
        results.append(np.array(ModifiedMLP(4, 2)(points())))
    np.testing.assert_array_equal(*results)


def test_initializers_may_be_functions_or_constants():
    model = MLP(
        4,
        2,
        kernel_initializer=lambda shape, dtype=None: ops.full(shape, 0.5, dtype),
        bias_initializer=keras.initializers.Constant(0.1),
    )
    model.build((None, 2))
    for kernel, bias in weights_by_layer(model).values():
        np.testing.assert_array_equal(kernel, np.full_like(kernel, 0.5))
        np.testing.assert_array_equal(bias, np.full_like(bias, 0.1))


# Saving


@each_variant
def test_config(variant):
    model = network(
        variant,
        units=4,
        depth=2,
        outputs=3,
        activation="sin",
        kernel_initializer=keras.initializers.HeNormal(seed=1),
        bias_initializer="ones",
        name="network",
        dtype="float64",
    )
    config = model.get_config()
    copy = type(model).from_config(config)
    assert copy.get_config() == config
    assert (copy.units, copy.depth, copy.activation) == (4, 2, kp.activations.sin)
    assert copy.dtype_policy.name == "float64"
    assert copy(points()).shape == (7, 3)
    # Equal initializers give equal weights.
    np.testing.assert_array_equal(copy(points()), model(points()))


@each_variant
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_saving_and_loading(variant, dtype, tmp_path):
    model = network(variant, units=4, depth=2, outputs=2, activation="sin", dtype=dtype)
    expected = model(points())
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert type(loaded) is type(model)
    assert loaded.get_config() == model.get_config()
    np.testing.assert_array_equal(loaded(points()), expected)
    model.save_weights(tmp_path / "model.weights.h5")
    other = network(variant, units=4, depth=2, outputs=2, activation="sin", dtype=dtype)
    other.build((None, 2))
    other.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(other(points()), expected)


@pytest.mark.slow
def test_importing_the_package_is_enough_to_load(tmp_path):
    model = ModifiedMLP(4, 2, activation="sin")
    np.save(tmp_path / "expected.npy", model(points()))
    model.save(tmp_path / "model.keras")
    program = """
import sys, keras, numpy as np, keraspinn
folder = sys.argv[1]
model = keras.models.load_model(folder + "/model.keras")
x = np.random.default_rng(0).normal(size=(7, 2))
np.testing.assert_allclose(model(x), np.load(folder + "/expected.npy"), rtol=1e-5)
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)


# Arguments


@each_variant
@pytest.mark.parametrize("argument", ["units", "depth", "outputs"])
@pytest.mark.parametrize("count", [0, -2, True, 1.0, "x", None])
def test_rejects_counts_that_are_not_positive_integers(variant, argument, count):
    with pytest.raises(ValueError, match=f"`{argument}` must be a positive integer"):
        network(variant, **{argument: count})


def test_counts_accept_integers_of_any_type():
    model = MLP(np.int64(4), np.int32(2), np.uint8(1))
    assert model.get_config() | {"units": 4, "depth": 2} == model.get_config()
    assert {type(model.units), type(model.depth)} == {int}


@each_variant
def test_rejects_unknown_names(variant):
    with pytest.raises(ValueError, match="no-such"):
        network(variant, activation="no-such")
    with pytest.raises(ValueError, match="no-such"):
        network(variant, kernel_initializer="no-such")


def test_encoders_accept_a_bias_initializer():
    initializer = keras.initializers.RandomNormal(stddev=0.5, seed=0)
    made = ModifiedMLP(200, 2, encoder_bias_initializer=initializer)
    copy = ModifiedMLP.from_config(made.get_config())
    for model in (made, copy):
        model(points(dtype="float32"))
        weights = weights_by_layer(model)
        u, v = weights.pop("encoder_u")[1], weights.pop("encoder_v")[1]
        assert 0.4 < u.std() < 0.6 and 0.4 < v.std() < 0.6 and (u != v).all()
        assert not any(bias.any() for _, bias in weights.values())
    same = zip(made.get_weights(), copy.get_weights(), strict=True)
    assert all((a == b).all() for a, b in same if a.ndim == 1)
    assert ModifiedMLP(4).get_config()["encoder_bias_initializer"] is None
