"""A diffusivity from noisy measurements.

A `Parameter` appears in an equation like any symbol and is trained with the network.
Measurements are a `Data` term. The true value is 0.3, and the noise is 1 % of the
largest temperature. `parameter_deviation` returns the standard deviation of the
estimate.

To adapt it, replace `points` and `values` by your measurements, and leave out
conditions that you do not know.
"""

import keras
import numpy as np
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)
kappa, true = kp.Parameter("kappa", initial=1.0), 0.3
exact = sp.sin(sp.pi * x) * sp.exp(-true * sp.pi**2 * t)

domain = kp.geometry.Box({x: (0, 1)}, time={t: (0, 1)})
rng = np.random.default_rng(0)
points = rng.uniform(size=(100, 2))
measured = sp.lambdify((x, t), exact)(*points.T) + 0.01 * rng.normal(size=100)

problem = kp.Problem(
    domain=domain,
    equations={"heat": sp.Eq(u.diff(t), kappa * u.diff(x, 2))},
    conditions={
        "ends": kp.Condition(u, on="boundary"),
        "sensors": kp.Data(points, {u: measured}),
    },
    reference={u: exact},
)

model = kp.PINNModel(problem, kp.networks.MLP(units=20, depth=3), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 3000)))
model.fit(steps_per_epoch=3000, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
history = model.fit(steps_per_epoch=500, epochs=2, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
error["kappa"] = abs(history.history["kappa"][-1] / true - 1)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, u, label="temperature")
figure.savefig("unknown_diffusivity.png")
