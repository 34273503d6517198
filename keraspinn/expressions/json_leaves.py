"""Saved forms of leaves: numbers, symbols, fields."""

import json
import re

import sympy as sp
from mpmath.libmp import repr_dps, to_str
from sympy.core.function import AppliedUndef

from keraspinn.expressions import bounds
from keraspinn.expressions.integral import Region
from keraspinn.expressions.json_checks import (
    checked_list,
    checked_name,
    declare,
    integer,
    short,
)
from keraspinn.expressions.json_tables import table_from_json, table_to_json
from keraspinn.expressions.nodes import CONSTANTS
from keraspinn.expressions.normal_component import NormalComponent
from keraspinn.expressions.parameter import Parameter
from keraspinn.expressions.tabulated import Tabulated

# ASCII digits and exponents of three digits: SymPy would expand 1e999999999.
_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]{1,3})?", re.ASCII)


def leaf_to_json(leaf):
    """Return the saved form of a leaf, or None for other nodes."""
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
        return _with_assumptions(saved, leaf._assumptions_orig)
    if isinstance(leaf, NormalComponent):
        return {"normal": leaf_to_json(leaf.coordinate)}
    if isinstance(leaf, Region):
        return {"region": json.loads(leaf.text)}
    if isinstance(leaf, Tabulated):
        return {"table": table_to_json(leaf)}
    if type(leaf) is sp.Symbol:
        return _with_assumptions({"symbol": leaf.name}, leaf._assumptions_orig)
    if isinstance(leaf, AppliedUndef):
        saved = {
            "field": leaf.func.__name__,
            "of": [_symbol_to_json(argument, leaf) for argument in leaf.args],
        }
        return _with_assumptions(saved, leaf.func._kwargs)
    if isinstance(leaf, sp.Derivative):
        if not isinstance(leaf.expr, AppliedUndef):
            raise ValueError(
                f"Only derivatives of plain fields can be saved. Received {leaf}. "
                "Call `normalize` first, which evaluates the others."
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


def _with_assumptions(saved, assumptions):
    return saved | {"assumptions": dict(assumptions)} if assumptions else saved


def leaf_from_json(data):
    """Rebuild a leaf.

    Raises:
        ValueError: If `data` is not the saved form of a leaf.
    """
    if isinstance(data, bool):
        return sp.true if data else sp.false
    if isinstance(data, int):
        return sp.Integer(integer(data))
    kinds = (
        [kind for kind in _READERS if kind in data] if isinstance(data, dict) else []
    )
    if not kinds:
        raise ValueError(
            "Expected an integer, a boolean, a list that starts with the name of a "
            f"node, or a dict with one of the keys {list(_READERS)}. Received "
            f"{short(data)} of type {type(data).__name__}."
        )
    try:
        return _READERS[kinds[0]](**data)
    except (AttributeError, LookupError, RecursionError, TypeError) as error:
        raise ValueError(
            f"A '{kinds[0]}' cannot be read from {short(data)}: {str(error)[:200]}."
        ) from error


# The keys of a leaf are its reader's arguments, which Python checks.


def _rational(rational):
    numerator, denominator = map(integer, rational)
    return sp.Rational(numerator, integer(denominator, least=2))


def _float(float, precision):
    if len(float) > bounds.MAX_FLOAT_TEXT or not _FLOAT.fullmatch(float):
        raise ValueError(
            "A float is a decimal string such as '-1.5e-3', of at most "
            f"{bounds.MAX_FLOAT_TEXT} characters. Received {short(float)}."
        )
    return sp.Float(float, precision=integer(precision, 2, bounds.MAX_PRECISION))


def _constant(constant):
    return CONSTANTS[constant]


def _symbol(symbol, assumptions=None):
    return declare(sp.Symbol, assumptions, checked_name(symbol))


def _parameter(parameter, initial, assumptions=None):
    return declare(Parameter, assumptions, checked_name(parameter), initial)


def _normal(normal):
    return NormalComponent(_leaf_of_kind(normal, "symbol"))


def _region(region):
    return Region(json.dumps(region, sort_keys=True))


def _table(table):
    return table_from_json(**table)


def _field(field, of, assumptions=None):
    function = declare(sp.Function, assumptions, checked_name(field))
    return function(*map(_coordinate, checked_list(of, bounds.MAX_COORDINATES)))


def _derivative(derivative, by):
    field = _leaf_of_kind(derivative, "field")
    pairs = [
        (_coordinate(symbol), integer(count, 1, bounds.MAX_ORDER))
        for symbol, count in checked_list(by, bounds.MAX_COORDINATES)
    ]
    if not {symbol for symbol, _ in pairs} <= set(field.args):
        raise ValueError(f"{field} has derivatives in its coordinates only.")
    return sp.Derivative(field, *pairs)


def _coordinate(data):
    return _leaf_of_kind(data, "symbol", "parameter")


def _leaf_of_kind(data, *kinds):
    # Check before reading: a leaf that contains itself would not end.
    if not isinstance(data, dict) or data.keys().isdisjoint(kinds):
        raise ValueError(f"Expected a {' or '.join(kinds)}. Received {short(data)}.")
    return leaf_from_json(data)


# In this order the first reader rejects a dict with the keys of two.
_READERS = {
    "rational": _rational,
    "float": _float,
    "constant": _constant,
    "symbol": _symbol,
    "parameter": _parameter,
    "normal": _normal,
    "region": _region,
    "table": _table,
    "field": _field,
    "derivative": _derivative,
}
