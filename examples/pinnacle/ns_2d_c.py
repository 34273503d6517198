"""Navier–Stokes 2d-C.

The lid of a square cavity moves with the speed 4 x (1 − x), at a Reynolds number of
100. The pressure is zero in a corner.
"""

import keras
import sympy as sp

import keraspinn as kp
from examples.pinnacle.common import table

seed, adam, second = 0, 2000, 1500

x, y = sp.symbols("x y")
u, v, p = (sp.Function(name)(x, y) for name in "uvp")
walls = [{x: 0}, {x: 1}, {y: 0}]
points, *values = table("ns_2d_c")


def momentum(f, pressure):
    return (
        u * f.diff(x) + v * f.diff(y) + pressure - (f.diff(x, 2) + f.diff(y, 2)) / 100
    )


problem = kp.Problem(
    domain=kp.geometry.Box({x: (0, 1), y: (0, 1)}),
    equations={
        "x": momentum(u, p.diff(x)),
        "y": momentum(v, p.diff(y)),
        "continuity": u.diff(x) + v.diff(y),
    },
    conditions={
        "lid": kp.Condition([u - 4 * x * (1 - x), v], on={y: 1}, weight=10),
        "walls": kp.Condition([u, v], on=walls, weight=10),
        "corner": kp.Condition(p, on={x: 0, y: 0}),
    },
    reference=kp.Reference(points, dict(zip((u, v, p), values, strict=True))),
)

model = kp.PINNModel(problem, kp.networks.MLP(units=30, depth=3, outputs=3), seed=seed)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, adam)))
model.fit(steps_per_epoch=adam, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
model.fit(steps_per_epoch=second // 2, epochs=2, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error)
figure = kp.plot.field(model, sp.sqrt(u**2 + v**2), label="speed")
