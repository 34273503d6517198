"""Separation of two phases: the Allen–Cahn equation.

The field u tends to 1 or −1, whichever is nearer, with fronts in between. After Adam
the losses are small and the answer is wrong. The second stage converges to the
reference, a Fourier series.

To adapt it, change the reaction, the width 0.001 of the fronts, and the initial
condition; for later times use `kp.march`.
"""

import keras
import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)
width = 1e-3
initial = x**2 * sp.cos(sp.pi * x)
nodes, moments = np.arange(512) / 256 - 1, np.linspace(0, 1, 21)
waves = np.pi * np.fft.rfftfreq(512, 1 / 512)


def slope(moment, values):
    bent = np.fft.irfft(-(waves**2) * np.fft.rfft(values))
    return width * bent + 5 * (values - values**3)


values = nodes**2 * np.cos(np.pi * nodes)
values = solve_ivp(slope, (0, 1), values, "LSODA", moments, rtol=1e-9, atol=1e-11).y
points = np.stack(np.meshgrid(nodes, moments, indexing="ij"), axis=-1).reshape(-1, 2)
problem = kp.Problem(
    domain=kp.geometry.Box({x: (-1, 1)}, time={t: (0, 1)}, periodic=[x]),
    equations={"allen_cahn": u.diff(t) - width * u.diff(x, 2) - 5 * (u - u**3)},
    conditions={"initial": kp.Condition(sp.Eq(u, initial), on="initial")},
    reference=kp.Reference(points, {u: values.ravel()}),
)

model = kp.PINNModel(problem, kp.networks.MLP(units=30, depth=3), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 2000)))
model.fit(steps_per_epoch=2000, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
sizes = {"residual": 3000, "initial": 200}
model.fit(batch_size=sizes, steps_per_epoch=500, epochs=8, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, u)
figure.savefig("allen_cahn.png")
