"""The sizes of an equation's terms, and what a floating-point type can hold of them.

A loss is a mean of squared residuals, its gradient is as large, and Adam squares that
once more: a residual of size M asks the type for M⁴. In float32, which ends at 1e38,
an equation in pascals overflows there, and one in joules per molecule is zero.
"""

import math

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.piecewise import ExprCondPair

from keraspinn.declaration.validation.equations import short
from keraspinn.expressions import Interpolation, Parameter
from keraspinn.expressions.nodes import distinct_nodes

# Powers of ten within which a residual's fourth power, and a coefficient, are held.
RESIDUAL = {"float32": 9, "float64": 75}
COEFFICIENT = {"float32": 30, "float64": 290}
# A coordinate's largest value over its extent, above which a type tells few of its
# points apart: some thousand are left.
OFFSET = {"float32": 1e4, "float64": 1e12}
SHOWN, LONGEST = 6, 120  # terms in a message, and characters of one
LEAST = -60  # the power of ten from which on a function is not said to be small


def check_magnitudes(equations, dtype, sizes=None):
    """What a type cannot hold of some equations, and what to do about it.

    Args:
        equations: Dict from names, such as `"equation 'heat'"`, to normalized SymPy
            expressions, after `Scales.apply`: fields and derivatives are taken to be
            of size one.
        dtype: `"float32"` or `"float64"`.
        sizes: Optional dict from coordinates, and from `coefficients` of the
            expressions, to the largest values that they take; one if not given.

    Returns:
        A sentence, or `None` if there is nothing to say.

    Example:

    >>> x = sp.Symbol("x")
    >>> u = sp.Function("u")(x)
    >>> check_magnitudes({"equation 'e'": u.diff(x, 2) - 2 * u}, "float32")
    >>> check_magnitudes({"equation 'e'": 1e-38 * u.diff(x, 2) - u}, "float32")[:44]
    "In equation 'e': float32 cannot hold the num"
    """
    for name, expression in equations.items():
        terms = sp.Add.make_args(expression)
        found = [magnitude(term, sizes) for term in terms]
        largest = max(found)
        number = _extreme(expression, COEFFICIENT[dtype])
        if number is not None:
            fault = f"cannot hold the number {sp.N(number, 3)}"
        elif abs(largest) > RESIDUAL[dtype]:
            fault = (
                "cannot hold the squares of its residual and of their gradients, which "
                f"is of size {_shown(largest)}"
            )
        else:
            continue
        shown = ", ".join(
            f"{_shown(size)} of {_brief(short(term))}"
            for term, size in list(zip(terms, found, strict=True))[:SHOWN]
        )
        more = ", …" if len(terms) > SHOWN else ""
        wider = ", or compute in float64" if dtype == "float32" else ""
        return (
            f"In {name}: {dtype} {fault}. Its terms are of the sizes {shown}{more}. "
            "Nondimensionalise: divide the equation by its largest coefficient, and "
            "measure coordinates and fields in units in which they are about "
            f"one{wider}."
        )
    return None


def check_numbers(expressions, dtype):
    """Raises `ValueError` for a number that a type cannot hold, or rounds to zero.

    Args:
        expressions: SymPy expressions, after `Scales.apply`.
        dtype: `"float32"` or `"float64"`.
    """
    for expression in expressions:
        number = _extreme(expression, COEFFICIENT[dtype])
        if number is not None:
            raise ValueError(
                f"{dtype} cannot hold the number {sp.N(number, 3)} that "
                f"{short(expression)} is computed with, in the units of training. "
                "Divide the expression by its largest coefficient."
            )


def check_coordinates(equations, intervals, dtype):
    """Where a coordinate stands in an expression whose points a type tells not apart.

    Networks see coordinates relative to the domain, and do not mind. A source or a
    coefficient does: in float32 the seconds of a Unix time come in steps of 128.

    Args:
        equations: Dict from names to normalized SymPy expressions, in which
            coordinates are the user's.
        intervals: Dict from coordinates to pairs of their ends.
        dtype: `"float32"` or `"float64"`.

    Returns:
        A sentence, or `None` if there is nothing to say.

    Example:

    >>> t = sp.Symbol("t")
    >>> u = sp.Function("u")(t)
    >>> check_coordinates({"e": u.diff(t) - sp.sin(t)}, {t: (0, 100)}, "float32")
    >>> unix = {t: (1.7e9, 1.7e9 + 100)}
    >>> check_coordinates({"e": u.diff(t) - u}, unix, "float32")
    >>> check_coordinates({"e": u.diff(t) - sp.sin(t)}, unix, "float32")[:45]
    'In e: float32 does not tell apart the points '
    """
    for symbol, (start, end) in intervals.items():
        farthest = max(abs(start), abs(end))
        if farthest <= OFFSET[dtype] * (end - start):
            continue
        for name, expression in equations.items():
            # Derivatives and fields hold it too, but are not made of it.
            if not any(node == symbol for node in distinct_nodes([expression])):
                continue
            wider = " or compute in float64," if dtype == "float32" else ""
            return (
                f"In {name}: {dtype} does not tell apart the points of {symbol} ∈ "
                f"[{start:.10g}, {end:.10g}], which the expression is computed from. "
                f"Measure {symbol} from {start:.10g}, so that it begins at zero,{wider}"
                f" or write the equation without {symbol} itself."
            )
    return None


