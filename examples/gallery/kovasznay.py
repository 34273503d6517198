"""Flow behind a grid: Kovasznay's solution.

The steady Navier–Stokes equations in two dimensions have three fields and three
equations, each with its own loss in the logs. The pressure is given at the outlet.

To adapt it, change the domain and the velocity on its boundary, and give the pressure
at one side or point.
"""

import keras
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, y = sp.symbols("x y")
u, v, p = (sp.Function(name)(x, y) for name in "uvp")
reynolds = 20
rate = sp.Rational(reynolds, 2) - sp.sqrt(sp.Rational(reynolds, 2) ** 2 + 4 * sp.pi**2)
exact = {
    u: 1 - sp.exp(rate * x) * sp.cos(2 * sp.pi * y),
    v: rate / (2 * sp.pi) * sp.exp(rate * x) * sp.sin(2 * sp.pi * y),
    p: (1 - sp.exp(2 * rate * x)) / 2,
}


def laplacian(f):
    return f.diff(x, 2) + f.diff(y, 2)


problem = kp.Problem(
    domain=kp.geometry.Box({x: (-0.5, 1), y: (-0.5, 1.5)}),
    equations={
        "x": u * u.diff(x) + v * u.diff(y) + p.diff(x) - laplacian(u) / reynolds,
        "y": u * v.diff(x) + v * v.diff(y) + p.diff(y) - laplacian(v) / reynolds,
        "continuity": u.diff(x) + v.diff(y),
    },
    conditions={
        "walls": kp.Condition([u - exact[u], v - exact[v]], on="boundary"),
        "outlet": kp.Condition(p - exact[p], on={x: 1}),
    },
    reference=exact,
)

model = kp.PINNModel(problem, kp.networks.MLP(units=25, depth=3, outputs=3), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 2000)))
model.fit(steps_per_epoch=2000, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
model.fit(steps_per_epoch=500, epochs=3, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, sp.sqrt(u**2 + v**2), label="speed")
figure.savefig("kovasznay.png")
