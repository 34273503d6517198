"""The corner of an L.

Laplace's equation in a square that lacks a quarter. At the corner that points inward
the solution is r^(2/3) cos(2φ/3), whose slope is unbounded there. Networks are smooth,
so this corner is where their error stays.
"""

import keras
import sympy as sp

import keraspinn as kp

x, y = sp.symbols("x y")
u = sp.Function("u")(x, y)
angle = sp.atan2(-x - y, y - x)  # from the corner's bisector
exact = sp.cbrt(x**2 + y**2) * sp.cos(2 * angle / 3)
quarter = kp.geometry.Box({x: (0, 1), y: (-1, 0)})

problem = kp.Problem(
    domain=kp.geometry.Box({x: (-1, 1), y: (-1, 1)}) - quarter,
    equations={"laplace": u.diff(x, 2) + u.diff(y, 2)},
    conditions={
        "corner": kp.Condition(u, on=quarter, weight=100),
        "sides": kp.Condition(
            sp.Eq(u, exact), on=[{x: -1}, {x: 1}, {y: -1}, {y: 1}], weight=100
        ),
    },
    reference={u: exact},
)

model = kp.PINNModel(problem, kp.networks.MLP(units=20, depth=3), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 1500)))
model.fit(steps_per_epoch=1500, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
sizes = {"residual": 1500, "corner": 100, "sides": 100}
model.fit(batch_size=sizes, steps_per_epoch=500, epochs=8, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error)
figure = kp.plot.field(model, u, label="u")
