"""A cantilever in plane stress.

A steel beam, four times as long as it is deep, carries a shear force at its end. The
end has Timoshenko's tractions, the clamp his displacements. The top and bottom faces
are free: tractions, not stresses, are zero.

To adapt it, prefer the energy, as in the bracket, unless tractions and displacements at
the ends are known as here.
"""

import keras
import numpy as np
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, y = sp.symbols("x y")
u, v = sp.Function("u")(x, y), sp.Function("v")(x, y)
E, nu, force, length, depth = 210e9, 0.3, 1e6, 0.4, 0.1

along, across = u.diff(x), v.diff(y)
sxx = E / (1 - nu**2) * (along + nu * across)
syy = E / (1 - nu**2) * (across + nu * along)
sxy = E / (2 * (1 + nu)) * (u.diff(y) + v.diff(x))

inertia = depth**3 / 12
bend = force / (6 * E * inertia)
gap = y**2 - depth**2 / 4
exact_u = -bend * y * ((6 * length - 3 * x) * x + (2 + nu) * gap)
exact_v = 3 * nu * y**2 * (length - x) + (4 + 5 * nu) * depth**2 * x / 4
exact_v = bend * (exact_v + (3 * length - x) * x**2)

problem = kp.Problem(
    domain=kp.geometry.Box({x: (0, length), y: (-depth / 2, depth / 2)}),
    equations={"x": sxx.diff(x) + sxy.diff(y), "y": sxy.diff(x) + syy.diff(y)},
    conditions={
        "clamp": kp.Condition([sp.Eq(u, exact_u), sp.Eq(v, exact_v)], on={x: 0}),
        "free": kp.Condition([sxy, syy], on=[{y: -depth / 2}, {y: depth / 2}]),
        "end": kp.Condition([sxx, sxy + force / (2 * inertia) * gap], on={x: length}),
    },
    reference={u: exact_u, v: exact_v},
)

model = kp.PINNModel(problem, kp.networks.MLP(units=25, depth=3, outputs=2), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 1500)))
model.fit(steps_per_epoch=1500, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
sizes = {"residual": 1000, "clamp": 100, "free": 100, "end": 100}
model.fit(batch_size=sizes, steps_per_epoch=500, epochs=8, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
tip = float(model.predict_expression(v, np.array([[length, 0.0]]))[0])
error["deflection"] = abs(tip / float(exact_v.subs({x: length, y: 0})) - 1)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, sxx / 1e6, label="bending stress in MPa")
figure.axes[0].set(xlabel="x in m", ylabel="y in m")
figure.savefig("cantilever.png")
