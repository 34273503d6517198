"""A solution with the spread of ten networks.

Ten networks, trained as one program, differ only in their initial weights and points.
The band, two standard deviations on either side, shows how much the answer depends on
the seed. It is not an error bar: it does not show errors that all ten share.

To adapt it, replace `PINNModel` by `Ensemble` in any program.
"""

import keras
import sympy as sp

import keraspinn as kp

x = sp.Symbol("x")
u = sp.Function("u")(x)
width = 0.1
exact = x - (sp.exp((x - 1) / width) - sp.exp(-1 / width)) / (1 - sp.exp(-1 / width))

problem = kp.Problem(
    domain=kp.geometry.Box({x: (0, 1)}),
    equations={"advection": sp.Eq(u.diff(x) - width * u.diff(x, 2), 1)},
    conditions={"ends": kp.Condition(u, on="boundary")},
    reference={u: exact},
)

ensemble = kp.Ensemble(problem, kp.networks.MLP(units=10, depth=2), size=10, seed=0)
rate = keras.optimizers.schedules.CosineDecay(3e-3, 2000)
ensemble.compile(keras.optimizers.Adam(rate))
annealing = kp.callbacks.LearningRateAnnealing()
ensemble.fit(steps_per_epoch=1000, epochs=2, callbacks=[annealing], verbose=2)

points, values = problem.test_data()
errors = ensemble.evaluate(points, values, verbose=0)["u_relative_l2"]
print(errors, kp.diagnostics.verdict(ensemble.member(0)), sep="\n")
error = {"u": errors.mean}
figure = kp.plot.field(ensemble, u)
figure.axes[0].plot(points[:, 0], values["u"], ":", label="Exact")
figure.axes[0].legend(frameon=False)
figure.savefig("ensemble_band.png")
