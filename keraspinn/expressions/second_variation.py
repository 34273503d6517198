"""First and second derivatives of an expression by the fields that it holds."""

import sympy as sp

from keraspinn.expressions.field import Field
from keraspinn.expressions.nodes import distinct_nodes


class SecondVariation:
    """Gradient and Hessian of a density by its fields and their derivatives.

    Args:
        density: Normalized SymPy expression.

    Attributes:
        nodes: Tuple of the fields and derivatives that occur, in a fixed order.
        gradient: Tuple of the derivatives by each node.
        hessian: The second derivatives, a list of lists.
        is_quadratic: Whether no second derivative holds a field.

    Example:

    >>> x = sp.Symbol("x")
    >>> u = sp.Function("u")(x)
    >>> SecondVariation(u.diff(x) ** 2 / 2 - x * u).hessian
    [[0, 0], [0, 1]]
    """

    def __init__(self, density):
        terms = distinct_nodes([density], (sp.Derivative, Field))
        self.nodes = tuple(sorted(terms, key=str, reverse=True))
        symbols = {node: sp.Dummy(real=True) for node in self.nodes}
        plain = density.xreplace(symbols)  # derivatives before the fields within them
        back = {symbol: node for node, symbol in symbols.items()}
        by = [symbols[node] for node in self.nodes]
        first = [plain.diff(symbol) for symbol in by]
        # Of a kink the second derivative is left out: |z|'' is zero but at z = 0.
        second = sp.Matrix(len(by), len(by), lambda i, j: first[i].diff(by[j]))
        second = second.replace(sp.DiracDelta, lambda *_: sp.S.Zero)
        self.is_quadratic = not second.free_symbols & {*by}
        self.gradient = tuple(slope.xreplace(back) for slope in first)
        self.hessian = second.xreplace(back).tolist()
