"""Poisson 2d-C.

Laplace's equation in a square with four round holes: u = 1 on the outer boundary and
u = 0 on the holes.
"""

import keras
import sympy as sp

import keraspinn as kp
from examples.pinnacle.common import table

seed, adam, second = 0, 1500, 4000

x, y = sp.symbols("x y")
u = sp.Function("u")(x, y)
first, *others = (
    kp.geometry.Disk(center, 0.1)
    for center in ((0.3, 0.3), (-0.3, 0.3), (0.3, -0.3), (-0.3, -0.3))
)
holes = sum(others, first)
sides = [{x: -0.5}, {x: 0.5}, {y: -0.5}, {y: 0.5}]
points, values = table("poisson_2d_c")

problem = kp.Problem(
    domain=kp.geometry.Box({x: (-0.5, 0.5), y: (-0.5, 0.5)}) - holes,
    equations={"laplace": u.diff(x, 2) + u.diff(y, 2)},
    conditions={
        "outside": kp.Condition(sp.Eq(u, 1), on=sides, weight=100),
        "holes": kp.Condition(u, on=holes, weight=100),
    },
    reference=kp.Reference(points, {u: values}),
)

model = kp.PINNModel(problem, kp.networks.MLP(units=30, depth=3), seed=seed)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, adam)))
model.fit(steps_per_epoch=adam, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
model.fit(steps_per_epoch=second // 8, epochs=8, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error)
figure = kp.plot.field(model, u, label="u")
