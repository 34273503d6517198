"""The nonlinear Klein–Gordon equation, the paper's second example.

The field is given at both ends; its value and velocity are given initially. SymPy
computes the source term from the chosen solution.

To adapt it, change the nonlinear term, and write the given values as numbers or
expressions.
"""

import keras
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)
exact = x * sp.cos(5 * sp.pi * t) + (x * t) ** 3


def klein_gordon(f):
    return f.diff(t, 2) - f.diff(x, 2) + f**3


problem = kp.Problem(
    domain=kp.geometry.Box({x: (0, 1)}, time={t: (0, 1)}),
    equations={"klein_gordon": sp.Eq(klein_gordon(u), klein_gordon(exact))},
    conditions={
        "ends": kp.Condition(sp.Eq(u, exact), on="boundary"),
        "initial": kp.Condition([sp.Eq(u, exact.subs(t, 0)), u.diff(t)], on="initial"),
    },
    reference={u: exact},
)

model = kp.PINNModel(problem, kp.networks.MLP(units=30, depth=3), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 2000)))
annealing = kp.callbacks.LearningRateAnnealing()
model.fit(steps_per_epoch=2000, epochs=1, verbose=2, callbacks=[annealing])
model = model.astype("float64")
model.compile(kp.optimizers.GaussNewton())
sizes = {"residual": 3000, "ends": 200, "initial": 200}
model.fit(batch_size=sizes, steps_per_epoch=20, epochs=6, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, u)
figure.savefig("klein_gordon.png")
