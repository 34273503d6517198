"""A boundary layer for every Péclet number at once.

A coordinate in `parameters=` makes the problem parametric. It has no boundary, and the
network learns the solution for all its values. `plot.field(..., at={peclet: 20})` draws
one of them.

To adapt it, make any number of the equation a coordinate in `parameters=`, with its
range.
"""

import keras
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, peclet = sp.symbols("x Pe")
u = sp.Function("u")(x, peclet)
exact = (sp.exp(peclet * x) - 1) / (sp.exp(peclet) - 1)

problem = kp.Problem(
    domain=kp.geometry.Box({x: (0, 1)}, parameters={peclet: (1, 20)}),
    equations={"transport": sp.Eq(u.diff(x), u.diff(x, 2) / peclet)},
    conditions={
        "inlet": kp.Condition(u, on={x: 0}),
        "outlet": kp.Condition(sp.Eq(u, 1), on={x: 1}),
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
figure = kp.plot.field(model, u)
figure.savefig("parametric_layer.png")
