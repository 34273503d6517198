"""Saved configurations with faults, which raise `ValueError`."""

import json

import keras
import pytest

import keraspinn as kp


def config():
    return json.loads(json.dumps(kp.problems.poisson(2).get_config()))


def changed(**entries):
    return {**config(), **entries}


LAYER = {
    "module": "keras.layers",
    "class_name": "Dense",
    "config": {"units": 1},
    "registered_name": None,
}


@pytest.mark.parametrize(
    ("saved", "message"),
    [
        (changed(domain=LAYER), "Expected a saved registered class"),
        (changed(domain=None), "Received: None"),
        (changed(conditions={"c": LAYER}), "Expected a saved Condition or Data"),
        (changed(reference=LAYER), "Expected a saved Reference"),
        (changed(format=2, version="9.0"), "in format 2 by keraspinn 9.0. This is"),
        (changed(format=2), f"in format 2 by keraspinn {kp.__version__}"),
    ],
)
def test_rejects_faulty_configs(saved, message):
    with pytest.raises(ValueError, match=message):
        kp.Problem.from_config(saved)


def test_problem_saved_without_a_format_loads():
    old = config()
    del old["format"], old["version"]
    assert kp.Problem.from_config(old).get_config() == config()


def test_custom_geometry_round_trip():
    @keras.saving.register_keras_serializable("test_configs")
    class Square(kp.geometry.Box):
        pass

    (u,) = kp.problems.helmholtz().fields
    x, y = u.args
    square = Square({x: (0, 1), y: (0, 1)})
    problem = kp.Problem(square, {"laplace": u.diff(x, 2) + u.diff(y, 2)})
    copy = kp.Problem.from_config(problem.get_config())
    assert type(copy.domain) is Square
