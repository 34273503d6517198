"""Burgers 1d-C.

A sine steepens into a front, u_t + u u_x = ν u_xx with ν = 0.01/π. The reference is the
Cole–Hopf integral, by quadrature.
"""

import keras
import sympy as sp

import keraspinn as kp
from examples.second_stage.problems import cole_hopf

seed, adam, second = 0, 2000, 4000

x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)
viscosity = 0.01 / sp.pi
domain = kp.geometry.Box({x: (-1, 1)}, time={t: (0, 1)})
points = domain.grid(100)

problem = kp.Problem(
    domain=domain,
    equations={"burgers": sp.Eq(u.diff(t) + u * u.diff(x), viscosity * u.diff(x, 2))},
    conditions={
        "walls": kp.Condition(u, on="boundary", weight=100),
        "initial": kp.Condition(sp.Eq(u, -sp.sin(sp.pi * x)), on="initial", weight=100),
    },
    reference=kp.Reference(points, {u: cole_hopf(points, float(viscosity))}),
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
