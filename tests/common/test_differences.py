"""Differences of two configurations."""

import json

import keras
import numpy as np
import pytest
import sympy as sp

from keraspinn.common.differences import differences, plain
from keraspinn.expressions import from_json, to_json

x, y = sp.symbols("x y")


def changed(old, new):
    return differences(plain(old), plain(new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": np.float64(0.1)}, {"a": 0.1}),
        ({"a": np.int32(2), "b": np.bool_(True)}, {"a": 2, "b": True}),
        ({"a": np.arange(3.0)}, {"a": (0.0, 1.0, 2.0)}),
        ({"a": float("nan")}, {"a": np.float32("nan")}),
        ({"version": "0.1", "format": 1}, {"version": "0.2", "format": 2}),
        (np.zeros((500, 2)), np.zeros((500, 2)).tolist()),
    ],
)
def test_equal_configurations(old, new):
    assert changed(old, new) == []
    assert differences(json.loads(json.dumps(plain(old))), plain(new)) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, [("a.b[1]", 2, 3)]),
        ({"a": 1}, {"a": 1, "b": None}, [("b", "nothing", None)]),
        ([1, 2], [1, 2, 3], [("", [1, 2], [1, 2, 3])]),
        ({"a": 0.1}, {"a": np.float32(0.1)}, [("a", 0.1, 0.10000000149011612)]),
    ],
)
def test_different_configurations(old, new, expected):
    assert changed(old, new) == expected


def test_long_tables_are_stored_as_digests():
    table = np.linspace(0, 1, 2000).reshape(1000, 2)
    other = table.copy()
    other[700, 1] += 1e-15
    ((key, old, new),) = changed({"points": table}, {"points": other})
    assert key == "points" and old != new and len(old) < 50


def test_expressions_are_compared_as_a_whole():
    assert changed(to_json(x + y), to_json(y + x)) == []
    ((_, was, now),) = changed(to_json(x + y), to_json(x + 2 * y))
    assert [str(from_json(e)) for e in (was, now)] == ["x + y", "x + 2*y"]


def test_order_of_terms_is_ignored():
    assert changed(["Add", 1, {"symbol": "x"}], ["Add", {"symbol": "x"}, 1]) == []
    assert changed(["Pow", 1, 2], ["Pow", 2, 1])


def test_other_class_lists_only_the_class():
    old, new = map(
        keras.saving.serialize_keras_object,
        (keras.optimizers.Adam(1.0), keras.optimizers.SGD(2.0)),
    )
    assert changed({"o": old}, {"o": new}) == [("o", "Adam", "SGD")]


def test_names_of_layers_are_ignored():
    def config(**options):
        network = keras.Sequential([keras.layers.Dense(2, **options)])
        return keras.saving.serialize_keras_object(network)

    assert changed(config(), config()) == []
    assert changed(config(), config(name="encoder")) == []
    policies = changed(config(), config(dtype="float64"))
    assert ("layers[0].dtype", "float32", "float64") in policies
