"""Test of a user's geometry, written with public names only."""

import json

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp

X, Y, T = sp.symbols("x y t")


# 34 lines, imports included


class Filled(kp.geometry.Part):
    def __init__(self, size):
        self.size = size

    def sample(self, uniform):
        u, v = uniform[..., 0] - 0.5, uniform[..., 1] - 0.5
        return self.size * ops.stack([u + v, u - v], axis=-1)

    def contains(self, points):
        return ops.sum(ops.abs(points), axis=-1) <= self.size * (1 + 1e-6)

    def measure(self):
        return 2 * self.size**2


class Outline(Filled):
    draws = 1

    def sample(self, uniform):
        turn = 4 * uniform[..., 0]
        share, quarter = turn - ops.floor(turn), np.pi / 2 * ops.floor(turn)
        u, v = 1 - share, share
        turned = [u * ops.cos(quarter) - v * ops.sin(quarter)]
        turned += [u * ops.sin(quarter) + v * ops.cos(quarter)]
        return self.size * ops.stack(turned, axis=-1)

    def contains(self, points):
        size = ops.sum(ops.abs(points), axis=-1)
        return ops.abs(size - self.size) <= 1e-6 * self.size

    def normals(self, points):
        return ops.sign(points) / np.sqrt(2)


@keras.saving.register_keras_serializable("new_shape")
class Diamond(kp.geometry.Geometry):
    def __init__(self, size, coordinates=None):
        super().__init__(coordinates, lower=(-size, -size), upper=(size, size))
        self.size, self.interior, self.boundary = size, Filled(size), (Outline(size),)

    def get_config(self):
        return {**super().get_config(), "size": self.size}


def drawn(domain, part, count=4000):
    uniform = np.random.default_rng(0).random((count, domain.draws(part)))
    return ops.convert_to_numpy(domain.sample(part, ops.convert_to_tensor(uniform)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda: Diamond(2.0, (X, Y)),
        lambda: Diamond(2.0, (X, Y)) * kp.geometry.Box(time={T: (3, 4)}),
        lambda: kp.geometry.Box({X: (-3, 3), Y: (-3, 3)}) - Diamond(2.0),
        lambda: Diamond(2.0) & kp.geometry.Disk((0, 0), 1.8, (X, Y)),
    ],
    ids=["alone", "in time", "as a hole", "cut"],
)
def test_user_geometry(make):
    domain = make()
    for part in (domain.interior, *domain.boundary):
        points = drawn(domain, part)
        assert np.asarray(domain.contains(part, points)).all()
        if part is not domain.interior:
            normals = np.asarray(domain.normals(part, points))
            np.testing.assert_allclose(np.linalg.norm(normals, axis=-1), 1)
            step = np.zeros_like(points)
            step[:, :2] = 1e-3 * normals
            inside = np.asarray(domain.contains(domain.interior, points - step))
            outside = np.asarray(domain.contains(domain.interior, points + step))
            assert inside.mean() > 0.99 and outside.mean() < 0.01
    saved = json.loads(json.dumps(keras.saving.serialize_keras_object(domain)))
    again = keras.saving.deserialize_keras_object(saved)
    np.testing.assert_array_equal(
        drawn(again, again.interior), drawn(domain, domain.interior)
    )
    assert len(domain.grid(11))


def test_user_geometry_has_named_parts():
    diamond = Diamond(2.0, (X, Y))
    ((right,),) = diamond.blocks("boundary", where=X > 0)
    assert (drawn(diamond, right)[:, 0] > 0).all()
    assert '"boundary"' in diamond.advice()
    with pytest.raises(ValueError, match="size of Part is not known"):
        kp.geometry.Part().measure()


def test_a_hard_condition_needs_a_distance_which_the_error_names(monkeypatch):
    field = sp.Function("u")(X, Y)
    equation = {"e": field.diff(X, 2) + field.diff(Y, 2) + 1}

    def problem():
        wall = kp.Condition(field, on="boundary", hard=True)
        return kp.Problem(Diamond(2.0, (X, Y)), equation, {"wall": wall})

    with pytest.raises(
        ValueError, match=r"vanishes on Outline .*define `Part.distance`"
    ):
        problem()

    def distance(self, coordinates, outside=False):
        x, y = (coordinate / self.size for coordinate in coordinates)
        return (1 - x - y) * (1 + x - y) * (1 - x + y) * (1 + x + y)

    monkeypatch.setattr(Outline, "distance", distance)
    model = kp.PINNModel(problem(), kp.networks.MLP(4, 1))
    assert abs(model.predict([[1.5, 0.5]], verbose=0)).max() < 1e-6
