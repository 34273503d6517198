"""A stranger's layer x + a x³ with its derivative rule, in a file of their own."""

import keras
import numpy as np
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


def test_it_fits_saves_and_loads(tmp_path):
    x = sp.Symbol("x")
    u = sp.Function("u")(x)
    ends = kp.Condition(u - x**3, on=[{x: 0}, {x: 1}])
    equations, domain = {"u": u.diff(x, 2) - 6 * x}, kp.geometry.Box({x: (0, 1)})
    problem = kp.Problem(domain, equations, {"ends": ends})
    network = keras.Sequential([keras.Input((1,)), Cubic(), keras.layers.Dense(1)])
    model = kp.PINNModel(problem, network)
    assert model.derivative_engine == "taylor"
    model.compile(keras.optimizers.Adam(1e-2))
    model.fit(steps_per_epoch=10, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = kp.load_model(tmp_path / "model.keras")
    points = np.array([[0.2], [0.7]])
    np.testing.assert_array_equal(loaded(points), model(points))
    loaded.fit(steps_per_epoch=10, verbose=0)
