"""Wave 1d-C.

Two standing waves, u_tt = 4 u_xx; the fast one has four periods. Boundary and initial
conditions are hard constraints.
"""

import keras
import sympy as sp

import keraspinn as kp

seed, adam, second = 0, 2000, 3000

x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)
pi = sp.pi
exact = sp.sin(pi * x) * sp.cos(2 * pi * t)
exact += sp.sin(4 * pi * x) * sp.cos(8 * pi * t) / 2

problem = kp.Problem(
    domain=kp.geometry.Box({x: (0, 1)}, time={t: (0, 1)}),
    equations={"wave": sp.Eq(u.diff(t, 2), 4 * u.diff(x, 2))},
    conditions={
        "ends": kp.Condition(u, on="boundary", hard=True),
        "initial": kp.Condition(
            [sp.Eq(u, exact.subs(t, 0)), u.diff(t)], on="initial", hard=True
        ),
    },
    reference={u: exact},
)

model = kp.PINNModel(problem, kp.networks.MLP(units=30, depth=4), seed=seed)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, adam)))
model.fit(steps_per_epoch=adam, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
model.fit(steps_per_epoch=second // 2, epochs=2, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error)
figure = kp.plot.field(model, u, label="u")
