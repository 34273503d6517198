import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
from keraspinn.sampling.sources import PointSources

X, Y = sp.symbols("x y")
U = sp.Function("u")(X, Y)
LOWER, UPPER = np.array([1.0, -2.0]), np.array([3.0, 0.0])
DOMAIN = kp.geometry.Box({X: (1, 3), Y: (-2, 0)})
PROBLEM = kp.Problem(
    DOMAIN,
    {"e": U.diff(X, 2) + U.diff(Y, 2)},
    {"sides": kp.Condition(U, on="boundary")},
)


@pytest.fixture
def batches_of():
    """Return a function that yields the batches of a sampler's steps.

    Args of the function: the sampler, a function from x to the squared residual, the
    iterations, the number of points, the seed and the term.
    """

    def draw(sampler, squared, iterations, count=100, seed=0, term="residual"):
        sources = PointSources(PROBLEM, "float64", count, default=sampler)
        states = sources.init(seed)
        for iteration in iterations:
            batches, states = sources.step(
                states,
                seed,
                ops.convert_to_tensor(iteration),
                lambda name, batch: squared(batch.coordinates[:, 0]),
            )
            yield batches[term]

    return draw


@pytest.fixture
def assert_is_sampler(batches_of):
    """Return a function that checks the contract of each sampler.

    Points lie inside and on the faces, the same seed draws the same points, and they
    stay until the next renewal, after 3 steps.
    """

    def points(sampler, seed=0, term="residual"):
        batches = batches_of(sampler, ops.square, range(5), seed=seed, term=term)
        return [ops.convert_to_numpy(batch.coordinates) for batch in batches]

    def check(sampler):
        assert type(sampler).from_config(sampler.get_config()).key() == sampler.key()
        drawn = points(sampler)
        for inside in drawn:
            assert inside.shape == (100, 2)
            assert ((LOWER < inside) & (inside < UPPER)).all()
        np.testing.assert_array_equal(drawn, points(sampler))
        assert not np.intersect1d(drawn[0], points(sampler, seed=1)[0]).size
        np.testing.assert_array_equal(drawn[1], drawn[2])
        assert (drawn[2] != drawn[3]).any()
        np.testing.assert_array_equal(drawn[3], drawn[4])
        faces = points(sampler, term="sides")
        for on_faces in faces:
            assert on_faces.shape == (400, 2)
            assert ((on_faces == LOWER) | (on_faces == UPPER)).any(-1).all()
        assert (faces[2] != faces[3]).any()

    return check
