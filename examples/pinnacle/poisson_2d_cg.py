"""Poisson 2d-CG.

The Poisson–Boltzmann equation, −Δu + 64 u = f, in a square with four holes of different
radii. The source changes sign eight times.
"""

import keras
import sympy as sp

import keraspinn as kp
from examples.pinnacle.common import table

seed, adam, second = 0, 1500, 5000

x, y = sp.symbols("x y")
u = sp.Function("u")(x, y)
source = 10 * (17 + x**2 + y**2) * sp.sin(sp.pi * x) * sp.sin(4 * sp.pi * y)
circles = {(0.5, 0.5): 0.2, (0.4, -0.4): 0.4, (-0.2, -0.7): 0.1, (-0.6, 0.5): 0.3}
first, *others = (
    kp.geometry.Disk(centre, radius) for centre, radius in circles.items()
)
holes = sum(others, first)
sides = [{x: -1}, {x: 1}, {y: -1}, {y: 1}]
points, values = table("poisson_2d_cg")

problem = kp.Problem(
    domain=kp.geometry.Box({x: (-1, 1), y: (-1, 1)}) - holes,
    equations={"poisson": sp.Eq(-u.diff(x, 2) - u.diff(y, 2) + 64 * u, source)},
    conditions={
        "outside": kp.Condition(sp.Eq(u, 0.2), on=sides, weight=100),
        "holes": kp.Condition(sp.Eq(u, 1), on=holes, weight=100),
    },
    reference=kp.Reference(points, {u: values}),
)

model = kp.PINNModel(problem, kp.networks.MLP(units=30, depth=3), seed=seed)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, adam)))
model.fit(steps_per_epoch=adam, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
sizes = {"residual": 2000, "outside": 100, "holes": 300}
model.fit(batch_size=sizes, steps_per_epoch=second // 10, epochs=10, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error)
figure = kp.plot.field(model, u, label="u")
