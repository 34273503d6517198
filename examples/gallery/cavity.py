"""Flow under a sliding lid.

A sliding lid drives the flow in a square cavity, one of the paper's problems in
`kp.problems`. Its fields are a streamfunction, which conserves mass, and a pressure.
The lid's speed jumps in two corners, so the equations have a factor w that vanishes
there. The reference is a finite-difference solution. The remaining error is at these
corners.

To adapt it, change `reynolds=`, or declare the equations yourself as on the page of
Kovasznay's flow.
"""

import keras
import sympy as sp

import keraspinn as kp

keras.utils.set_random_seed(0)
problem = kp.problems.lid_driven_cavity(reynolds=100)
psi = next(field for field in problem.fields if field.func.__name__ == "psi")
x, y = psi.args
network = kp.networks.MLP(units=30, depth=3, outputs=2)
model = kp.PINNModel(problem, network, seed=0)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 2000)))
annealing = kp.callbacks.LearningRateAnnealing()
model.fit(steps_per_epoch=2000, epochs=1, verbose=2, callbacks=[annealing])
model = model.astype("float64")
model.compile(kp.optimizers.SSBroyden())
sizes = {"residual": 3000, "boundary": 400}
model.fit(batch_size=sizes, steps_per_epoch=500, epochs=6, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
speed = sp.sqrt(psi.diff(x) ** 2 + psi.diff(y) ** 2)
figure = kp.plot.field(model, speed, label="speed")
figure.savefig("cavity.png")
