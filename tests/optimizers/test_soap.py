"""SOAP, compared with NumPy and used as an optimizer of Keras."""

import keras
import numpy as np
import pytest
from keras import ops

from keraspinn.optimizers import SOAP

SHAPES = [(4, 3), (3,), (5, 1), (3, 2, 2)]
RATE = 0.01


class Reference:
    """Algorithms 3 and 4 of arXiv 2409.11321 on one array, in double precision."""

    def __init__(self, weights, max_dimension=1000, beta_1=0.9, beta_2=0.8, freq=3):
        self.weights, self.betas, self.freq = weights, (beta_1, beta_2), freq
        self.count, self.m, self.v = 0, 0 * weights, 0 * weights
        shape = weights.shape if weights.ndim > 1 else ()
        self.axes = [n for n, d in enumerate(shape) if 1 < d <= max_dimension]
        self.q = {n: np.eye(shape[n]) for n in self.axes}
        self.l = {n: np.zeros((shape[n],) * 2) for n in self.axes}

    def turn(self, x, back=False):
        for n in self.axes:
            q = self.q[n] if back else self.q[n].T
            x = np.moveaxis(np.tensordot(q, x, axes=(1, n)), 0, n)
        return x

    def step(self, g):
        self.count += 1
        b1, b2 = self.betas
        self.m = b1 * self.m + (1 - b1) * g
        self.v = b2 * self.v + (1 - b2) * self.turn(g) ** 2
        mean = self.turn(self.m) / (1 - b1**self.count)
        size = np.sqrt(self.v / (1 - b2**self.count))
        self.weights = self.weights - RATE * self.turn(mean / (size + 1e-8), back=True)
        for n in self.axes:
            flat = np.moveaxis(g, n, 0).reshape(g.shape[n], -1)
            self.l[n] = b2 * self.l[n] + (1 - b2) * flat @ flat.T
            if (self.count - 1) % self.freq == 0:
                shift = 1e-6 * np.mean(np.diag(self.l[n]))
                square = self.l[n] + shift * np.eye(g.shape[n])
                self.q[n] = np.linalg.qr(square @ self.q[n])[0]


def optimizer(**arguments):
    return SOAP(RATE, beta_1=0.9, beta_2=0.8, update_freq=3, **arguments)


@pytest.mark.parametrize("max_dimension", [1000, 3])
def test_steps_are_those_of_the_algorithm(max_dimension):
    rng = np.random.default_rng(0)
    start = [rng.standard_normal(shape) for shape in SHAPES]
    variables = [keras.Variable(value, dtype="float64") for value in start]
    references = [Reference(value, max_dimension) for value in start]
    ours = optimizer(max_dimension=max_dimension)
    for _ in range(12):
        gradients = [rng.standard_normal(shape) for shape in SHAPES]
        ours.apply([ops.convert_to_tensor(g) for g in gradients], variables)
        for reference, gradient in zip(references, gradients, strict=True):
            reference.step(gradient)
    for variable, reference in zip(variables, references, strict=True):
        np.testing.assert_allclose(variable, reference.weights, rtol=1e-6, atol=1e-7)


@pytest.mark.slow
def test_bases_converge_to_eigenvectors():
    rng = np.random.default_rng(0)
    gradient = ops.convert_to_tensor(
        rng.standard_normal((4, 4)) * [1.0, 4.0, 20.0, 100.0], "float64"
    )
    variable = keras.Variable(np.zeros((4, 4)), dtype="float64")
    ours = SOAP(RATE, update_freq=1)
    for _ in range(60):
        ours.apply([gradient], [variable])
    (basis,) = [v for v in ours.variables if v.name.endswith("basis_1")]
    turned = np.transpose(basis) @ np.transpose(gradient) @ gradient @ basis
    np.testing.assert_allclose(turned, np.diag(np.diag(turned)), atol=1e-6)


def data():
    x = np.linspace(-1, 1, 64, dtype="float32")[:, None]
    return x, np.sin(3 * x)


def model(**arguments):
    keras.utils.set_random_seed(0)
    network = keras.Sequential(
        [keras.Input((1,)), keras.layers.Dense(16, "tanh"), keras.layers.Dense(1)]
    )
    network.compile(optimizer(**arguments), loss="mse", jit_compile=True)
    return network


def fit(network, epochs, steps=1):
    repeated = (np.tile(values, (steps, 1)) for values in data())
    return network.fit(
        *repeated, batch_size=64, epochs=epochs, shuffle=False, verbose=0
    ).history["loss"]


@pytest.mark.slow
def test_model_trains_with_soap():
    losses = fit(model(), 20, steps=20)
    assert losses[-1] < 0.05 * losses[0]


@pytest.mark.slow
def test_resume_is_bit_exact(tmp_path):
    uninterrupted = model()
    fit(uninterrupted, 11)
    half = model()
    fit(half, 7)
    half.save(tmp_path / "half.keras")
    resumed = keras.saving.load_model(tmp_path / "half.keras")
    assert type(resumed.optimizer) is SOAP
    fit(resumed, 4)
    for expected, actual in zip(
        uninterrupted.get_weights(), resumed.get_weights(), strict=True
    ):
        np.testing.assert_array_equal(expected, actual)


def test_weight_decay_equals_that_of_keras():
    variable = keras.Variable(np.ones((2, 2)))
    ours = optimizer(weight_decay=0.5)
    ours.apply([ops.zeros((2, 2))], [variable])
    np.testing.assert_allclose(variable, 1 - 0.5 * RATE)


def test_config_round_trip():
    ours = optimizer(weight_decay=0.1, max_dimension=7, epsilon=1e-6, clipnorm=1.0)
    again = keras.optimizers.deserialize(keras.optimizers.serialize(ours))
    assert type(again) is SOAP and again.get_config() == ours.get_config()
    assert again.get_config()["max_dimension"] == 7


@pytest.mark.parametrize(
    "arguments",
    [
        {"update_freq": 0},
        {"max_dimension": 2.5},
    ],
)
def test_rejects_arguments_out_of_range(arguments):
    (name,) = arguments
    with pytest.raises(ValueError, match=name):
        SOAP(**arguments)
