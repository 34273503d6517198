"""The Helmholtz equation, the paper's first example.

The gradients of boundary and equation differ by orders of magnitude. Annealing balances
them, and Gauss–Newton steps follow.

To adapt it, change the wave numbers of the source; more waves in the domain need a
wider network.
"""

import keras
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, y = sp.symbols("x y")
u = sp.Function("u")(x, y)
exact = sp.sin(sp.pi * x) * sp.sin(4 * sp.pi * y)


def helmholtz(f):
    return f.diff(x, 2) + f.diff(y, 2) + f


problem = kp.Problem(
    domain=kp.geometry.Box({x: (-1, 1), y: (-1, 1)}),
    equations={"helmholtz": sp.Eq(helmholtz(u), helmholtz(exact))},
    conditions={"boundary": kp.Condition(u, on="boundary")},
    reference={u: exact},
)

model = kp.PINNModel(problem, kp.networks.MLP(units=30, depth=3), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 2000)))
annealing = kp.callbacks.LearningRateAnnealing()
model.fit(steps_per_epoch=2000, epochs=1, verbose=2, callbacks=[annealing])
model = model.astype("float64")
model.compile(kp.optimizers.GaussNewton())
sizes = {"residual": 3000, "boundary": 400}
model.fit(batch_size=sizes, steps_per_epoch=20, epochs=6, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, u)
figure.savefig("helmholtz.png")
