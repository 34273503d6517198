"""Table of the supported SymPy node types.

It defines which nodes can be evaluated and saved. All arithmetic is real, so a value
that is complex in SymPy (the logarithm of a negative number) is NaN.
"""

import functools

import sympy as sp
from keras import ops
from sympy.functions.elementary.piecewise import ExprCondPair

from keraspinn.expressions.field import Field
from keraspinn.expressions.image import At
from keraspinn.expressions.integral import PartIntegral
from keraspinn.expressions.line_integral import LineIntegral
from keraspinn.expressions.tabulated import Interpolation


def _fold(function):
    """Extend a two-argument function to any number, from the left."""
    return lambda *tensors: functools.reduce(function, tensors)


def _sech(x):
    # 1 / cosh(x) has a NaN gradient where cosh overflows. t = ±x < 0 avoids it,
    # and sech is even, so all derivatives at 0 stay right.
    t = ops.where(x < 0, x, -x)
    return 2 * ops.exp(t) / (1 + ops.exp(2 * t))


# Functions of one name in SymPy and Keras; the inverse asin is arcsin in Keras.
_INVERTED = ("sin", "cos", "tan", "sinh", "cosh", "tanh")
_SAME = (*_INVERTED, "exp", "log", "erf", "erfc", "sign")

# SymPy class -> function of tensors. It is `None` for classes whose lowering depends on
# their arguments.
NODES = {
    **{getattr(sp, name): getattr(ops, name) for name in _SAME},
    **{getattr(sp, f"a{name}"): getattr(ops, f"arc{name}") for name in _INVERTED},
    sp.cot: lambda x: ops.divide(ops.cos(x), ops.sin(x)),
    sp.sec: lambda x: ops.reciprocal(ops.cos(x)),
    sp.csc: lambda x: ops.reciprocal(ops.sin(x)),
    sp.coth: lambda x: ops.reciprocal(ops.tanh(x)),
    sp.sech: _sech,
    sp.csch: lambda x: ops.divide(_sech(x), ops.tanh(x)),
    sp.Abs: ops.abs,
    sp.Not: ops.logical_not,
    sp.atan2: ops.arctan2,
    # SymPy's second argument is the value at zero, 1/2 by default.
    sp.Heaviside: ops.heaviside,
    sp.Eq: ops.equal,
    sp.Ne: ops.not_equal,
    sp.Lt: ops.less,
    sp.Le: ops.less_equal,
    sp.Gt: ops.greater,
    sp.Ge: ops.greater_equal,
    sp.Max: _fold(ops.maximum),
    sp.Min: _fold(ops.minimum),
    sp.And: _fold(ops.logical_and),
    sp.Or: _fold(ops.logical_or),
}

_HIDDEN = (At, ExprCondPair, Interpolation, LineIntegral, PartIntegral)
_OPERATORS = (sp.Add, sp.Mul, sp.Pow)
NODES |= dict.fromkeys((*_HIDDEN, *_OPERATORS, sp.Piecewise))

# The names that users write; SymPy's classes are StrictLessThan and so on.
_NAMES = {getattr(sp, name): name for name in ("Eq", "Ne", "Lt", "Le", "Gt", "Ge")}

# SymPy class -> name in messages and files.
NAMES = {cls: _NAMES.get(cls, cls.__name__) for cls in NODES}

_CONSTANTS = (sp.pi, sp.E, sp.GoldenRatio, sp.EulerGamma, sp.Catalan)
# Name -> SymPy constant.
CONSTANTS = {str(c): c for c in (*_CONSTANTS, sp.TribonacciConstant)}


# Advice on nodes that are not supported.
_HINTS = {
    **dict.fromkeys(
        ("re", "im", "conjugate", "arg"),
        "Declare what is real as such, with `sympy.symbols('x', real=True)` and "
        "`sympy.Function('u', real=True)`, and a complex field as two real ones.",
    ),
    "DiracDelta": "It has no value at a point, and is the derivative of a jump: of "
    "Heaviside, sign, or the slope of Max, Min and Abs. For a coefficient k that "
    "jumps, declare the flux q as a field: u.diff(x) - q/k and q.diff(x) - f. A source "
    "at a point can be a narrow Gaussian, and Heaviside(z) (1 + tanh(z/width))/2.",
    "Subs": "A field can be taken at another point, `u.subs(x, 0)`, where it stands "
    "with its coordinates, u(x, y), in an equation or a condition too.",
    "Sum": "Its limits must be numbers: write as many terms as a series needs.",
    "ITE": "A condition cannot hold a Piecewise: write its branches out.",
}


def check_supported(node, verb="evaluated"):
    """Raise `ValueError` for a node that cannot be evaluated or saved."""
    name = type(node).__name__
    if type(node) not in NODES:
        names = [name for cls, name in NAMES.items() if cls not in _HIDDEN + _OPERATORS]
        hint = _HINTS.get(
            name,
            f"Supported are {', '.join(sorted([*names, 'sqrt'], key=str.lower))}; "
            "others by a table, j0 = keraspinn.Tabulated(r, scipy.special.j0(r)) and "
            "then j0(u).",
        )
        raise ValueError(f"{name} cannot be {verb}. Received {node}. {hint}")


def is_number_leaf(node):
    """Test whether a node is a finite real number that SymPy stores as one leaf."""
    is_constant = isinstance(node, sp.NumberSymbol) and str(node) in CONSTANTS
    return is_constant or isinstance(node, (sp.Rational, sp.Float))


def distinct_nodes(expressions, kind=object):
    """Yield each distinct node of a kind once, parents before children.

    Fields and derivatives, also at other points, are leaves here. Shared subtrees are
    visited once, so the cost is that of the graph and not of the tree.
    """
    if isinstance(expressions, sp.Basic):
        expressions = (expressions,)
    waiting = list(expressions)[::-1]
    seen = set()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, kind):
            yield node
        if not isinstance(node, (sp.Derivative, Field, At)):
            waiting.extend(node.args[::-1])
