"""Navier–Stokes 2d-CG.

A flow behind a step, at a Reynolds number of 100. PINNacle's program fixes only the
pressure at the outlet. Its reference also has v = 0 there, and so has this problem.
"""

import keras
import sympy as sp

import keraspinn as kp
from examples.pinnacle.common import table

seed, adam, second = 0, 2000, 4000

x, y = sp.symbols("x y")
u, v, p = (sp.Function(name)(x, y) for name in "uvp")
step = kp.geometry.Box({x: (0, 2), y: (1, 2)})
points, *values = table("ns_2d_cg")


def momentum(f, pressure):
    return (
        u * f.diff(x) + v * f.diff(y) + pressure - (f.diff(x, 2) + f.diff(y, 2)) / 100
    )


problem = kp.Problem(
    domain=kp.geometry.Box({x: (0, 4), y: (0, 2)}) - step,
    equations={
        "x": momentum(u, p.diff(x)),
        "y": momentum(v, p.diff(y)),
        "continuity": u.diff(x) + v.diff(y),
    },
    conditions={
        "inlet": kp.Condition([u - 4 * y * (1 - y), v], on={x: 0}, weight=10),
        "walls": kp.Condition([u, v], on=[{y: 0}, {y: 2}, step], weight=10),
        "outlet": kp.Condition([v, p], on={x: 4}, weight=10),
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
