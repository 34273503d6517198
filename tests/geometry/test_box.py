import json
import pickle

import keras
import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from keras import ops
from scipy import stats

import keraspinn as kp
from keraspinn.expressions import from_json, to_json

X, Y, T = sp.symbols("x y t")
BOX = kp.geometry.Box({X: (-1, 2), Y: (0, 3)}, time={T: (1, 5)})


def test_coordinates_end_with_time():
    assert BOX.coordinates == (X, Y, T) and BOX.dimension == 3


def fixed(box, on):
    """Return the fixed coordinates of each part of each block, from -1 to 1."""
    return [[part.fixed for part in block] for block in box.blocks(on)]


@pytest.mark.parametrize(
    ("on", "blocks"),
    [
        ("interior", [[()]]),
        ("boundary", [[((0, -1),), ((0, 1),), ((1, -1),), ((1, 1),)]]),
        ("initial", [[((2, -1),)]]),
        ({X: -1}, [[((0, -1),)]]),
        ({T: 5}, [[((2, 1),)]]),
        ({X: 0.5}, [[((0, 0),)]]),
        ({T: 2}, [[((2, -0.5),)]]),
        ([{X: -1}, {Y: sp.Integer(3)}], [[((0, -1),)], [((1, 1),)]]),
        ({Y: 0, X: 2}, [[((0, 1), (1, -1))]]),
        (["initial", {X: 2}], [[((2, -1),)], [((0, 1),)]]),
    ],
)
def test_blocks(on, blocks):
    assert fixed(BOX, on) == blocks


@pytest.mark.parametrize("kind", ["numpy", "float32", "float64"])
@given(numbers=st.lists(st.floats(0, 1, exclude_max=True), min_size=3, max_size=3))
def test_points_lie_on_their_part(kind, numbers):
    uniform = np.array([numbers])
    if kind != "numpy":
        uniform = ops.convert_to_tensor(uniform, kind)
    for on in ("interior", "boundary", "initial", {X: 2}, {X: -1, Y: 3}, {Y: 1}):
        for part in (part for block in BOX.blocks(on) for part in block):
            relative = BOX.sample(part, uniform)
            assert bool(BOX.contains(part, relative)[0])
            point = BOX.centre + ops.convert_to_numpy(relative)[0]
            within = (point >= BOX.lower - 1e-6) & (point <= BOX.upper + 1e-6)
            assert within.all()
            for column, position in part.fixed:
                value = BOX.centre[column] + position * BOX.half[column]
                assert point[column] == pytest.approx(value)


def test_points_are_uniform():
    uniform = np.random.default_rng(0).uniform(size=(20_000, 3))
    cells = 4 * (BOX.sample(BOX.interior, uniform) / BOX.half + 1) / 2
    counts = np.bincount(np.ravel_multi_index(cells.astype(int).T, (4, 4, 4)))
    assert stats.chisquare(counts).pvalue > 1e-3


def test_far_from_zero_points_keep_their_digits():
    box = kp.geometry.Box({X: (0, 1)}, time={T: (1.7e9, 1.7e9 + 100)})
    uniform = ops.convert_to_tensor(
        np.random.default_rng(0).random((1000, 2)), "float32"
    )
    points = ops.convert_to_numpy(box.sample(box.interior, uniform))
    assert len(np.unique(points[:, 1])) == 1000


# Tolerances, one per coordinate, relative to its extent


@pytest.mark.parametrize("size", [1e-12, 1e-3, 1.0, 1e9])
@pytest.mark.parametrize("start", [0.0, -3.0])
def test_the_nearest_end_is_the_face(size, start):
    box = kp.geometry.Box({X: (start * size, (start + 1) * size)})
    assert fixed(box, {X: (start + 1) * size}) == [[((0, 1),)]]
    assert fixed(box, {X: start * size}) == [[((0, -1),)]]
    assert fixed(box, {X: (start + 1 - 1e-8) * size}) == [[((0, 1),)]]


def test_a_narrow_wall_beside_a_long_time():
    box = kp.geometry.Box({X: (0, 1e-3)}, time={T: (0, 3600)})
    ((wall,),) = box.blocks({X: 0})
    points = np.array([[0, 1800], [1e-10, 3], [0.5e-3, 1800], [1e-3, 0], [2e-9, 1]])
    on_wall = box.contains(wall, points - box.centre)
    assert on_wall.tolist() == [True, True, False, False, False]
    outside = np.array([[1.1e-3, 1800.0], [0.5e-3, 3601]])
    assert not box.contains(box.interior, outside - box.centre).any()


# Normals, sizes, distances


def test_normals_point_out_of_space():
    points = np.zeros((2, 3))
    faces = [BOX.normals(part, points)[0].tolist() for part in BOX.boundary]
    assert faces == [[-1, 0], [1, 0], [0, -1], [0, 1]]


@pytest.mark.parametrize("on", ["interior", "initial", {X: 2, Y: 0}, {X: 0.5}])
def test_inner_faces_edges_and_interiors_have_no_normal(on):
    ((part,),) = BOX.blocks(on)
    with pytest.raises(ValueError, match="no normal on"):
        BOX.normals(part, np.zeros((1, 3)))


def test_normal_symbols_are_equal_and_saved():
    n = BOX.normal
    assert [symbol.name for symbol in n] == ["n_x", "n_y"]
    assert n == kp.geometry.Box({X: (0, 9), Y: (0, 1)}).normal
    expression = n[0] * X + n[1]
    assert from_json(to_json(expression)) == expression
    assert pickle.loads(pickle.dumps(n[0])) == n[0]
    assert n[0] != sp.Symbol("n_x", real=True)


