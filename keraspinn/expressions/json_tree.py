"""Expressions as JSON, rebuilt without evaluating text.

A node is a list of its name and arguments, `["Add", ...]`. Integers and booleans are
saved as they are; every other leaf is a dict, such as `{"symbol": "x"}`. Rebuilding
calls constructors from the table of allowed nodes, unevaluated. The result is the
saved tree, and nothing is computed.
"""

import base64
import json
import operator
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import sympy as sp
from mpmath.libmp import repr_dps, to_str
from sympy.functions.elementary.piecewise import ExprCondPair
from sympy.logic.boolalg import Boolean

from keraspinn.expressions.field import Field
from keraspinn.expressions.integral import Region
from keraspinn.expressions.nodes import CONSTANTS, NAMES, check_supported
from keraspinn.expressions.normal_component import NormalComponent
from keraspinn.expressions.parameter import Parameter
from keraspinn.expressions.tabulated import Tabulated

# SymPy would expand 1e999999999.
_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]{1,3})?", re.ASCII)
_PRECISIONS = range(2, 1101)  # bits
_BY_NAME = {name: cls for cls, name in NAMES.items()}


def to_json(expr: sp.Basic) -> Any:
    """Convert an expression to plain data for JSON.

    Args:
        expr: A SymPy expression (or relation) of supported nodes. `normalize` it
            first, so that only fields are differentiated.

    Returns:
        Lists, dicts, strings, numbers and booleans, from which `from_json` rebuilds
        an expression equal to `expr`.

    Raises:
        ValueError: If it contains a node that cannot be saved.

    Example:

    >>> x = sp.Symbol("x")
    >>> to_json(x + 1)
    ['Add', 1, {'symbol': 'x'}]
    """
    data = _write(expr)
    if from_json(data) != expr:
        raise ValueError(
            f"The expression cannot be saved exactly. Received {expr}, which would "
            f"be read as {from_json(data)}."
        )
    return data


def from_json(data: Any, symbols: Iterable[sp.Symbol] | None = None) -> sp.Basic:
    """Rebuild an expression that `to_json` converted to plain data.

    No part of `data` is evaluated as code.

    Args:
        data: The result of `to_json`, possibly by way of a JSON file.
        symbols: Optional iterable of the only symbols that may occur. By default
            all may.

    Returns:
        A SymPy expression (or relation).

    Raises:
        ValueError: If `data` is not such a tree, or contains a symbol that is not
            among `symbols`.

    Example:

    >>> from_json(["Add", 1, {"symbol": "x"}])
    x + 1
    """
    try:
        expr = _read(data)
        if not isinstance(expr, (sp.Expr, Boolean)) or _write(expr) != data:
            raise ValueError("SymPy makes another expression of it")
    except Exception as error:
        raise ValueError(
            "An expression cannot be read: it is not in the form that `to_json` "
            f"writes. {str(error)[:200]}. Received a {type(data).__name__}."
        ) from error
    if symbols is not None:
        if unknown := expr.free_symbols - set(symbols):
            raise ValueError(
                f"Unknown symbols: {sorted(map(str, unknown))}. Allowed are, with "
                f"their declared assumptions, {sorted(map(str, symbols))}."
            )
    return expr


