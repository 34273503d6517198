"""A heated hole in an L, with k(T) from five sensors.

The conductivity depends on temperature, k = 20 (1 + b T). The unknown b is identified
from five thermocouples with errors of about 0.5 K. One end is cold, one is cooled by
air, and all other sides are insulated. The equation is divided by k; otherwise a small
k would make any residual small.

The flux is unbounded at the re-entrant corner, so the network receives features of it
(`layers.Features`). If the sides of such a corner have a fixed temperature, the error
there can be large although the L2 error is small. The reference is by finite elements,
with b = 5e-3. To adapt it, change the shape, the sides, k(T), and the table of sensors.
"""

import keras
import numpy as np
import sympy as sp

import keraspinn as kp

x, y = sp.symbols("x y")  # metres
T = sp.Function("T")(x, y)  # kelvin above the surroundings
b = kp.Parameter("b", initial=1.0) / 1000  # 1/K; the unknown is about 1
k, h = 20 * (1 + b * T), 50  # W/(m K), W/(m² K)

hole = kp.geometry.Disk((0.5, 0.4), 0.2)
corners = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
plate = kp.geometry.Polygon(corners, coordinates=(x, y)) - hole
outward = k * kp.normal_derivative(T, plate)
sensors = [[0.15, 0.15], [0.9, 0.6], [1.4, 0.5], [0.5, 1.0], [0.4, 1.6]]
table = np.loadtxt("l_shape.csv", delimiter=",")  # in the folder you run it in

problem = kp.Problem(
    plate,
    {"heat": ((k * T.diff(x)).diff(x) + (k * T.diff(y)).diff(y)) / k},
    {
        "heated": kp.Condition(sp.Eq(T, 150), on=hole),
        "cold": kp.Condition(T, on={x: 2}),
        "cooled": kp.Condition(sp.Eq(outward, -h * T), on={y: 2}),
        "insulated": kp.Condition(outward, on=[{x: 0}, {y: 0}, {x: 1}, {y: 1}]),
        "sensors": kp.Data(sensors, {T: [147.8, 117.3, 70.2, 109.9, 69.4]}),
    },
    reference=kp.Reference(table[:, :2], {T: table[:, 2]}),
)

keras.utils.set_random_seed(0)
model = kp.PINNModel(problem, kp.networks.MLP(units=30, depth=3), seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 3000)))
annealing = kp.callbacks.LearningRateAnnealing()
model.fit(steps_per_epoch=3000, epochs=1, callbacks=[annealing], verbose=2)
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
history = model.fit(steps_per_epoch=500, epochs=6, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
error["b"] = abs(history.history["b"][-1] / 5 - 1)
print(error, model.parameter_deviation(), kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, T, label="temperature, K")
figure.axes[0].set(xlabel="x in m", ylabel="y in m")
figure.savefig("l_shape.png")