def test_measures():
    assert BOX.measure(BOX.interior) == 36
    assert [BOX.measure(part) for part in BOX.boundary] == [12, 12, 12, 12]
    ((corner,),) = BOX.blocks({X: -1, Y: 0, T: 1})
    assert BOX.measure(corner) == 1 and corner.is_point


def test_distances_vanish_only_on_their_part():
    (sides,) = BOX.blocks("boundary")
    assert BOX.distance(sides).subs({X: sp.Rational(1, 2), Y: sp.Rational(3, 2)}) == 1
    for side in sides:
        ((column, position),) = side.fixed
        value = BOX.centre[column] + position * BOX.half[column]
        one = BOX.distance(side)
        assert one.subs(BOX.coordinates[column], int(value)) == 0
        middle = sp.Rational(BOX.centre[column])
        assert one.subs(BOX.coordinates[column], middle) == 1
    assert BOX.distance(BOX.initial).subs(T, 1) == 0
    ((corner,),) = BOX.blocks({X: -1, Y: 0})
    with pytest.raises(ValueError, match="No smooth function"):
        BOX.distance(corner)


# Coordinates without a boundary


def test_time_alone():
    box = kp.geometry.Box(time={T: (0, 10)})
    assert box.coordinates == (T,) and box.boundary == () and box.normal == ()
    assert box.initial.is_point and box.time_coordinate == T
    with pytest.raises(ValueError, match='Write "interior", "initial", a face'):
        box.blocks("boundary")


def test_parameters_have_no_boundary():
    box = kp.geometry.Box({X: (0, 1)}, time={T: (0, 2)}, parameters={Y: (1, 10)})
    assert box.coordinates == (X, Y, T) and len(box.boundary) == 2
    assert box.space_coordinates == (X,) and box.normal[0].name == "n_x"
    assert "{y: 1}" not in box.advice()


def test_periodic_coordinates_have_no_boundary():
    box = kp.geometry.Box({X: (0, 1), Y: (0, 1)}, periodic=[X])
    assert kp.geometry.Box({X: (0, 1), Y: (0, 1)}, periodic=X).periodic == (X,)
    assert fixed(box, "boundary") == [[((1, -1),), ((1, 1),)]]
    assert box.periodic == (X,)


def test_grid():
    grid = kp.geometry.Box({X: (0, 1), Y: (2, 3)}).grid(3)
    assert grid.shape == (9, 2)
    np.testing.assert_array_equal(grid[:4], [[0, 2], [0, 2.5], [0, 3], [0.5, 2]])


@pytest.mark.parametrize(
    ("dimension", "points"),
    [(1, 100), (2, 100**2), (3, 58**3), (5, 11**5), (30, 2**16)],
)
def test_the_default_grid_fits_in_memory(dimension, points):
    symbols = sp.symbols(f"x:{dimension}")
    box = kp.geometry.Box(dict.fromkeys(symbols, (2, 3)))
    grid = box.grid()
    assert grid.shape == (points, dimension)
    assert grid.min() >= 2 and grid.max() <= 3


def test_rejects_a_grid_too_large_for_memory():
    box = kp.geometry.Box(dict.fromkeys(sp.symbols("x:5"), (0, 1)))
    with pytest.raises(ValueError, match="5 dimensions has 1e\\+10 points.*Write n=11"):
        box.grid(100)


def test_config_round_trip_keeps_symbols():
    positive = sp.Symbol("r", positive=True)
    box = kp.geometry.Box(
        {positive: (sp.Rational(1, 3), sp.pi)},
        time={T: (0, 1)},
        parameters={Y: (1, 2)},
        periodic=[positive],
    )
    saved = keras.saving.serialize_keras_object(box)
    restored = keras.saving.deserialize_keras_object(json.loads(json.dumps(saved)))
    assert restored.coordinates == box.coordinates
    assert restored.space == box.space and restored.time == box.time
    assert restored.parameters == box.parameters and restored.periodic == (positive,)


def test_boxes_saved_before_parameters_and_periodicity_load():
    config = {"space": [[{"symbol": "x"}, 0.0, 1.0]], "time": []}
    assert kp.geometry.Box.from_config(config).space == {X: (0, 1)}


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
            "at most one in `time`",
        ),
        (lambda: BOX.blocks({X: 2.1}), ValueError, r"faces? .*\{x: -1\}, \{x: 2\}"),
        (lambda: BOX.blocks({sp.Symbol("z"): 1}), ValueError, "no coordinate z"),
        (lambda: BOX.blocks({X: "left"}), ValueError, "to a number"),
        (lambda: BOX.blocks("left"), ValueError, "names no part of the domain: 'left'"),
        (lambda: BOX.blocks([]), ValueError, "`on` must not be empty"),
        (lambda: BOX.blocks({}), ValueError, "names no part"),
        (lambda: BOX.blocks(None), ValueError, "names no part"),
        (
            lambda: kp.geometry.Box({X: (0, 1)}).blocks("initial"),
            ValueError,
            'Write "interior", "boundary", a face',
        ),
        (lambda: BOX.blocks([{X: 2}, {X: 2.0}]), ValueError, "a part twice.*x = 2"),
        (lambda: BOX.blocks(["boundary", {X: 2}]), ValueError, "a part twice.*x = 2"),
        (
            lambda: kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)}, periodic=[T]),
            ValueError,
            "`periodic` names .t.*no coordinates of space",
        ),
        (lambda: BOX.grid(1), ValueError, "at least 2. Received: 1"),
    ],
)
def test_rejects_invalid_boxes(build, error, message):
    with pytest.raises(error, match=message):
        build()
