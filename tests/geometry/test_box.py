import keras
import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from keras import ops

import keraspinn as kp

X, Y, T = sp.symbols("x y t")
BOX = kp.geometry.Box({X: (-1, 2), Y: (0, 3)}, time={T: (1, 5)})


def test_coordinates_end_with_time():
    assert BOX.coordinates == (X, Y, T) and BOX.dimension == 3


def test_moments_are_those_of_uniform_points():
    points = np.random.default_rng(0).uniform(size=(200_000, 3))
    points = ops.convert_to_numpy(BOX.sample((), ops.convert_to_tensor(points)))
    np.testing.assert_allclose(points.mean(0), BOX.mean, atol=0.02)
    np.testing.assert_allclose(points.var(0), BOX.variance, atol=0.02)


@pytest.mark.parametrize(
    ("on", "blocks"),
    [
        ("interior", (((),),)),
        ("boundary", ((((0, -1.0),), ((0, 2.0),), ((1, 0.0),), ((1, 3.0),)),)),
        ("initial", ((((2, 1.0),),),)),
        ({X: -1}, ((((0, -1.0),),),)),
        ({T: 5}, ((((2, 5.0),),),)),
        ([{X: -1}, {Y: sp.Integer(3)}], ((((0, -1.0),),), (((1, 3.0),),))),
        ({Y: 0, X: 2}, ((((0, 2.0), (1, 0.0)),),)),
        (["initial", {X: 2}], ((((2, 1.0),),), (((0, 2.0),),))),
    ],
)
def test_blocks(on, blocks):
    assert BOX.blocks(on) == blocks


@given(numbers=st.lists(st.floats(0, 1, exclude_max=True), min_size=3, max_size=3))
def test_points_lie_on_their_region(numbers):
    uniform = ops.convert_to_tensor([numbers], "float64")
    for on in ("interior", "boundary", "initial", {X: 2}, {X: -1, Y: 3}):
        for (*regions,) in BOX.blocks(on):
            for region in regions:
                point = BOX.sample(region, uniform)
                assert bool(BOX.contains(region, point)[0])
                assert all(float(point[0, c]) == value for c, value in region)
                inside = (ops.convert_to_numpy(point[0]) >= [-1, 0, 1]) & (
                    ops.convert_to_numpy(point[0]) <= [2, 3, 5]
                )
                assert inside.all()


def test_contains_tells_faces_apart():
    points = ops.convert_to_tensor([[2.0, 1.0, 1.0], [0.0, 3.0, 2.0]])
    on_face = [bool(b) for b in BOX.contains(((0, 2.0),), points)]
    assert on_face == [True, False]


def test_grid():
    grid = kp.geometry.Box({X: (0, 1), Y: (2, 3)}).grid(3)
    assert grid.shape == (9, 2)
    np.testing.assert_array_equal(grid[:4], [[0, 2], [0, 2.5], [0, 3], [0.5, 2]])


def test_config_round_trip_keeps_symbols():
    positive = sp.Symbol("r", positive=True)
    box = kp.geometry.Box({positive: (sp.Rational(1, 3), sp.pi)}, time={T: (0, 1)})
    saved = keras.saving.serialize_keras_object(box)
    restored = keras.saving.deserialize_keras_object(saved)
    assert restored.coordinates == box.coordinates
    assert restored.space == box.space and restored.time == box.time


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: kp.geometry.Box({X: (1, 1)}), ValueError, "start below its end"),
        (lambda: kp.geometry.Box({X: (2, 1)}), ValueError, r"Received: \(2, 1\)"),
        (lambda: kp.geometry.Box({X: (0, sp.oo)}), ValueError, "must be finite"),
        (lambda: kp.geometry.Box({X: (0, float("nan"))}), ValueError, "finite"),
        (lambda: kp.geometry.Box({X: (0, 1, 2)}), ValueError, "two numbers"),
        (lambda: kp.geometry.Box({X: 1}), ValueError, "two numbers"),
        (lambda: kp.geometry.Box({X: ("a", 1)}), ValueError, "two numbers"),
        (lambda: kp.geometry.Box({"x": (0, 1)}), TypeError, "must be a SymPy symbol"),
        (lambda: kp.geometry.Box([X]), TypeError, "dict from SymPy symbols"),
        (lambda: kp.geometry.Box({}), ValueError, "at least one coordinate"),
        (
            lambda: kp.geometry.Box({X: (0, 1)}, time={X: (0, 1)}),
            ValueError,
            "each declared once",
        ),
        (
            lambda: kp.geometry.Box({X: (0, 1)}, time={T: (0, 1), Y: (0, 1)}),
            ValueError,
            "`time` must hold one coordinate",
        ),
        (lambda: BOX.blocks({X: 1}), ValueError, r"faces? .*\{x: -1\}, \{x: 2\}"),
        (lambda: BOX.blocks({sp.Symbol("z"): 1}), ValueError, "no coordinate z"),
        (lambda: BOX.blocks({X: "left"}), ValueError, "must be a face"),
        (lambda: BOX.blocks("left"), ValueError, "names no part of the domain: 'left'"),
        (lambda: BOX.blocks([]), ValueError, "`on` must not be empty"),
        (lambda: BOX.blocks({}), ValueError, "names no part"),
        (lambda: BOX.blocks(None), ValueError, "names no part"),
        (
            lambda: kp.geometry.Box({X: (0, 1)}).blocks("initial"),
            ValueError,
            'Write "interior", "boundary", a face',
        ),
        (lambda: BOX.grid(1), ValueError, "at least 2. Received: 1"),
    ],
)
def test_refuses(build, error, message):
    with pytest.raises(error, match=message):
        build()
