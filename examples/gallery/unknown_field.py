"""A conductivity that varies along a bar, from 40 noisy sensors.

The unknown k(x) and the temperature u(x, t) are fields with separate networks;
`PINNModel` accepts one network for each field. A field depends only on the coordinates
that it is declared with.

To adapt it, replace the sensors by yours, and give k where you know it.
"""

import keras
import numpy as np
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, t = sp.symbols("x t")
u, k = sp.Function("u")(x, t), sp.Function("k")(x)
true_u, true_k = sp.exp(-t) * sp.cos(sp.pi * x / 2), 1 + sp.sin(sp.pi * x) / 2
source = true_u.diff(t) - (true_k * true_u.diff(x)).diff(x)

rng = np.random.default_rng(0)
points = np.stack([np.repeat(np.linspace(0.05, 0.95, 8), 5), rng.uniform(size=40)], -1)
noise = 1e-3 * rng.normal(size=40)
measured = sp.lambdify((x, t), true_u)(*points.T) + noise

problem = kp.Problem(
    domain=kp.geometry.Box({x: (0, 1)}, time={t: (0, 1)}),
    equations={"heat": sp.Eq(u.diff(t), (k * u.diff(x)).diff(x) + source)},
    conditions={
        "sensors": kp.Data(points, {u: measured}, weight=100.0),
        "initial": kp.Condition(sp.Eq(u, true_u), on="initial"),
        "ends": kp.Condition(sp.Eq(u, true_u), on="boundary"),
        "known": kp.Condition(sp.Eq(k, 1), on={x: 0}),
    },
    reference={u: true_u, k: true_k},
)

networks = {u: kp.networks.MLP(20, 3), k: kp.networks.MLP(10, 2)}
model = kp.PINNModel(problem, networks, seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 3000)))
model.fit(steps_per_epoch=3000, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
model.fit(steps_per_epoch=500, epochs=2, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, k, at={t: 0}, label="conductivity")
figure.savefig("unknown_field.png")
