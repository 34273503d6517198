"""Burgers' equation: a wave that steepens to a front.

A sine wave steepens to a front that is three thousandths wide. The declaration does not
contain its position. The reference is the Cole–Hopf integral.

To adapt it, change the viscosity and the initial condition, and leave out the
reference.
"""

import keras
import numpy as np
import sympy as sp
from scipy.special import roots_hermite

import keraspinn as kp

keras.utils.set_random_seed(0)
x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)
viscosity = 0.01 / np.pi
domain = kp.geometry.Box({x: (-1, 1)}, time={t: (0, 1)})


def cole_hopf(points):
    z, weights = roots_hermite(1000)
    at, moment = points[:, :1], np.maximum(points[:, 1:], 1e-12)
    from_ = at - 2 * np.sqrt(viscosity * moment) * z
    exponent = -np.cos(np.pi * from_) / (2 * np.pi * viscosity)
    mass = weights * np.exp(exponent - exponent.max(axis=1, keepdims=True))
    return -(np.sin(np.pi * from_) * mass).sum(axis=1) / mass.sum(axis=1)


points = domain.grid(100)
problem = kp.Problem(
    domain=domain,
    equations={"burgers": u.diff(t) + u * u.diff(x) - viscosity * u.diff(x, 2)},
    conditions={
        "ends": kp.Condition(u, on="boundary"),
        "initial": kp.Condition(sp.Eq(u, -sp.sin(sp.pi * x)), on="initial"),
    },
    reference=kp.Reference(points, {u: cole_hopf(points)}),
)

model = kp.PINNModel(problem, kp.networks.MLP(units=20, depth=4), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 2000)))
model.fit(steps_per_epoch=2000, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
sizes = {"residual": 3000, "ends": 200, "initial": 200}
model.fit(batch_size=sizes, steps_per_epoch=500, epochs=8, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, u, label="velocity")
figure.savefig("burgers.png")
