"""A vibrating string with two modes.

A string is released at rest and vibrates in modes 1 and 4. Adam alone ends in a wrong
answer, from which Gauss–Newton steps reach the right one. λ stays at its last value
from the annealing.

To adapt it, change the speed and the initial shape and velocity; for many periods use
`kp.march`.
"""

import keras
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)
speed = 2
exact = sp.sin(sp.pi * x) * sp.cos(speed * sp.pi * t)
exact += sp.sin(4 * sp.pi * x) * sp.cos(4 * speed * sp.pi * t) / 2

problem = kp.Problem(
    domain=kp.geometry.Box({x: (0, 1)}, time={t: (0, 1)}),
    equations={"wave": u.diff(t, 2) - speed**2 * u.diff(x, 2)},
    conditions={
        "ends": kp.Condition(u, on="boundary"),
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
model.fit(batch_size=sizes, steps_per_epoch=20, epochs=7, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
film = kp.plot.animation(model, u, over=t, label="displacement", frames=60)
film.save("wave.gif", writer="pillow", dpi=60)
figure = kp.plot.field(model, u, label="displacement")
figure.savefig("wave.png")
