"""Heat, inverse.

A conductivity a(x, y) from 2,500 values of u(x, y, t) at random points with noise, a
tenth of the largest value, and from a on the boundary. Data weigh a hundred times as
much: equations that are satisfied before them lead to another a. A second stage would
fit the noise.
"""

import keras

import keraspinn as kp
from examples.public_examples.pinnacle import heat_inverse

seed, adam, second = 0, 16000, 0
keras.utils.set_random_seed(seed)

problem = heat_inverse(weight=100)
a, u = problem.fields

networks = {f: kp.networks.MLP(units=20, depth=2) for f in (a, u)}
model = kp.PINNModel(problem, networks, seed=seed)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, adam)))
model.fit(steps_per_epoch=adam, epochs=1, verbose=2)

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error)
figure = kp.plot.field(model, a, at={problem.domain.coordinates[-1]: 0}, label="a")
