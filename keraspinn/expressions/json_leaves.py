"""Saved forms of what has no subexpressions: numbers, symbols, fields."""

import json
import re

import sympy as sp
from mpmath.libmp import repr_dps, to_str
from sympy.core.function import AppliedUndef

from keraspinn.expressions import bounds
from keraspinn.expressions.assumptions import shortest_assumptions
from keraspinn.expressions.integral import Region
from keraspinn.expressions.json_checks import (
    bounded_list,
    declare,
    integer,
    name,
    short,
)
from keraspinn.expressions.json_tables import table_from_json, table_to_json
from keraspinn.expressions.nodes import CONSTANTS
from keraspinn.expressions.normal_component import NormalComponent
from keraspinn.expressions.parameter import Parameter
from keraspinn.expressions.tabulated import Tabulated

# ASCII digits only, and an exponent of at most three: SymPy would honour 1e999999999.
_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]{1,3})?", re.ASCII)


def leaf_to_json(leaf):
    """Returns the saved form of a leaf, or None if it is not one."""
    if isinstance(leaf, sp.Integer):
        return int(leaf)
    if isinstance(leaf, sp.Rational):
        return {"rational": [int(leaf.p), int(leaf.q)]}
    if isinstance(leaf, sp.Float):
        text = to_str(leaf._mpf_, repr_dps(leaf._prec))
        return {"float": text, "precision": leaf._prec}
    if leaf in (sp.true, sp.false):
        return bool(leaf)
    if isinstance(leaf, sp.NumberSymbol) and str(leaf) in CONSTANTS:
        return {"constant": str(leaf)}
    if isinstance(leaf, Parameter):
        saved = {"parameter": leaf.name, "initial": leaf.initial}
        return _with_assumptions(saved, leaf.assumptions0)
    if isinstance(leaf, NormalComponent):
        return {"normal": leaf_to_json(leaf.coordinate)}
    if isinstance(leaf, Region):
        return {"region": json.loads(leaf.text)}
    if isinstance(leaf, Tabulated):
        return {"table": table_to_json(leaf)}
    if type(leaf) is sp.Symbol:
        return _with_assumptions({"symbol": leaf.name}, leaf.assumptions0)
    if isinstance(leaf, AppliedUndef):
        saved = {
            "field": leaf.func.__name__,
            "of": [_symbol_to_json(argument, leaf) for argument in leaf.args],
        }
        saved = _with_assumptions(saved, leaf.func._kwargs)
        if "commutative" in leaf.func._kwargs:
            # SymPy tells Function("u") and Function(Symbol("u")) apart by this.
            saved.setdefault("assumptions", {})["commutative"] = True
        return saved
    if isinstance(leaf, sp.Derivative):
        if not isinstance(leaf.expr, AppliedUndef):
            raise ValueError(
                f"Only derivatives of plain fields can be saved. Received {leaf}. "
                "Call `normalize` first, which carries the others out."
            )
        by = [[_symbol_to_json(s, leaf), int(n)] for s, n in leaf.variable_count]
        return {"derivative": leaf_to_json(leaf.expr), "by": by}
    return None


def _symbol_to_json(symbol, owner):
    if not isinstance(symbol, sp.Symbol):
        raise ValueError(
            f"A field can be saved only when applied to plain coordinates. Received "
            f"{owner}, whose argument {symbol} is not a symbol."
        )
    return leaf_to_json(symbol)


def _with_assumptions(saved, deduced):
    assumptions = shortest_assumptions(deduced)
    return saved | {"assumptions": assumptions} if assumptions else saved


def leaf_from_json(data):
    """Rebuilds a leaf.

    Raises:
        ValueError: If `data` is not the saved form of a leaf.
    """
    if isinstance(data, bool):
        return sp.true if data else sp.false
    if isinstance(data, int):
        return sp.Integer(integer(data))
    if not isinstance(data, dict):
        raise ValueError(
            "Expected an integer, a boolean, a list that starts with the name of a "
            f"node, or a dict. Received {short(data)} of type {type(data).__name__}."
        )
    for kind, (required, optional, read) in _KINDS.items():
        if kind in data:
            if not required <= data.keys() <= required | optional:
                raise ValueError(
                    f"A '{kind}' takes the keys {sorted(required)} and may have "
                    f"{sorted(optional)}. Received {short(data)}."
                )
            return read(data)
    raise ValueError(
        f"Unknown kind of leaf. Received a dict with the keys "
        f"{short(data)}; one of them must be among {list(_KINDS)}."
    )


