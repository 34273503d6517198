"""Test of a user's geometry in `fit`: the square |x| + |y| ≤ 1."""

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp


class Outline(kp.geometry.Part):
    def sample(self, uniform):
        x, half = 2 * uniform[..., :1] - 1, ops.sign(uniform[..., 1:] - 0.5)
        return ops.concatenate([x, half * (1 - ops.abs(x))], axis=-1)

    def normals(self, points):
        return ops.sign(points) / np.sqrt(2)


class Filled(Outline):
    def sample(self, uniform):
        return (uniform - 0.5) @ np.array([[1, 1], [1, -1]], "float32")


@keras.saving.register_keras_serializable("toy")
class Diamond(kp.geometry.Geometry):
    def __init__(self, coordinates=None):
        super().__init__(coordinates, lower=(-1, -1), upper=(1, 1))
        self.interior, self.boundary = Filled(), (Outline(),)


def declared(fields=1):
    x, y = sp.symbols("x y")
    diamond, equations, walls = Diamond((x, y)), {}, {}
    for u in (sp.Function(f"u{k}")(x, y) for k in range(fields)):
        equations[u.name] = u.diff(x, 2) + u.diff(y, 2) + 1
        wall = u + kp.normal_derivative(u, diamond) - x
        walls[f"{u.name}_wall"] = kp.Condition(wall, on="boundary")
    return kp.Problem(diamond, equations, walls)


@pytest.mark.parametrize("fields", [1, 2])
def test_user_geometry_declares_without_contains(fields):
    assert declared(fields).underdetermined == ""


@pytest.mark.slow
def test_user_geometry_trains_and_resumes_exactly(assert_resume_is_bit_exact):
    problem = declared()
    assert_resume_is_bit_exact(
        lambda: kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=0)
    )
