"""A breather over six periods, as a film.

The sine-Gordon equation describes coupled pendulums, among others. A breather is a
localized wave that swings in place for all times. `kp.march` divides the time into
twelve windows and trains each from the field and the velocity at the end of the one
before. The exact solution is known.

To adapt it, change the equation and the initial values, and choose about two windows
for each period.
"""

import keras
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)
frequency = 0.8
period = 2 * sp.pi / frequency
decay = sp.sqrt(1 - frequency**2)
exact = 4 * sp.atan(decay / frequency * sp.cos(frequency * t) / sp.cosh(decay * x))

problem = kp.Problem(
    domain=kp.geometry.Box({x: (-15, 15)}, time={t: (0, 6 * period)}),
    equations={"sine_gordon": u.diff(t, 2) - u.diff(x, 2) + sp.sin(u)},
    conditions={
        "initial": kp.Condition([sp.Eq(u, exact.subs(t, 0)), u.diff(t)], on="initial"),
        "ends": kp.Condition(sp.Eq(u, exact), on="boundary"),
    },
    reference={u: exact},
)

recipe = kp.recipes.OneStage(steps=100, points=1000)
network = kp.networks.MLP(units=20, depth=2)
model = kp.march(problem, network, windows=12, recipe=recipe)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
film = kp.plot.animation(model, u, over=t, label="angle", frames=60)
film.save("breather.gif", writer="pillow", dpi=60)
figure = kp.plot.field(model, u, label="angle")
figure.savefig("breather.png")
