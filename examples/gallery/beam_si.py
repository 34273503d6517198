"""A steel beam in SI units.

The beam is two metres long and clamped at one end, with a load of 500 N/m, E = 210e9 Pa
and I = 1e-8 m⁴. Scales from the declaration (`scales="auto"`) make every coordinate,
field and equation about 1 in training; `print(problem)` shows them. Inputs and results
are in SI units.

To adapt it, change E, I, the load (any function of x) and the conditions at the two
ends.
"""

import keras
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x = sp.Symbol("x")
w = sp.Function("w")(x)
E, inertia, load, length = 210e9, 1e-8, 500.0, 2.0
exact = -load * x**2 * (6 * length**2 - 4 * length * x + x**2) / (24 * E * inertia)

problem = kp.Problem(
    domain=kp.geometry.Box({x: (0, length)}),
    equations={"bending": sp.Eq(E * inertia * w.diff(x, 4), -load)},
    conditions={
        "clamped": kp.Condition([w, w.diff(x)], on={x: 0}),
        "free": kp.Condition([w.diff(x, 2), w.diff(x, 3)], on={x: length}),
    },
    reference={w: exact},
    scales="auto",
)
print(problem)

model = kp.PINNModel(problem, kp.networks.MLP(units=20, depth=3), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 3000)))
model.fit(steps_per_epoch=3000, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
model.fit(steps_per_epoch=500, epochs=1, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, w, label="deflection in metres")
figure.axes[0].set(xlabel="x in m")
figure.savefig("beam_si.png")