def _read_rational(data):
    if not isinstance(data["rational"], list) or len(data["rational"]) != 2:
        raise ValueError(
            "A rational is a list of numerator and denominator. Received "
            f"{short(data['rational'])}."
        )
    numerator, denominator = map(integer, data["rational"])
    if denominator < 2:
        raise ValueError(
            f"A rational's denominator must be at least 2. Received {denominator}."
        )
    return sp.Rational(numerator, denominator)


def _read_float(data):
    precision = integer(data["precision"], 2, bounds.MAX_PRECISION)
    text = data["float"]
    if (
        not isinstance(text, str)
        or len(text) > bounds.MAX_FLOAT_TEXT
        or not _FLOAT.fullmatch(text)
    ):
        raise ValueError(
            "A float is a decimal string such as '-1.5e-3', of at most "
            f"{bounds.MAX_FLOAT_TEXT} characters. Received {short(text)}."
        )
    return sp.Float(text, precision=precision)


def _read_constant(data):
    if not isinstance(data["constant"], str) or data["constant"] not in CONSTANTS:
        raise ValueError(
            f"Unknown constant. Received {short(data['constant'])}; known are "
            f"{', '.join(CONSTANTS)}."
        )
    return CONSTANTS[data["constant"]]


def _read_symbol(data):
    return declare(sp.Symbol, data, name(data["symbol"]))


def _read_parameter(data):
    initial = data["initial"]
    if isinstance(initial, bool) or not isinstance(initial, (int, float)):
        raise ValueError(
            f"A parameter's initial value is a number. Received {short(initial)}."
        )
    return declare(Parameter, data, name(data["parameter"]), initial)


def _read_normal(data):
    # Looked at before it is read: a normal that holds itself would not end.
    if not isinstance(data["normal"], dict) or "symbol" not in data["normal"]:
        raise ValueError(
            f"Only a coordinate has a normal. Received {short(data['normal'])}."
        )
    return NormalComponent(leaf_from_json(data["normal"]))


def _read_region(data):
    return Region(json.dumps(data["region"], sort_keys=True))


def _read_table(data):
    return table_from_json(data["table"])


def _read_field(data):
    function = declare(sp.Function, data, name(data["field"]))
    arguments = bounded_list(
        data["of"], "A field's coordinates", bounds.MAX_COORDINATES
    )
    return function(*(_read_coordinate(argument) for argument in arguments))


def _read_derivative(data):
    # Looked at before it is read: a derivative that holds itself would not end.
    if not isinstance(data["derivative"], dict) or "field" not in data["derivative"]:
        raise ValueError(
            f"Only a field has derivatives. Received {short(data['derivative'])}."
        )
    field = leaf_from_json(data["derivative"])
    by = []
    for pair in bounded_list(
        data["by"], "A derivative's symbols", bounds.MAX_COORDINATES
    ):
        if not isinstance(pair, list) or len(pair) != 2:
            raise ValueError(
                f"A derivative is taken by [symbol, count]. Received {short(pair)}."
            )
        symbol = _read_coordinate(pair[0])
        if symbol not in field.args:
            raise ValueError(
                f"{symbol} is not a coordinate of {field}, so its derivative is zero."
            )
        by.append((symbol, integer(pair[1], 1, bounds.MAX_ORDER)))
    return sp.Derivative(field, *by)


def _read_coordinate(data):
    if not isinstance(data, dict) or not ("symbol" in data or "parameter" in data):
        raise ValueError(f"Expected a symbol. Received {short(data)}.")
    return leaf_from_json(data)


_ASSUMED = frozenset({"assumptions"})
_NONE: frozenset[str] = frozenset()
# Kind -> required keys, optional keys, reader. "parameter" and the others are looked
# for in this order, so a dict with two of them is refused for its surplus key.
_KINDS = {
    "rational": ({"rational"}, _NONE, _read_rational),
    "float": ({"float", "precision"}, _NONE, _read_float),
    "constant": ({"constant"}, _NONE, _read_constant),
    "symbol": ({"symbol"}, _ASSUMED, _read_symbol),
    "parameter": ({"parameter", "initial"}, _ASSUMED, _read_parameter),
    "normal": ({"normal"}, _NONE, _read_normal),
    "region": ({"region"}, _NONE, _read_region),
    "table": ({"table"}, _NONE, _read_table),
    "field": ({"field", "of"}, _ASSUMED, _read_field),
    "derivative": ({"derivative", "by"}, _NONE, _read_derivative),
}
