import keras
import numpy as np
import pytest
from keras import layers, ops

import keraspinn as kp
from keraspinn.derivatives.engines import (
    choose_engine,
    jvp_derivatives,
    taylor_derivatives,
)
from keraspinn.derivatives.taylor import (
    IndexSet,
    MissingRule,
    Taylor,
    propagate,
)
from tensors import compiled, nested_gradients

INDICES = [(0, 0), (2, 0), (1, 1)]


@pytest.fixture(autouse=True)
def random_weights():
    keras.utils.set_random_seed(0)


def points(dtype="float64"):
    return ops.cast(np.random.default_rng(0).uniform(-1, 1, (5, 2)), dtype)


def entry(width=2, **kwargs):
    return keras.Input((width,), dtype="float64", **kwargs)


def dense(units=3, activation="tanh", **kwargs):
    return layers.Dense(units, activation=activation, dtype="float64", **kwargs)


def add():
    return layers.Add(dtype="float64")


def assert_exact(model, x=None, rtol=1e-12):
    x = points() if x is None else x
    model(x)  # builds it
    derivatives = taylor_derivatives(
        lambda series: propagate(model, series), x, INDICES
    )
    for index, derivative in derivatives.items():
        expected = nested_gradients(model, x, index)
        assert derivative.dtype == model(x).dtype
        scale = np.abs(expected).max()
        np.testing.assert_allclose(
            derivative, expected, rtol=rtol, atol=rtol * scale, err_msg=str(index)
        )


def engine(model):
    return choose_engine(lambda series: propagate(model, series), 2, "float64")


def chain(x):
    return dense(1, None)(dense()(x))


def diamond(x):
    left, right = dense()(x), dense(activation="sigmoid")(x)
    joined = layers.Concatenate(dtype="float64")(
        [
            add()([left, right]),
            layers.Subtract(dtype="float64")([left, right]),
            layers.Multiply(dtype="float64")([left, right]),
            x,
        ]
    )
    return dense(2, None)(joined)


def one_layer_called_twice(x):
    shared = dense(2)
    return add()([shared(shared(x)), shared(x)])


def nested_models(x):
    hidden = entry()
    inner = keras.Model(hidden, dense(2)(add()([dense(2)(hidden), hidden])))
    return dense(1, None)(inner(inner(x)))


def model_of_two_inputs(x):
    left, right = entry(3), entry(2)
    inner = keras.Model([left, right], add()([left, dense(3)(right)]))
    return inner([dense(3)(x), x])


def model_of_named_inputs(x):
    # Sorted, the names are in another order than the inputs were made.
    z, a = entry(3, name="z"), entry(2, name="a")
    inner = keras.Model({"z": z, "a": a}, add()([z, dense(3)(a)]))
    return inner({"a": x, "z": dense(3)(x)})


def arguments_by_keyword(x):
    u, v = dense(4)(x), dense(4)(x)
    return kp.layers.GatedDense(4, dtype="float64")(x, v=v, u=u)


def sequential_inside(x):
    return keras.Sequential([dense(), dense(1, None)])(x)


def network_inside(x):
    return kp.networks.ModifiedMLP(3, 2, dtype="float64")(x)


def input_as_output(x):
    return x


@pytest.mark.parametrize(
    "build",
    [
        chain,
        diamond,
        one_layer_called_twice,
        nested_models,
        model_of_two_inputs,
        model_of_named_inputs,
        arguments_by_keyword,
        sequential_inside,
        network_inside,
        input_as_output,
    ],
)
def test_functional_models_are_replayed_exactly(build):
    x = entry()
    model = keras.Model(x, build(x))
    assert engine(model) == "taylor"
    assert_exact(model)


