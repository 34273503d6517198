"""Taylor series of piecewise SymPy expressions."""

import functools
import operator

import sympy as sp
from sympy.functions.elementary.piecewise import ExprCondPair

from keraspinn.derivatives.taylor.activations import power
from keraspinn.derivatives.taylor.rules import activate, columns
from keraspinn.derivatives.taylor.series import select
from keraspinn.expressions.nodes import NODES

# Functions of one argument with Taylor coefficients.
FUNCTIONS = sp.exp, sp.log, sp.sin, sp.cos, sp.tanh, sp.atan, sp.erf
_NODES = (
    *(sp.Symbol, sp.Number, sp.NumberSymbol, sp.Add, sp.Mul, sp.Pow, sp.Piecewise),
    *(ExprCondPair, sp.Rel, sp.And, sp.Or, type(sp.true), *FUNCTIONS),
)


def is_algebraic(expression):
    """Return whether `series_of` evaluates an expression.

    Args:
        expression: SymPy expression.
    """
    return all(
        isinstance(node, _NODES) and not (node.is_Pow and not node.exp.is_number)
        for node in sp.preorder_traversal(expression)
    )


def series_of(expressions, names, points):
    """Return series of expressions, a list, with equal parts evaluated once.

    Args:
        expressions: SymPy expressions of sums, products, powers, pieces and functions.
        names: Names of their symbols, one for each coordinate.
        points: `Taylor` series of the points.
    """
    symbols = {name: columns(points, [k]) for k, name in enumerate(names)}
    zero = symbols[names[0]] * 0.0

    @functools.cache
    def evaluate(node):
        if node.is_number:
            return zero + float(node)
        if node.is_Symbol:
            return symbols[node.name]
        if isinstance(node, FUNCTIONS):
            return activate(NODES[node.func], evaluate(node.args[0]))
        if isinstance(node, sp.Piecewise):
            *others, (last, _) = node.args
            result = evaluate(last)
            for value, condition in reversed(others):
                result = select(holds(condition), evaluate(value), result)
            return result
        if node.is_Pow:
            base, exponent = evaluate(node.base), float(node.exp)
            if exponent > 0 and exponent.is_integer():
                return functools.reduce(operator.mul, [base] * int(exponent))
            return base.compose(power(exponent))
        operation = operator.add if node.is_Add else operator.mul
        numbers = [float(a) for a in node.args if a.is_number]
        series = [evaluate(a) for a in node.args if not a.is_number]
        return functools.reduce(operation, [*series, *numbers])

    @functools.cache
    def holds(condition):
        if isinstance(condition, sp.Rel):
            operands = (evaluate(side).value for side in condition.args)
        else:
            operands = map(holds, condition.args)
        return NODES[type(condition)](*operands)

    return [*map(evaluate, expressions)]
