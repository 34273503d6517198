"""Test of a user's layer x + a x³ with its Taylor rule."""

import keras
import pytest
import sympy as sp

import keraspinn as kp


@keras.saving.register_keras_serializable("toy")
class Cubic(keras.layers.Layer):
    def build(self, input_shape):
        self.a = self.add_weight(name="a", shape=(input_shape[-1],), initializer="ones")

    def call(self, x):
        return x + self.a * x**3


@kp.taylor.register_rule(Cubic)
def cubic(layer, x):
    return x + x * x * x * keras.ops.cast(layer.a, x.dtype)


@pytest.mark.slow
def test_user_layer_trains_and_resumes_exactly(assert_resume_is_bit_exact):
    def make():
        x = sp.Symbol("x")
        u = sp.Function("u")(x)
        equations, domain = {"u": u.diff(x, 2) - 6 * x}, kp.geometry.Box({x: (0, 1)})
        ends = kp.Condition(u - x**3, on="boundary")
        network = keras.Sequential([keras.Input((1,)), Cubic(), keras.layers.Dense(1)])
        model = kp.PINNModel(kp.Problem(domain, equations, {"ends": ends}), network)
        assert model.derivative_engine == "taylor"
        return model

    assert_resume_is_bit_exact(make)
