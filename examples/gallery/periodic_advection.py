"""Advection around a ring: a periodic domain.

`periodic=[x]` makes the network periodic by construction, so x has no boundary and
needs no boundary condition.

To adapt it, change the speed, which may be a periodic function, and the initial
condition; for many turns use `kp.march`.
"""

import keras
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)
speed = 1.0
exact = sp.exp(sp.cos(2 * sp.pi * (x - speed * t)) - 1)

problem = kp.Problem(
    domain=kp.geometry.Box({x: (0, 1)}, time={t: (0, 2)}, periodic=[x]),
    equations={"advection": u.diff(t) + speed * u.diff(x)},
    conditions={"initial": kp.Condition(sp.Eq(u, exact.subs(t, 0)), on="initial")},
    reference={u: exact},
)

model = kp.PINNModel(problem, kp.networks.MLP(units=20, depth=3), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 3000)))
model.fit(steps_per_epoch=3000, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
model.fit(steps_per_epoch=500, epochs=3, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, u, label="concentration")
figure.savefig("periodic_advection.png")
