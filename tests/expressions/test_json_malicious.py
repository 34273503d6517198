"""Tests that malformed and malicious trees are rejected with a message."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keraspinn.expressions import from_json, to_json
from keraspinn.expressions.nodes import NAMES

X, Y = {"symbol": "x"}, {"symbol": "y"}
U = {"field": "u", "of": [X, Y]}
HUGE = {"float": "1e300", "precision": 53}


def nested(levels, wrap, core=X):
    for _ in range(levels):
        core = wrap(core)
    return core


def cyclic_list():
    tree = ["Add"]
    tree += [tree, tree]
    return tree


def cyclic_dict(key, **rest):
    tree = {key: None, **rest}
    tree[key] = tree
    return tree


def number(text, precision=53):
    return {"float": text, "precision": precision}


MALFORMED = {
    "none": None,
    "a bare float": 1.5,
    "a bare string": "x",
    "code": "__import__('os').system('true')",
    "bytes": b"x",
    "a tuple": ("Add", X, 1),
    "an empty list": [],
    "an empty dict": {},
    "a list in a list": [["Add"], X],
    "unknown node": ["Foo", X],
    "node that is code": ["__import__('os').system('true')", X],
    "SymPy name that is not in the table": ["Integral", X, X],
    "lambdify": ["lambdify", X],
    "dunder": ["__class__", X],
    "unknown leaf": {"eval": "1+1"},
    "two kinds": {"symbol": "x", "constant": "pi"},
    "surplus key": {"symbol": "x", "cls": "Dummy"},
    "many surplus keys": {"symbol": "x", **dict.fromkeys(map(str, range(10**5)))},
    "too few arguments": ["sin"],
    "too many arguments": ["sin", X, X],
    "Pow of three": ["Pow", X, 2, 3],
    "Add of one": ["Add", X],
    "Piecewise of nothing": ["Piecewise"],
    "number as a condition": ["Piecewise", ["ExprCondPair", 1, 1]],
    "pair by itself": ["ExprCondPair", X, True],
    "expression as a pair": ["Piecewise", X],
    "And of the same twice": ["And", ["Lt", X, 1], ["Lt", X, 1]],
    "Max of the same twice": ["Max", X, X],
    "infinite integer": {"rational": [1, 0]},
    "rational of floats": {"rational": [1.0, 2]},
    "rational of strings": {"rational": ["1", "2"]},
    "rational of three": {"rational": [1, 2, 3]},
    "float of code": number("__import__('os')"),
    "float of an expression": number("1+1"),
    "float nan": number("nan"),
    "float inf": number("inf"),
    "float with a huge exponent": number("1e999999999"),
    "float with underscores": number("1_0"),
    "float with other digits": number("١٢"),
    "float with a line break": number("1.0\n"),
    "float as a number": {"float": 1.5, "precision": 53},
    "negative precision": number("1", -1),
    "precision as text": number("1", "auto"),
    "unknown constant": {"constant": "oo"},
    "constant as a list": {"constant": ["pi"]},
    "name as a number": {"symbol": 3},
    "name as a list": {"symbol": ["x"]},
    "assumption as text": {"symbol": "x", "assumptions": {"real": "yes"}},
    "assumptions as a list": {"symbol": "x", "assumptions": ["real"]},
    "contradiction": {
        "symbol": "x",
        "assumptions": {"positive": True, "negative": True},
    },
    "parameter without a value": {"parameter": "a"},
    "parameter of text": {"parameter": "a", "initial": "1"},
    "parameter of nan": {"parameter": "a", "initial": float("nan")},
    "parameter of a huge integer": {"parameter": "a", "initial": 10**5000},
    "parameter of nothing": {"parameter": "a", "initial": None},
    "field of text": {"field": "u", "of": "xy"},
    "derivative of a derivative": {
        "derivative": {"derivative": U, "by": [[X, 1]]},
        "by": [[X, 1]],
    },
    "derivative by nothing": {"derivative": U, "by": []},
    "derivative by text": {"derivative": U, "by": "x"},
    "derivative of order zero": {"derivative": U, "by": [[X, 0]]},
    "derivative of an order of code": {"derivative": U, "by": [[X, "1+1"]]},
    "derivative of order -1": {"derivative": U, "by": [[X, -1]]},
}

RECURSIVE = {
    "a list that holds itself": cyclic_list(),
    "a derivative that holds itself": cyclic_dict("derivative", by=[[X, 1]]),
    "a deep tree": nested(10**5, lambda e: ["sin", e]),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_trees_are_rejected(name):
    with pytest.raises(ValueError) as caught:
        from_json(MALFORMED[name])
    assert len(str(caught.value)) < 1500


@pytest.mark.parametrize("name", RECURSIVE)
def test_trees_that_do_not_end_are_rejected(name):
    with pytest.raises(ValueError) as caught:
        from_json(RECURSIVE[name])
    assert len(str(caught.value)) < 1500


words = st.sampled_from([*NAMES.values()] + ["x", "pi", "1e9"])
scalars = st.one_of(st.integers(-99, 99), st.booleans(), words, st.none(), st.floats())
leaves = st.one_of(
    scalars, st.sampled_from([X, U, HUGE, {"constant": "pi"}, {"rational": [1, 2]}])
)
keys = st.sampled_from(["symbol", "field", "of", "by", "derivative", "initial"])
junk = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda name, rest: [name, *rest], words, st.lists(inner, max_size=3)),
        st.lists(inner, max_size=3),
        st.dictionaries(keys, inner, max_size=3),
    ),
    max_leaves=12,
)


@settings(deadline=None, derandomize=True, max_examples=500)
@given(junk)
def test_junk_is_rejected_or_read(data):
    try:
        expression = from_json(data)
    except ValueError:
        return
    assert from_json(to_json(expression)) == expression


def test_reading_evaluates_nothing():
    tree = ["Add", ["Mul", 2, 3], ["sin", 0], ["Pow", 2, 10]]
    assert str(from_json(tree)) == "sin(0) + 2*3 + 2**10"


def test_a_surplus_key_is_named():
    with pytest.raises(ValueError, match="cannot be read.*'cls'"):
        from_json(MALFORMED["surplus key"])


def test_malicious_json_text():
    with pytest.raises(ValueError):
        from_json(json.loads('{"parameter": "a", "initial": Infinity}'))
    with pytest.raises(ValueError):
        from_json(json.loads("NaN"))
