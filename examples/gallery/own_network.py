"""A Keras network of your own.

Any Keras model from points to one column for each field is allowed. Taylor arithmetic
differentiates layers and `keras.ops`. This network is even in x by construction.

To adapt it, build any Keras model whose inputs are the coordinates.
"""

import keras
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, y = sp.symbols("x y")
u = sp.Function("u")(x, y)
exact = sp.cos(sp.pi * x / 2) * sp.sin(sp.pi * y)
operator = u.diff(x, 2) + u.diff(y, 2)

problem = kp.Problem(
    domain=kp.geometry.Box({x: (-1, 1), y: (0, 1)}),
    equations={"poisson": sp.Eq(operator, operator.subs(u, exact).doit())},
    conditions={"edges": kp.Condition(u, on="boundary")},
    reference={u: exact},
)

points = keras.Input((2,))
even = keras.ops.square(points[:, :1])
hidden = keras.layers.Concatenate()([even, points[:, 1:]])
for _ in range(3):
    hidden = keras.layers.Dense(20, activation="tanh")(hidden)
network = keras.Model(points, keras.layers.Dense(1)(hidden))

model = kp.PINNModel(problem, network, seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 2000)))
model.fit(steps_per_epoch=2000, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
model.fit(steps_per_epoch=500, epochs=1, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, u)
figure.savefig("own_network.png")
