"""Taylor series of piecewise algebraic SymPy expressions."""

import functools
import operator

import sympy as sp
from sympy.functions.elementary.piecewise import ExprCondPair

from keraspinn.derivatives.taylor.activations import power
from keraspinn.derivatives.taylor.series import select
from keraspinn.expressions.nodes import NODES

_NODES = (
    *(sp.Symbol, sp.Number, sp.Add, sp.Mul, sp.Pow, sp.Piecewise, ExprCondPair),
    *(sp.Rel, sp.And, sp.Or, type(sp.true)),
)


def is_algebraic(expression):
    """Return whether `series_of` evaluates an expression.

    Args:
        expression: SymPy expression.
    """
    return all(
        isinstance(node, _NODES) and not (node.is_Pow and not node.exp.is_Rational)
        for node in sp.preorder_traversal(expression)
    )


def series_of(expression, symbols):
    """Return the series of an expression, with equal subexpressions evaluated once.

    Args:
        expression: SymPy expression of sums, products, rational powers and pieces.
        symbols: Dict from its symbols to `Taylor` series of one feature.
    """
    (first, *_) = symbols.values()
    zero = first * 0.0

    @functools.cache
    def evaluate(node):
        if node.is_Number:
            return zero + float(node)
        if node.is_Symbol:
            return symbols[node]
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
        numbers = [float(a) for a in node.args if a.is_Number]
        series = [evaluate(a) for a in node.args if not a.is_Number]
        return functools.reduce(operation, [*series, *numbers])

    @functools.cache
    def holds(condition):
        if isinstance(condition, sp.Rel):
            operands = (evaluate(side).value for side in condition.args)
        else:
            operands = map(holds, condition.args)
        return NODES[type(condition)](*operands)

    return evaluate(expression)
