"""Stress at a hole, in pascals.

A quarter of a steel plate under 100 MPa has Kirsch's tractions on its outer edges. The
stress at the hole's top is 300 MPa. To adapt it, change the shape and the tractions.
"""

import keras
import numpy as np
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, y = sp.symbols("x y")
u, v = sp.Function("u")(x, y), sp.Function("v")(x, y)
E, nu, load, a, width = 210e9, 0.3, 100e6, 0.02, 0.08
sxx = E / (1 - nu**2) * (u.diff(x) + nu * v.diff(y))
syy = E / (1 - nu**2) * (v.diff(y) + nu * u.diff(x))
sxy = E / (2 * (1 + nu)) * (u.diff(y) + v.diff(x))

r2 = x**2 + y**2
q, cos2, sin2 = a**2 / r2, (x**2 - y**2) / r2, 2 * x * y / r2
radial = load / 2 * ((1 - q) + (1 - 4 * q + 3 * q**2) * cos2)
hoop = load / 2 * ((1 + q) - (1 + 3 * q**2) * cos2)
shear = -load / 2 * (1 + 2 * q - 3 * q**2) * sin2
mean, half = (radial + hoop) / 2, (radial - hoop) / 2
part = half * cos2 - shear * sin2
exact_xx, exact_yy, exact_xy = mean + part, mean - part, half * sin2 + shear * cos2

hole = kp.geometry.Disk((0, 0), a)
plate = kp.geometry.Box({x: (0, width), y: (0, width)}) - hole
nx, ny = plate.normal
problem = kp.Problem(
    domain=plate,
    equations={"x": sxx.diff(x) + sxy.diff(y), "y": sxy.diff(x) + syy.diff(y)},
    conditions={
        "left": kp.Condition([u, sxy], on={x: 0}),
        "below": kp.Condition([v, sxy], on={y: 0}),
        "right": kp.Condition([sxx - exact_xx, sxy - exact_xy], on={x: width}),
        "above": kp.Condition([syy - exact_yy, sxy - exact_xy], on={y: width}),
        "hole": kp.Condition([sxx * nx + sxy * ny, sxy * nx + syy * ny], on=hole),
    },
    reference={sxx: exact_xx},
)

model = kp.PINNModel(problem, kp.networks.MLP(units=25, depth=3, outputs=2), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 3000)))
model.fit(steps_per_epoch=3000, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
model.fit(steps_per_epoch=500, epochs=4, verbose=2)

top = model.predict_expression(sxx, np.array([[0.0, a]]))[0]
error = {"stress concentration": abs(float(top / load / 3) - 1)}
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, sxx / 1e6, label="tension in MPa")
figure.axes[0].set(xlabel="x in m", ylabel="y in m")
figure.savefig("kirsch.png")
