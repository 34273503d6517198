"""Expressions as JSON, rebuilt without evaluating text.

A node is a list of its name and arguments, `["Add", ...]`. Integers and booleans are
saved as they are; every other leaf is a dict, such as `{"symbol": "x"}`. Rebuilding
calls constructors from the table of allowed nodes, unevaluated. The result is the
saved tree, and nothing is computed.
"""

from collections.abc import Iterable
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.piecewise import ExprCondPair
from sympy.logic.boolalg import Boolean

from keraspinn.expressions import bounds
from keraspinn.expressions.image import At
from keraspinn.expressions.integral import PartIntegral, Region
from keraspinn.expressions.json_leaves import leaf_from_json, leaf_to_json
from keraspinn.expressions.line_integral import LineIntegral
from keraspinn.expressions.nodes import NODES, supported_functions
from keraspinn.expressions.tabulated import Interpolation, Tabulated

_BY_NAME = {node.name: node for node in NODES.values()}


def to_json(expr: sp.Basic) -> Any:
    """Convert an expression to plain data for JSON.

    Args:
        expr: A SymPy expression (or relation) of supported nodes. `normalize` it
            first, so that only fields are differentiated.

    Returns:
        Lists, dicts, strings, numbers and booleans, from which `from_json` rebuilds
        an expression equal to `expr`.

    Raises:
        TypeError: If `expr` is not a SymPy expression.
        ValueError: If it contains a node that cannot be saved, or is too large.

    Example:

    >>> x = sp.Symbol("x")
    >>> to_json(x + 1)
    ['Add', 1, {'symbol': 'x'}]
    """
    if not isinstance(expr, (sp.Expr, Boolean)):
        raise TypeError(
            f"Only SymPy expressions can be saved. Received {expr!r} of type "
            f"{type(expr).__name__}."
        )
    data = _Writer().write(expr)
    if from_json(data) != expr:
        raise ValueError(
            f"The expression cannot be saved exactly. Received {expr}, which would "
            f"be read as {from_json(data)}."
        )
    return data


def from_json(data: Any, symbols: Iterable[sp.Symbol] | None = None) -> sp.Basic:
    """Rebuild an expression that `to_json` converted to plain data.

    No part of `data` is evaluated as code. A tree that is malformed, or exceeds the
    nodes or levels in `bounds.py`, is rejected.

    Args:
        data: The result of `to_json`, possibly by way of a JSON file.
        symbols: Optional iterable of the only symbols that may occur. By default
            all may.

    Returns:
        A SymPy expression (or relation).

    Raises:
        ValueError: If `data` is not such a tree, exceeds a limit, or contains a
            symbol that is not among `symbols`.

    Example:

    >>> from_json(["Add", 1, {"symbol": "x"}])
    x + 1
    """
    expr = _Reader().read(data)
    if not isinstance(expr, (sp.Expr, Boolean)):
        raise ValueError(f"A {type(expr).__name__} is not an expression by itself.")
    if symbols is not None:
        unknown = expr.free_symbols - set(symbols)
        if unknown:
            raise ValueError(
                f"Unknown symbols: {sorted(map(str, unknown))}. Allowed are "
                f"{sorted(map(str, symbols))} with the assumptions they were "
                "declared with."
            )
    return expr


class _Budget:
    """Counter of nodes and depth that rejects trees above the limits."""

    def __init__(self):
        self._left = bounds.MAX_NODES

    def spend(self, depth, width=0):
        self._left -= 1
        if self._left < width:
            raise ValueError(
                f"The expression is too large: it has over {bounds.MAX_NODES} nodes."
            )
        if depth > bounds.MAX_DEPTH:
            raise ValueError(
                f"The expression is nested over {bounds.MAX_DEPTH} levels deep, or "
                "contains itself."
            )


class _Writer:
    def __init__(self):
        self._budget = _Budget()

    def write(self, expr, depth=0):
        self._budget.spend(depth, len(expr.args))
        leaf = leaf_to_json(expr)
        if leaf is not None:
            return leaf
        if type(expr) not in NODES:
            raise ValueError(
                f"{type(expr).__name__} cannot be saved. Received {expr}. Supported "
                f"are {supported_functions()}."
            )
        arguments = [self.write(argument, depth + 1) for argument in expr.args]
        return [NODES[type(expr)].name, *arguments]


class _Reader:
    def __init__(self):
        self._budget = _Budget()

    def read(self, data, depth=0):
        self._budget.spend(depth, len(data) if isinstance(data, list) else 0)
        if not isinstance(data, list):
            return leaf_from_json(data)
        node = _node_called(data[0] if data else None)
        if not node.least <= len(data) - 1 <= node.most:
            raise ValueError(
                f"{node.name} takes from {node.least} to {node.most} arguments. "
                f"Received {len(data) - 1}."
            )
        arguments = [self.read(argument, depth + 1) for argument in data[1:]]
        _check_kinds(node, arguments)
        return _build(node, arguments)


def _node_called(name):
    if not isinstance(name, str) or name not in _BY_NAME:
        received = repr(name[:60]) if isinstance(name, str) else type(name).__name__
        raise ValueError(
            f"Unknown node. Received {received}; known are {', '.join(_BY_NAME)}."
        )
    return _BY_NAME[name]


def _check_kinds(node, arguments):
    for position, argument in enumerate(arguments):
        if node.type is sp.Piecewise:
            fits = isinstance(argument, ExprCondPair)
        elif node.type is PartIntegral and position == 1:
            fits = isinstance(argument, Region)
        elif node.type is At and position == 0:
            fits = isinstance(argument, (sp.Derivative, AppliedUndef))
        elif node.type is At and position % 2:
            fits = isinstance(argument, sp.Symbol) and position + 1 < len(arguments)
        elif node.type is LineIntegral and position == 1:
            fits = isinstance(argument, sp.Symbol)
        elif node.type is Interpolation and position == 0:
            fits = isinstance(argument, Tabulated)
        elif node.type in (sp.And, sp.Or, sp.Not) or (
            node.type is ExprCondPair and position == 1
        ):
            # SymPy counts symbols as booleans. A Piecewise in a condition would be
            # expanded, at exponential cost.
            fits = isinstance(argument, Boolean) and not argument.is_Symbol
            fits = fits and not argument.has(sp.Piecewise)
        else:
            fits = isinstance(argument, sp.Expr)
        if not fits:
            raise ValueError(
                f"{node.name} cannot take a {type(argument).__name__} as argument "
                f"{position + 1}."
            )


def _build(node, arguments):
    options = {} if node.type is ExprCondPair else {"evaluate": False}
    try:
        expr = node.type(*arguments, **options)
    except TypeError as error:
        raise ValueError(f"{node.name} rejects its arguments: {error}") from error
    if type(expr) is not node.type or len(expr.args) != len(arguments):
        raise ValueError(
            f"{node.name} has superfluous arguments: SymPy makes it "
            f"{type(expr).__name__} of {len(expr.args)}."
        )
    return expr
