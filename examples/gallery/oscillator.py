"""A damped oscillator: an ordinary differential equation (ODE).

A damped oscillation starts at rest, in a domain of time alone. Initial position and
velocity are two equations of one condition. Adam without annealing is better here, and
the second stage follows.

To adapt it, change the equation, or declare several fields and equations; for many
periods use `kp.march`.
"""

import keras
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
t = sp.Symbol("t")
u = sp.Function("u")(t)
damping, frequency = 0.2, 2.0
omega = sp.sqrt(frequency**2 - damping**2)
exact = sp.exp(-damping * t) * (sp.cos(omega * t) + damping / omega * sp.sin(omega * t))

problem = kp.Problem(
    domain=kp.geometry.Box(time={t: (0, 10)}),
    equations={"oscillator": u.diff(t, 2) + 2 * damping * u.diff(t) + frequency**2 * u},
    conditions={"initial": kp.Condition([sp.Eq(u, 1), u.diff(t)], on="initial")},
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
figure = kp.plot.field(model, u, label="displacement")
figure.savefig("oscillator.png")
