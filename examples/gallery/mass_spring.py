"""Stiffness and damping of a mass on a spring, from a CSV file.

A mass of 2 kg is pulled by 50 mm and released. The table holds its position at 100
times, with noise. `solve` trains until two standard deviations of both parameters are
within the tolerance, or says why not. The reference is SciPy's fit of the closed form.

To adapt it, write your file and its columns, and the equation of motion. In pandas,
`pandas.read_csv("mass_spring.csv").to_numpy().T` are the columns. Choose the factors of
the parameters so that their values are about 1 to 100.
"""

import numpy as np
import sympy as sp
from scipy.optimize import curve_fit

import keraspinn as kp

times, measured = np.loadtxt("mass_spring.csv", delimiter=",", skiprows=1).T  # s, m
mass, pull = 2.0, 0.05  # kg, m

t = sp.Symbol("t")
q = sp.Function("q")(t)
k, d = kp.Parameter("k", initial=30.0), kp.Parameter("d", initial=1.0)  # N/m, N s/m
problem = kp.Problem(
    kp.geometry.Box(time={t: (0, 5)}),
    {"motion": sp.Eq(mass * q.diff(t, 2) + d * q.diff(t) + k * q, 0)},
    {
        "released": kp.Condition([sp.Eq(q, pull), q.diff(t)], on="initial"),
        "sensor": kp.Data(times[:, None], {q: measured}),
    },
)
solution = kp.solve(problem, tolerance=2e-2, max_time=300, seed=0)
print(solution)


def closed_form(t, k, d):
    rate = d / (2 * mass)
    omega = np.sqrt(k / mass - rate**2)
    wave = np.cos(omega * t) + rate / omega * np.sin(omega * t)
    return pull * np.exp(-rate * t) * wave


fitted, _ = curve_fit(closed_form, times, measured, p0=(30.0, 1.0))
print(f"fit of the closed form: k = {fitted[0]:.5g}, d = {fitted[1]:.5g}")

values = [solution.parameters[name][0] for name in ("k", "d")]
error = dict(zip(("k", "d"), abs(np.array(values) / fitted - 1), strict=True))
figure = kp.plot.field(solution.model, q, label="position in m")
figure.axes[0].plot(times, measured, ".", color="0.6")
figure.axes[0].set(xlabel="t in s")
figure.savefig("mass_spring.png")
