"""A rod that loses heat at its end.

One end is kept cold, and the other loses heat to the air in proportion to its
temperature. That is a Robin condition, written as an equation. The exact solution is
the slowest mode, sin(βx) exp(−β²t) with β cot β = −h.

To adapt it, change the film coefficient and the initial condition, and leave out the
reference.
"""

import keras
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)
h = 2.0
beta = float(sp.nsolve(x * sp.cot(x) + h, x, 2.0))
exact = sp.sin(beta * x) * sp.exp(-(beta**2) * t)

problem = kp.Problem(
    domain=kp.geometry.Box({x: (0, 1)}, time={t: (0, 0.5)}),
    equations={"heat": sp.Eq(u.diff(t), u.diff(x, 2))},
    conditions={
        "cold": kp.Condition(u, on={x: 0}),
        "air": kp.Condition(sp.Eq(u.diff(x), -h * u), on={x: 1}),
        "initial": kp.Condition(sp.Eq(u, exact.subs(t, 0)), on="initial"),
    },
    reference={u: exact},
)

model = kp.PINNModel(problem, kp.networks.MLP(units=20, depth=3), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 2000)))
model.fit(steps_per_epoch=2000, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
model.fit(steps_per_epoch=500, epochs=2, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, u, label="temperature")
figure.savefig("heat_rod.png")
