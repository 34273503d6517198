"""Flow behind a grid for every Reynolds number at once.

The Reynolds number is a coordinate in `parameters=`, which has no boundary. One network
represents the flow for all its values, and conditions may depend on it. The error is
over all values; `plot.field(..., at={reynolds: 20})` draws one of them.
To adapt it, make any number of your problem a coordinate in `parameters=`.
"""

import keras
import matplotlib.pyplot as plt
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, y, reynolds = sp.symbols("x y Re")
u, v, p = (sp.Function(name)(x, y, reynolds) for name in "uvp")
rate = reynolds / 2 - sp.sqrt(reynolds**2 / 4 + 4 * sp.pi**2)
exact = {
    u: 1 - sp.exp(rate * x) * sp.cos(2 * sp.pi * y),
    v: rate / (2 * sp.pi) * sp.exp(rate * x) * sp.sin(2 * sp.pi * y),
    p: (1 - sp.exp(2 * rate * x)) / 2,
}


def laplacian(f):
    return f.diff(x, 2) + f.diff(y, 2)


box = {x: (-0.5, 1), y: (-0.5, 1.5)}
problem = kp.Problem(
    domain=kp.geometry.Box(box, parameters={reynolds: (20, 60)}),
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

model = kp.PINNModel(problem, kp.networks.MLP(units=30, depth=3, outputs=3), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 2000)))
model.fit(steps_per_epoch=2000, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
model.fit(steps_per_epoch=500, epochs=5, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = plt.figure(figsize=(7, 3.6), layout="constrained")
for part, value in zip(figure.subfigures(1, 2), (20, 60), strict=True):
    speed = sp.sqrt(u**2 + v**2)
    kp.plot.field(model, speed, at={reynolds: value}, label="speed", figure=part)
    part.axes[0].collections[0].set_clim(0, 3.5)  # one scale for both
figure.savefig("parametric_reynolds.png")