def test_inputs_and_outputs_in_lists():
    x = entry()
    model = keras.Model([x], [chain(x)])
    value = propagate(model, Taylor.of_points(points(), IndexSet(INDICES))).value
    expected = keras.tree.flatten(model(points()))[0]
    np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_a_loaded_and_a_cloned_model(tmp_path):
    x = entry()
    model = keras.Model(x, diamond(x))
    model.save(tmp_path / "model.keras")
    assert_exact(keras.models.load_model(tmp_path / "model.keras"))
    assert_exact(keras.models.clone_model(model))


def test_inputs_are_cast_to_the_dtype_of_the_model():
    x = keras.Input((2,), dtype="float32")
    model = keras.Model(x, chain(x))
    assert_exact(model, rtol=1e-6)  # gradients pass through that type as well
    value = propagate(model, Taylor.of_points(points(), IndexSet(INDICES))).value
    np.testing.assert_allclose(value, model(points()), rtol=1e-12)


def operation_without_rule(x):
    return ops.arcsinh(dense()(x))


def fixed_mode(x):
    return dense()(layers.Dropout(0.5, dtype="float64")(x, training=False))


def layer_without_rule(x):
    return layers.UnitNormalization(dtype="float64")(x)


def inner_model_of_two_outputs(x):
    hidden = entry()
    inner = keras.Model(hidden, [dense()(hidden), dense()(hidden)])
    return add()(inner(x))


def layer_of_two_outputs(x):
    class Split(layers.Layer):
        def call(self, x):
            return x[..., :1], x[..., 1:]

        def compute_output_shape(self, shape):
            return (*shape[:-1], 1), (*shape[:-1], 1)

    return add()(list(Split(dtype="float64")(x)))


@pytest.mark.parametrize(
    "build",
    [
        operation_without_rule,
        fixed_mode,
        layer_without_rule,
        inner_model_of_two_outputs,
        layer_of_two_outputs,
    ],
)
def test_other_models_have_no_rule(build):
    x = entry()
    model = keras.Model(x, build(x))
    assert engine(model) == "jvp"
    derivatives = jvp_derivatives(model, points(), INDICES)
    assert np.all(np.isfinite(derivatives[2, 0]))


def test_rejects_a_model_of_two_outputs():
    x = entry()
    model = keras.Model(x, [dense()(x), dense()(x)])
    with pytest.raises(MissingRule, match="2 outputs"):
        propagate(model, Taylor.of_points(points(), IndexSet(INDICES)))


def test_a_subclass_of_a_functional_model_needs_a_rule():
    class Doubled(keras.Model):
        def call(self, x):
            return 2.0 * super().call(x)

    x = entry()
    model = Doubled(x, chain(x))
    assert engine(model) == "jvp"

    @kp.taylor.register_rule(Doubled)
    def doubled_rule(model, x):
        for layer in model.layers:
            x = propagate(layer, x)
        return 2.0 * x

    assert engine(model) == "taylor"
    assert_exact(model)


def test_replay_does_not_change_the_model():
    x = entry()
    hidden = dense()
    model = keras.Model(x, dense(1, None)(hidden(x)))
    model.compile("adam", loss=lambda y, z: y)  # a loss that Keras cannot save
    weights = [id(weight) for weight in model.weights]
    output, config = hidden.output, model.get_config()
    next_name = layers.Dense(1).name
    assert engine(model) == "taylor"
    assert hidden.output is output
    assert len(hidden._inbound_nodes) == 1  # each call would add one
    assert model.get_config() == config
    assert [id(weight) for weight in model.weights] == weights
    assert int(layers.Dense(1).name.split("_")[-1]) == int(next_name.split("_")[-1]) + 1


def test_a_replay_inside_a_trace_makes_no_variables():
    x = entry()
    model = keras.Model(x, chain(x))

    @compiled  # makes an error of every new variable
    def mixed(x):
        series = Taylor.of_points(x, IndexSet(INDICES))
        return propagate(model, series).derivative((1, 1))

    expected = nested_gradients(model, points(), (1, 1))
    np.testing.assert_allclose(mixed(points()), expected, rtol=1e-12)
