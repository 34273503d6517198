import operator

import keras
import pytest
from keras import layers, ops

from keraspinn.backend.compatibility import (
    begin_at_epoch,
    every_layer,
    public_function,
)


def test_layers_at_any_depth_are_listed_once():
    class Holder(layers.Layer):
        def __init__(self, inner):
            super().__init__()
            self.inner = {"all": [inner]}

        def call(self, x):
            return self.inner["all"][0](x)

    leaf = layers.Dense(2)
    middle = keras.Sequential([keras.Input((2,)), leaf, layers.Dense(3)])
    x = keras.Input((2,))
    outer = keras.Model(x, Holder(middle)(leaf(x)))
    collected = every_layer(outer)
    assert collected[0] is outer
    assert sum(layer is leaf for layer in collected) == 1
    kinds = [type(layer).__name__ for layer in collected]
    assert kinds.count("Dense") == 2
    assert "Holder" in kinds and "Sequential" in kinds


def test_running_fit_continues_at_an_epoch():
    model = keras.Sequential([keras.Input((1,)), layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=True)
    x = keras.ops.ones((1, 1))

    def begin(logs):
        begin_at_epoch(model, 2)

    callback = keras.callbacks.LambdaCallback(on_train_begin=begin)
    assert model.fit(x, x, epochs=3, callbacks=[callback], verbose=0).epoch == [2]
    begin_at_epoch(model, None)
    assert model.fit(x, x, epochs=1, verbose=0).epoch == [0]


@pytest.mark.parametrize(
    ("call", "function"),
    [
        (lambda x: x / 2, ops.true_divide),
        (lambda x: x - 1, ops.subtract),
        (lambda x: x**2, ops.power),
        (lambda x: -x, ops.negative),
        (lambda x: x[:, 0], operator.getitem),
        (lambda x: x @ ops.ones((2, 2)), ops.matmul),
        (keras.activations.relu, ops.relu),
        (keras.activations.gelu, ops.gelu),
        (lambda x: ops.concatenate([x, x], -1), ops.concatenate),
        (lambda x: ops.expand_dims(x, -1), ops.expand_dims),
        (ops.log1p, ops.log1p),
        (ops.log_softmax, ops.log_softmax),
    ],
)
def test_operations_are_calls_of_public_functions(call, function):
    x = keras.KerasTensor((None, 2))
    assert public_function(keras.Function(x, call(x)).operations[-1]) is function


def test_custom_operations_are_not_those_of_keras():
    class Sin(keras.Operation):
        def call(self, x):
            return ops.cos(x)

    assert public_function(Sin()) is None