def _write(expr):
    if isinstance(expr, sp.Integer):
        return int(expr)
    if isinstance(expr, sp.Rational):
        return {"rational": [int(expr.p), int(expr.q)]}
    if isinstance(expr, sp.Float):
        text = to_str(expr._mpf_, repr_dps(expr._prec))
        return {"float": text, "precision": expr._prec}
    if expr in (sp.true, sp.false):
        return bool(expr)
    if isinstance(expr, sp.NumberSymbol) and str(expr) in CONSTANTS:
        return {"constant": str(expr)}
    if isinstance(expr, Parameter):
        saved = {"parameter": expr.name, "initial": expr.initial}
        return _with_assumptions(saved, expr._assumptions_orig)
    if isinstance(expr, NormalComponent):
        return {"normal": _write(expr.coordinate)}
    if isinstance(expr, Region):
        return {"region": json.loads(expr.name)}
    if isinstance(expr, Tabulated):
        return {"table": _write_table(expr)}
    if type(expr) is sp.Symbol:
        return _with_assumptions({"symbol": expr.name}, expr._assumptions_orig)
    if isinstance(expr, Field):
        saved = {"field": expr.func.__name__, "of": [*map(_write, expr.args)]}
        return _with_assumptions(saved, expr.func._kwargs)
    if isinstance(expr, sp.Derivative):
        by = [[_write(symbol), int(count)] for symbol, count in expr.variable_count]
        return {"derivative": _write(expr.expr), "by": by}
    check_supported(expr, "saved")
    return [NAMES[type(expr)], *map(_write, expr.args)]


def _with_assumptions(saved, assumptions):
    return saved | {"assumptions": dict(assumptions)} if assumptions else saved


def _write_table(table):
    """Return a `Tabulated` as plain data: little-endian float64 in base64."""
    return {
        "axes": [_to_text(axis) for axis in table.axes],
        "values": _to_text(table.values),
        "degree": table.degree,
        "name": table.name,
        "orders": list(table.orders),
    }


def _to_text(array):
    return base64.b64encode(np.ascontiguousarray(array, "<f8").tobytes()).decode()


def _from_text(text):
    return np.frombuffer(base64.b64decode(text, validate=True), "<f8").copy()


def _read(data):
    if isinstance(data, bool):
        return sp.true if data else sp.false
    if isinstance(data, int):
        return sp.Integer(data)
    if isinstance(data, dict):
        # The keys of a leaf are its reader's arguments, which Python checks.
        kind = next((key for key in _READERS if key in data), None)
        return _READERS[kind](**data)
    name, *arguments = data
    cls = _BY_NAME[name]
    options = {} if cls is ExprCondPair else {"evaluate": False}
    return cls(*map(_read, arguments), **options)


def _float(float, precision):
    if not _FLOAT.fullmatch(float) or precision not in _PRECISIONS:
        raise ValueError("A float is a decimal string of up to 1,100 bits")
    return sp.Float(float, precision=precision)


def _field(field, of, **others):
    return _declared(sp.Function, field, **others)(*map(_read, of))


def _derivative(derivative, by):
    # SymPy would evaluate a text in place of a number.
    pairs = [(_read(symbol), operator.index(count)) for symbol, count in by]
    return sp.Derivative(_read(derivative), *pairs)


def _table(axes, values, degree, name, orders):
    axes = tuple(map(_from_text, axes))
    values = _from_text(values).reshape([len(axis) for axis in axes])
    table = Tabulated(axes, values, degree, name)
    for axis, order in enumerate(orders):
        for _ in range(order):
            table = table.differentiated(axis)
    return table


def _declared(cls, *arguments, assumptions=None):
    """Return `cls(*arguments)` with saved assumptions."""
    assumptions = assumptions or {}
    # They become keywords, some of which are no assumptions and take other values.
    if not all(isinstance(value, bool) for value in assumptions.values()):
        raise ValueError("Assumptions are true or false")
    return cls(*arguments, **assumptions)


_READERS = {
    "rational": lambda rational: sp.Rational(*map(operator.index, rational)),
    "float": _float,
    "constant": lambda constant: CONSTANTS[constant],
    "symbol": lambda symbol, **others: _declared(sp.Symbol, symbol, **others),
    "parameter": lambda parameter, initial, **others: _declared(
        Parameter, parameter, initial, **others
    ),
    "normal": lambda normal: NormalComponent(_read(normal)),
    "region": lambda region: Region(json.dumps(region, sort_keys=True)),
    "table": lambda table: _table(**table),
    "field": _field,
    "derivative": _derivative,
}
