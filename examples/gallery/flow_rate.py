"""A flow with a given flow rate and a tabulated viscosity.

A fluid flows between two plates at a known rate. A table of 21 measured viscosities
makes it thinner towards the walls. The condition at the walls is a hard constraint, the
flow rate is an integral, and the pressure drop is an unknown coefficient.

To adapt it, replace the table by your measurements, and the flow rate by yours.
"""

import keras
import numpy as np
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
y = sp.Symbol("y")
u = sp.Function("u")(y)
drop = kp.Parameter("drop", initial=0.5)
heights = np.linspace(-1, 1, 21)
viscosity = kp.Tabulated(heights, 1 / (1 + heights**2 / 2))
exact = (1 - y**2) / 2 + (1 - y**4) / 8

problem = kp.Problem(
    domain=kp.geometry.Box({y: (-1, 1)}),
    equations={"momentum": (viscosity(y) * u.diff(y)).diff(y) + drop},
    conditions={
        "walls": kp.Condition(u, on="boundary", hard=True),
        "rate": kp.Condition(sp.Eq(kp.integral(u), sp.Rational(13, 15))),
    },
    reference={u: exact},
)

model = kp.PINNModel(problem, kp.networks.MLP(units=20, depth=3), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 2000)))
model.fit(steps_per_epoch=2000, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
history = model.fit(steps_per_epoch=500, epochs=1, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
error["drop"] = abs(history.history["drop"][-1] - 1)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, u, label="velocity")
figure.savefig("flow_rate.png")
