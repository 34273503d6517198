"""An eigenvalue: the ground state of a particle in x⁴.

The energy is an unknown `Parameter` of Schrödinger's equation. Any multiple of ψ
satisfies the equation, so the problem needs one more value, here at an inner point. The
energy converges to 1.0604 from an initial value of 0.5, and also from 7.

To adapt it, change the potential x⁴, and make the interval wide enough that ψ vanishes
at its ends.
"""

import keras
import numpy as np
import sympy as sp
from scipy.linalg import eigh_tridiagonal

import keraspinn as kp

keras.utils.set_random_seed(0)
x = sp.Symbol("x")
psi = sp.Function("psi")(x)
energy = kp.Parameter("energy", initial=0.5)

nodes, step = np.linspace(-4, 4, 8001, retstep=True)
neighbours = np.full(8000, -1 / step**2)
lowest, states = eigh_tridiagonal(
    2 / step**2 + nodes**4, neighbours, select="i", select_range=(0, 0)
)
state = states[:, 0] / states[4000, 0]

problem = kp.Problem(
    domain=kp.geometry.Box({x: (-4, 4)}),
    equations={"schroedinger": sp.Eq(-psi.diff(x, 2) + x**4 * psi, energy * psi)},
    conditions={
        "far": kp.Condition(psi, on="boundary"),
        "norm": kp.Condition(sp.Eq(psi, 1), on={x: 0}),
    },
    reference=kp.Reference(nodes[::80, None], {psi: state[::80]}),
)

model = kp.PINNModel(problem, kp.networks.MLP(units=20, depth=3), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 2000)))
model.fit(steps_per_epoch=2000, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
history = model.fit(steps_per_epoch=500, epochs=2, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
error["energy"] = abs(float(history.history["energy"][-1] / lowest[0]) - 1)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, psi, label="ψ")
figure.savefig("eigenvalue.png")
