"""Poisson, inverse.

A conductivity a(x, y) from 2,500 values of u with noise, a tenth of its largest value,
and from a on the boundary. Data weigh ten times as much: equations that are satisfied
before them lead to another a. A second stage would fit the noise.
"""

import keras

import keraspinn as kp
from examples.public_examples.pinnacle import poisson_inverse

seed, adam, second = 0, 4000, 0
keras.utils.set_random_seed(seed)

problem = poisson_inverse(weight=10)

network = kp.networks.MLP(units=20, depth=2, outputs=2)
model = kp.PINNModel(problem, network, seed=seed)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, adam)))
model.fit(steps_per_epoch=adam, epochs=1, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error)
figure = kp.plot.field(model, problem.fields[0], label="a")
