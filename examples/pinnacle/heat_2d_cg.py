"""Heat 2d-CG.

A plate with seventeen holes is heated by these and cooled at its edge. All conditions
are Robin conditions: the inward flux is 5 − u, 1 − u and 0.1 − u. The solution is
symmetric in x and in y, so the network is a function of x² and y².
"""

import keras
import sympy as sp

import keraspinn as kp
from examples.pinnacle.common import LARGE, SMALL, table

seed, adam, second = 0, 3000, 4000
units, depth = 30, 4

x, y, t = sp.symbols("x y t")
u = sp.Function("u")(x, y, t)
large = sum((kp.geometry.Disk(c, 1) for c in LARGE[1:]), kp.geometry.Disk(LARGE[0], 1))
first, *others = (kp.geometry.Disk(centre, 0.4) for centre in SMALL)
small = sum(others, first)
plate = kp.geometry.Box({x: (-8, 8), y: (-12, 12)}) - large - small
domain = plate * kp.geometry.Box(time={t: (0, 3)})
edge = [{x: -8}, {x: 8}, {y: -12}, {y: 12}]
flux = kp.normal_derivative(u, domain)
points, values = table("heat_2d_cg")

problem = kp.Problem(
    domain=domain,
    equations={"heat": u.diff(t) - u.diff(x, 2) - u.diff(y, 2)},
    conditions={
        "initial": kp.Condition(u, on="initial", weight=10),
        "large": kp.Condition(sp.Eq(flux, 5 - u), on=large, weight=10),
        "small": kp.Condition(sp.Eq(flux, 1 - u), on=small, weight=10),
        "edge": kp.Condition(sp.Eq(flux, 0.1 - u), on=edge, weight=10),
    },
    reference=kp.Reference(points, {u: values}),
)

keras.utils.set_random_seed(seed)
inputs = keras.Input((3,))
across, along, time = (inputs[:, k : k + 1] for k in range(3))
hidden = keras.layers.Concatenate()(
    [across**2 / 32 - 1, along**2 / 72 - 1, time / 1.5 - 1]
)
for _ in range(depth):
    hidden = keras.layers.Dense(units, "tanh")(hidden)
network = keras.Model(inputs, keras.layers.Dense(1)(hidden))
model = kp.PINNModel(problem, network, seed=seed)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, adam)))
model.fit(steps_per_epoch=adam, epochs=1, verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
sizes = {"residual": 10000, "initial": 1000, "large": 2000, "small": 1000, "edge": 300}
model.fit(batch_size=sizes, steps_per_epoch=second // 10, epochs=10, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error)
figure = kp.plot.field(model, u, at={t: 3}, label="temperature")
