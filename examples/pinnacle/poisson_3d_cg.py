"""Poisson 3d-CG.

The equation −Δu + k² u = f in a cube without four balls, insulated all round. The
coefficient k jumps from 8 to 10 at z = 0.5. The source has five periods in y.
"""

import keras
import sympy as sp

import keraspinn as kp
from examples.pinnacle.common import table

seed, adam, second = 0, 2000, 2000

x, y, z = sp.symbols("x y z")
u = sp.Function("u")(x, y, z)
balls = {(0.4, 0.3, 0.6): 0.2, (0.6, 0.7, 0.6): 0.2}
balls |= {(0.2, 0.8, 0.7): 0.1, (0.6, 0.2, 0.3): 0.1}
domain = kp.geometry.Box(dict.fromkeys((x, y, z), (0, 1)))
for centre, radius in balls.items():
    domain = domain - kp.geometry.Ball(centre, radius)
waves = [sp.sin(m * sp.pi * c) for m, c in ((1, x), (10, y), (5, z))]
square = x**2 + y**2 + z**2
source = 20 * sp.exp(sum(waves)) * (square - 1) / (square + 1) + 100 * sp.prod(waves)
decay = sp.Piecewise((64, z < 0.5), (100, True))
laplacian = sum(u.diff(c, 2) for c in (x, y, z))
points, values = table("poisson_3d_cg")

problem = kp.Problem(
    domain=domain,
    equations={"poisson": sp.Eq(-laplacian + decay * u, source)},
    conditions={
        "insulated": kp.Condition(kp.normal_derivative(u, domain), on="boundary"),
    },
    reference=kp.Reference(points, {u: values}),
)

model = kp.PINNModel(problem, kp.networks.MLP(units=40, depth=3), seed=seed)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, adam)))
model.fit(steps_per_epoch=adam, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
sizes = {"residual": 4000, "insulated": 1500}
model.fit(batch_size=sizes, steps_per_epoch=second // 10, epochs=10, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error)
figure = kp.plot.field(model, u, at={z: 0.5}, label="u")
