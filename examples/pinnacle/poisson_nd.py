"""Poisson in five dimensions.

The solution is a sum of sines in a cube of five dimensions. Its values on the faces are
given.
"""

import keras
import sympy as sp

import keraspinn as kp

seed, adam, second = 0, 2000, 1000

axes = sp.symbols("x1:6")
u = sp.Function("u")(*axes)
exact = sum(sp.sin(sp.pi / 2 * x) for x in axes)

problem = kp.Problem(
    domain=kp.geometry.Box(dict.fromkeys(axes, (0, 1))),
    equations={"poisson": sum(u.diff(x, 2) for x in axes) + sp.pi**2 / 4 * exact},
    conditions={
        "faces": kp.Condition(sp.Eq(u, exact), on="boundary", weight=100),
    },
    reference={u: exact},
)

model = kp.PINNModel(problem, kp.networks.MLP(units=30, depth=3), seed=seed)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, adam)))
model.fit(steps_per_epoch=adam, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
faces = {"residual": 3000, "faces": 1000}
model.fit(batch_size=faces, steps_per_epoch=second // 2, epochs=2, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error)
figure = kp.plot.field(model, u, at=dict.fromkeys(axes[2:], 0.5), label="u")
