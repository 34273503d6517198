"""A thin plate in SI units, by Mindlin's theory.

A thin plate carries a load. Shear forces are a stiffness times the small difference of
slope and rotation, S (∇w + φ). For a thickness of 1 % of the width these large terms
nearly cancel, and training fails. With the forces as fields, nothing large cancels.

To adapt it, change thickness, load and supports.
"""

import keras
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, y = sp.symbols("x y")
w, rx, ry, qx, qy = (sp.Function(n)(x, y) for n in ("w", "rx", "ry", "qx", "qy"))
width, thickness, young, poisson, load = 1.0, 0.01, 210e9, 0.3, 1e4  # metres, pascals
bending = young * thickness**3 / 12 / (1 - poisson**2)
shear = 5 / 6 * young / 2 / (1 + poisson) * thickness

wave = sp.sin(sp.pi * x / width) * sp.sin(sp.pi * y / width)
square = 2 * sp.pi**2 / width**2
bent = load / (bending * square**2) * wave
exact = {w: bent + load / (shear * square) * wave, rx: -bent.diff(x), ry: -bent.diff(y)}
exact |= {qx: load / square * wave.diff(x), qy: load / square * wave.diff(y)}

mx = bending * (rx.diff(x) + poisson * ry.diff(y))
my = bending * (ry.diff(y) + poisson * rx.diff(x))
twist = bending * (1 - poisson) / 2 * (rx.diff(y) + ry.diff(x))
problem = kp.Problem(
    domain=kp.geometry.Box({x: (0, width), y: (0, width)}),
    equations={
        "forces": sp.Eq(qx.diff(x) + qy.diff(y), -load * wave),
        "moments_x": sp.Eq(mx.diff(x) + twist.diff(y), qx),
        "moments_y": sp.Eq(twist.diff(x) + my.diff(y), qy),
        "shear_x": sp.Eq(w.diff(x) + rx, qx / shear),
        "shear_y": sp.Eq(w.diff(y) + ry, qy / shear),
    },
    conditions={
        "supported": kp.Condition(w, on="boundary"),
        "left_right": kp.Condition([ry, mx], on=[{x: 0}, {x: width}]),
        "top_bottom": kp.Condition([rx, my], on=[{y: 0}, {y: width}]),
    },
    reference=exact,
)

model = kp.PINNModel(problem, kp.networks.MLP(30, 3, outputs=5), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 2000)))
model.fit(steps_per_epoch=2000, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
model.fit(batch_size=1000, steps_per_epoch=500, epochs=3, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, w, label="deflection in metres")
figure.axes[0].set(xlabel="x in m", ylabel="y in m")
figure.savefig("thin_plate.png")
