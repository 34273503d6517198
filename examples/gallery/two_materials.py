"""A fibre in a matrix that conducts ten times less.

Each material has a field and a network of its own: `Equation(..., on=fibre)` holds in a
part of the domain, and an interface condition couples the two. `by_region` combines
both into one temperature, for errors, integrals and plots. The exact solution is
uniform inside, and a uniform flux with a dipole outside.

To adapt it, change the shapes, the conductivities and the outer condition; `flux` may
be any expression.
"""

import keras
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
x, y = sp.symbols("x y")
T1, T2 = (sp.Function(name)(x, y) for name in ("T1", "T2"))
a, k1, k2 = sp.Rational(1, 2), 10, 1

square = kp.geometry.Box({x: (-1, 1), y: (-1, 1)})
fibre = kp.geometry.Disk((0, 0), radius=a, coordinates=(x, y))
matrix = square - fibre
T = kp.by_region({fibre: T1, matrix: T2})
inside = sp.Rational(2 * k2, k1 + k2) * x
outside = x * (1 - sp.Rational(k1 - k2, k1 + k2) * a**2 / (x**2 + y**2))

flux = [[-k1 * T1.diff(s) for s in (x, y)], [-k2 * T2.diff(s) for s in (x, y)]]
problem = kp.Problem(
    domain=square,
    equations={
        "fibre": kp.Equation(k1 * (T1.diff(x, 2) + T1.diff(y, 2)), on=fibre),
        "matrix": kp.Equation(k2 * (T2.diff(x, 2) + T2.diff(y, 2)), on=matrix),
    },
    conditions={
        "interface": kp.interface_condition(fibre, matrix, (T1, T2), flux),
        "sides": kp.Condition(sp.Eq(T2, outside), on="boundary"),
    },
    reference={T: kp.by_region({fibre: inside, matrix: outside})},
)

networks = {T1: kp.networks.MLP(15, 2), T2: kp.networks.MLP(20, 2)}
model = kp.PINNModel(problem, networks, seed=0).astype("float64")
model.compile(kp.optimizers.SSBroyden())
model.fit(steps_per_epoch=500, epochs=6, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, model.integrate(T**2), kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, T, label="temperature")
figure.savefig("two_materials.png")
