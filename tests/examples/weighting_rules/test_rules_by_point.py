"""Rules by point against their sources' formulas, in NumPy."""

import keras
import numpy as np
import pytest
from keras import ops

import keraspinn as kp
from examples.weighting_rules.rules import Fixed, ResidualAttention, SelfAdaptive
from examples.weighting_rules.rules.per_point import Weighted, held
from keraspinn.sampling import Batch

COUNT = 6
SQUARED = np.random.default_rng(0).uniform(size=(3, COUNT))


class Line:
    """`Place` whose points are the random numbers, with equal weights."""

    dtype = "float64"

    def draw(self, uniform):
        points = uniform((COUNT, 1))
        return self.drawn(points, points)

    def drawn(self, points, coordinates):
        return Batch(points, coordinates, 1 / COUNT)


def history(sampler):
    """Return the first multipliers, and the batches' weights in three steps."""

    def uniform(shape, number=0):
        numbers = np.random.default_rng(number).uniform(size=shape)
        return ops.convert_to_tensor(numbers)

    state = sampler.init(Line(), uniform)
    first, weights = ops.convert_to_numpy(state["multipliers"]), []
    for iteration in range(3):
        squared = ops.convert_to_tensor(SQUARED[iteration])
        batch, state = sampler.step(
            Line(),
            state,
            ops.convert_to_tensor(iteration),
            uniform,
            lambda _, squared=squared: squared,
        )
        weights.append(ops.convert_to_numpy(batch.weights))
    return first, np.array(weights)


def test_residual_attention():
    first, weights = history(ResidualAttention(gamma=0.9, eta=0.2))
    multipliers, expected = np.zeros(COUNT), []
    np.testing.assert_array_equal(first, multipliers)
    for residual in np.sqrt(SQUARED):
        multipliers = 0.9 * multipliers + 0.2 * residual / residual.max()
        expected.append(multipliers**2 / COUNT)
    np.testing.assert_allclose(weights, expected, rtol=1e-12)


def test_self_adaptive_weights_ascend_as_keras_adam_does():
    multipliers, weights = history(SelfAdaptive(0.05, beta_1=0.9, beta_2=0.99))
    assert (0 <= multipliers).all() and (multipliers < 1).all()
    variable = keras.Variable(multipliers, dtype="float64")
    adam = keras.optimizers.Adam(0.05, beta_1=0.9, beta_2=0.99)
    expected = []
    for squared in SQUARED:
        values = variable.numpy()
        expected.append(values**2 / COUNT)
        # The loss is the mean of (λ r)²; an ascent is a descent of its negative.
        adam.apply([ops.convert_to_tensor(-2 * values * squared / COUNT)], [variable])
    np.testing.assert_allclose(weights, expected, rtol=1e-5)


def trained(kind, seed=0):
    """Return a tiny model after three steps with a sampler for all terms."""
    problem = kp.problems.helmholtz()
    keras.utils.set_random_seed(seed)
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=seed)
    model.compile(keras.optimizers.Adam(1e-3))
    samplers = {name: kind() for name in problem.terms}
    model.fit(samplers, batch_size=8, steps_per_epoch=3, verbose=0)
    return model


@pytest.fixture(scope="module")
def models():
    return {kind: trained(kind) for kind in (Fixed, ResidualAttention, SelfAdaptive)}


def test_all_rules_have_the_same_points(models):
    samplers = [held(model) for model in models.values()]
    for name in samplers[0]:
        for other in samplers[1:]:
            np.testing.assert_array_equal(other[name].points, samplers[0][name].points)


def test_weights_stay_in_the_second_stage(models):
    samplers = held(models[SelfAdaptive])
    multipliers = models[SelfAdaptive].trainer.state.structure["sampling"]
    for name, sampler in samplers.items():
        expected = multipliers[name]["multipliers"].numpy() ** 2
        np.testing.assert_allclose(sampler.factors, expected, rtol=1e-6)
    model = models[SelfAdaptive].astype("float64")
    model.compile(kp.optimizers.SSBroyden())
    model.fit(samplers, steps_per_epoch=1, verbose=0)
    for name, state in model.trainer.state.structure["sampling"].items():
        np.testing.assert_array_equal(state["factors"].numpy(), samplers[name].factors)


def test_loss_of_weighted_points(models):
    model = models[Fixed].astype("float64")
    points = np.random.default_rng(0).uniform(-1, 1, size=(8, 2))
    factors = np.arange(8.0)
    (equation,) = model.problem.equations.values()
    residual = model.predict_expression(equation, points)
    model.compile(keras.optimizers.Adam(0.0))
    sampler = Weighted(points, factors)
    history = model.fit({"residual": sampler}, steps_per_epoch=1, verbose=0).history
    expected = np.mean(factors * residual**2)
    np.testing.assert_allclose(history["residual_loss"], [expected], rtol=1e-9)
