"""Poisson 2d-MS.

The equation −∇·(a ∇u) = f in 25 blocks with different a and f, and u_n = −u at the
sides, as in PINNacle's paper. Its program has a Δu + f = 0 instead: there u_n is
continuous between blocks, here the flux a u_n.
"""

import keras
import sympy as sp

import keraspinn as kp
from examples.pinnacle.common import table

seed, adam, second = 0, 0, 80

x, y = sp.symbols("x y")
u = sp.Function("u")(x, y)
corners, *numbers = table("poisson_2d_ms_blocks")
conductivity, source = [], []
for (left, low), a, mean, wave in zip(corners, *numbers, strict=True):
    block = (x <= left + 4) & (y <= low + 4)
    bump = sp.sin(sp.pi * (x - left) / 4) * sp.sin(sp.pi * (y - low) / 4)
    conductivity.append((a, block))
    source.append((mean + wave * bump, block))
a, f = (sp.Piecewise(*pairs) for pairs in (conductivity, source))
stored = a * (u.diff(x) ** 2 + u.diff(y) ** 2) / 2
points, values = table("poisson_2d_ms")

problem = kp.Problem(
    domain=kp.geometry.Box({x: (-10, 10), y: (-10, 10)}),
    energy=kp.integral(stored - f * u) + kp.integral(a * u**2 / 2, over="boundary"),
    reference=kp.Reference(points, {u: values}),
)

keras.utils.set_random_seed(seed)
model = kp.PINNModel(problem, kp.networks.MLP(units=30, depth=2), seed=seed)
model = model.astype("float64")
model.compile(kp.optimizers.GaussNewton())
model.fit(batch_size=8192, steps_per_epoch=second // 10, epochs=10, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error)
figure = kp.plot.field(model, u, label="u")