def magnitude(node, sizes=None):
    """The decimal logarithm of how large an expression is, about; -inf for zero.

    Sums are as large as their largest term, and functions of size one, or less if they
    are where fields are one and minus one: a rate, 1e13 exp(-27/(1 + u/10)).
    """
    sizes = sizes or {}
    if node in sizes:
        return _log10(sizes[node])
    if _is_number(node):
        return _log10(node)
    if isinstance(node, (sp.Derivative, AppliedUndef)):
        return 0.0
    if isinstance(node, Parameter):
        return math.log10(abs(node.initial)) if node.initial else 0.0
    if isinstance(node, sp.Symbol):
        return 0.0
    if isinstance(node, sp.Mul):
        known, others = _known_factor(node)
        others = [known, *others] if known in sizes else node.args
        return sum(magnitude(argument, sizes) for argument in others)
    if isinstance(node, (sp.Add, sp.Piecewise, sp.Max, sp.Min, sp.Abs)):
        return max(magnitude(argument, sizes) for argument in node.args)
    if isinstance(node, Interpolation):
        return math.log10(node.table.size) if node.table.size else -math.inf
    if isinstance(node, ExprCondPair):
        return magnitude(node.expr, sizes)
    if isinstance(node, sp.Pow) and _is_number(node.exp):
        return magnitude(node.base, sizes) * float(node.exp)
    return _of_function(node)


def _of_function(node):
    if not isinstance(node, (sp.exp, sp.Function)):
        return 0.0
    fields = node.atoms(sp.Derivative, AppliedUndef)
    sides = sp.Integer(-1), sp.Integer(1)
    values = [node.xreplace(dict.fromkeys(fields, side)) for side in sides]
    if not (fields and all(map(_is_number, values))):
        return 0.0
    size = max(map(_log10, values))
    return size if LEAST < size < 0 else 0.0


def coefficients(expression):
    """The parts of an expression that follow from the coordinates alone, a set.

    Of a product all such factors together: x**9 * exp(-x) is not as large as its
    factors are where they are largest.

    Example:

    >>> x = sp.Symbol("x")
    >>> u = sp.Function("u")(x)
    >>> coefficients(x * sp.exp(-x) * u.diff(x) - sp.sin(x)) == {
    ...     x * sp.exp(-x), -sp.sin(x)
    ... }
    True
    """
    if isinstance(expression, sp.Add):
        return set().union(*map(coefficients, expression.args))
    known, others = _known_factor(expression)
    return set().union(
        *([{known}] if known.free_symbols else []),
        *(coefficients(o.base) for o in others if isinstance(o, sp.Pow)),
    )


def _known_factor(node):
    """The product of a node's factors without fields, and the other factors."""
    factors = sp.Mul.make_args(node)
    others = [f for f in factors if f.has(AppliedUndef, sp.Derivative)]
    return sp.Mul(*(f for f in factors if f not in others)), others


def _shown(size):
    """A power of ten as text, beyond those of float64 too."""
    if math.isinf(size):
        return "0" if size < 0 else "over 1e+308"
    return f"1e{size:+.0f}"


def _is_number(node):
    return isinstance(node, sp.Expr) and node.is_number and not node.has(AppliedUndef)


def _log10(number):
    if isinstance(number, float):
        return math.log10(number) if number else -math.inf
    size = sp.Abs(number).evalf(15)
    return float(sp.log(size, 10).evalf(15)) if size else -math.inf


def _extreme(expression, limit):
    """A coefficient whose power of ten is beyond the limit, or `None`."""
    for node in distinct_nodes([expression]):
        if isinstance(node, sp.Pow) or not isinstance(node, sp.Expr):
            continue
        numbers = [argument for argument in node.args if _is_number(argument)]
        if isinstance(node, sp.Mul) and numbers:
            numbers = [sp.Mul(*numbers)]
        for number in numbers:
            size = _log10(number)
            if math.isfinite(size) and abs(size) > limit:
                return number
    return None


def _brief(term):
    text = str(term)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2]} …"
