"""Heat in five dimensions.

The domain is a ball of five dimensions. The heat flux through its surface is given.
"""

import keras
import sympy as sp

import keraspinn as kp

seed, adam, second = 0, 2000, 3000

*axes, t = sp.symbols("x1:6 t")
u = sp.Function("u")(*axes, t)
r2 = sum(x**2 for x in axes)
exact = sp.exp(r2 / 2 + t)
ball = kp.geometry.Ball((0,) * 5, 1, axes) * kp.geometry.Box(time={t: (0, 1)})

problem = kp.Problem(
    domain=ball,
    equations={
        "heat": sum(u.diff(x, 2) for x in axes) / 5 - r2 / 5 * exact - u.diff(t)
    },
    conditions={
        "flux": kp.Condition(
            sp.Eq(kp.normal_derivative(u, ball), exact), on="boundary", weight=10
        ),
        "initial": kp.Condition(sp.Eq(u, exact.subs(t, 0)), on="initial", weight=100),
    },
    reference={u: exact},
)

model = kp.PINNModel(problem, kp.networks.MLP(units=30, depth=3), seed=seed)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, adam)))
model.fit(steps_per_epoch=adam, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
sizes = {"residual": 3000, "flux": 1000, "initial": 1000}
model.fit(batch_size=sizes, steps_per_epoch=second // 6, epochs=6, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error)
cut = {t: 0.5} | dict.fromkeys(axes[2:], 0)
figure = kp.plot.field(model, u, at=cut, label="u")
