"""A heated plate with a round hole.

Heat flows through a plate and past an insulated hole. Shapes combine with `+`, `-` and
`&`. `on=` accepts a shape: the part of the boundary on it. The rim of the hole is
insulated, by a condition on the outward normal derivative. The exact solution is a
uniform flux past a hole, x (1 + a²/r²).

To adapt it, combine other shapes, and give each part of the boundary its condition.
"""

import keras
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, y = sp.symbols("x y")
u = sp.Function("u")(x, y)
a = 0.25
exact = x * (1 + a**2 / (x**2 + y**2))

hole = kp.geometry.Disk((0, 0), a)
plate = kp.geometry.Box({x: (-1, 1), y: (-0.5, 0.5)}) - hole
sides = [{x: -1}, {x: 1}, {y: -0.5}, {y: 0.5}]
problem = kp.Problem(
    domain=plate,
    equations={"conduction": u.diff(x, 2) + u.diff(y, 2)},
    conditions={
        "rim": kp.Condition(kp.normal_derivative(u, plate), on=hole),
        "sides": kp.Condition(sp.Eq(u, exact), on=sides),
    },
    reference={u: exact},
)

model = kp.PINNModel(problem, kp.networks.MLP(units=20, depth=3), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 2000)))
model.fit(steps_per_epoch=2000, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
model.fit(steps_per_epoch=500, epochs=2, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, u, label="temperature")
figure.savefig("plate_with_hole.png")
