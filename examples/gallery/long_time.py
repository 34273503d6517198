"""Hares and lynxes over twenty years: a long time.

The Lotka–Volterra equations are solved over two cycles. `kp.march` trains ten windows
of two years with a small network, each from the end of the one before. Two cycles also
fit one window; longer times do not. The reference is SciPy's.

To adapt it, declare your equations in time, in your units, and choose about one window
for each characteristic time; see the guide to long times.
"""

import keras
import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

import keraspinn as kp

keras.utils.set_random_seed(0)
t = sp.Symbol("t")
hare, lynx = (sp.Function(name)(t) for name in ("hare", "lynx"))
end = 20  # years
births, catches, food, deaths = 0.55, 2.8e-5, 2.6e-5, 0.84


def rates(t, y):
    hare, lynx = y
    return [births * hare - catches * hare * lynx, food * hare * lynx - deaths * lynx]


times = np.linspace(0, end, 401)
exact = solve_ivp(rates, (0, end), [3e4, 4e3], "DOP853", times, rtol=1e-12, atol=1e-6).y

of_hares, of_lynxes = rates(t, (hare, lynx))
problem = kp.Problem(
    domain=kp.geometry.Box(time={t: (0, end)}),
    equations={
        "hares": sp.Eq(hare.diff(t), of_hares),
        "lynxes": sp.Eq(lynx.diff(t), of_lynxes),
    },
    conditions={
        "initial": kp.Condition([sp.Eq(hare, 3e4), sp.Eq(lynx, 4e3)], on="initial")
    },
    reference=kp.Reference(times[:, None], {hare: exact[0], lynx: exact[1]}),
)

recipe = kp.recipes.OneStage(steps=100, points=500)
network = kp.networks.MLP(units=20, depth=2, outputs=2)
model = kp.march(problem, network, windows=10, recipe=recipe)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.solution(model, "lynx")
for panel in figure.axes:
    panel.set(xlabel="t in years")
figure.savefig("long_time.png")
