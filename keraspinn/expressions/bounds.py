"""Bounds on what an expression from a file may make SymPy do.

Reading a tree evaluates nothing, but what is read is simplified later, and there
`9**9**9**9` would ask for more digits than there are atoms. So each node read is
given an upper bound on the integers that simplifying it could create.
"""

import math
from typing import NamedTuple

import sympy as sp

MAX_DEPTH = 100
"""Nesting, well inside Python's recursion limit: SymPy's own methods recurse."""

MAX_NODES = 10_000
"""Nodes in one tree, counted as visited, so that shared lists count each time."""

MAX_CONSTANTS = 500
"""Compound constants in one tree, such as `sqrt(2)*pi`: SymPy evaluates each in
software, which takes up to some milliseconds."""

MAX_DIGITS = 300
"""Decimal digits of an integer, which keeps every literal within float64's range."""

MAX_RATIONAL_BITS = 2**16
"""Bits of all integers and rationals in one tree together: to add fractions, their
denominators are multiplied."""

MAX_PRECISION = 1_100
"""Bits of a SymPy float, enough for the digits above."""

MAX_FLOAT_TEXT = 400
"""Characters of a float, enough for the precision above with sign and exponent."""

MAX_NAME = 200
"""Characters of a name; formulas printed with longer ones cannot be read."""

MAX_COORDINATES = 32
"""Arguments of a field: more coordinates than any domain has."""

MAX_ORDER = 64
"""Order of a derivative: Taylor coefficients of higher order overflow anyway."""

MAX_BITS = 2**13
"""Bits of the integers that simplifying may create. The largest floats have 1024;
beyond 4300 digits, about 14,000 bits, Python itself refuses to print integers."""

MAX_EXPONENT = 10_000
"""Size of a constant exponent. In float64 even 1.08**10_000 overflows."""

MAX_FLOAT = 1e308
"""Size of the numbers in an expression, which are evaluated in float64."""


# Functions that another function can undo: exp(n*log(b)) is a power in disguise.
_INVERSES = (sp.log, sp.asin, sp.acos, sp.atan, sp.atan2, sp.asinh, sp.acosh, sp.atanh)
# Functions that hand numbers through: Abs(2*x) is 2*Abs(x).
_OPEN = (sp.Abs, sp.Max, sp.Min, sp.Piecewise)


class Growth(NamedTuple):
    """What simplifying a node could create.

    Attributes:
        bits: Upper bound on the bits of any integer that the simplified node could
            pass on to a power of it.
        value: The node's approximate value if it is one number, else None.
        hidden: The same bound for the integers inside of functions, which stay there
            unless the function is undone.
        undone: Whether the node holds a function that another one could undo.
    """

    bits: int = 0
    value: object = None
    hidden: int = 0
    undone: bool = False


def leaf_growth(leaf):
    """Returns the growth of a number, a symbol, a field or a derivative.

    Raises:
        ValueError: If a float lies outside the range of float64.
    """
    if not isinstance(leaf, (sp.Rational, sp.Float, sp.NumberSymbol)):
        return Growth()
    value = leaf.evalf(15)
    if abs(value) > MAX_FLOAT:
        raise ValueError(f"A number is too large. At most {MAX_FLOAT} is allowed.")
    if isinstance(leaf, sp.Rational):
        bits = max(int(leaf.p).bit_length(), int(leaf.q).bit_length())
    else:
        # Not its digits but its size: a float is never expanded.
        bits = abs(math.frexp(float(value))[1])
    return Growth(bits, value)


def node_growth(node, growths):
    """Returns the growth of a node from those of its arguments.

    Raises:
        ValueError: If the node could grow past `MAX_BITS`, or is a number outside
            the range of float64.
    """
    bits = max(growth.bits for growth in growths) + len(growths).bit_length()
    hidden = max(growth.hidden for growth in growths)
    undone = isinstance(node, _INVERSES) or any(growth.undone for growth in growths)
    if isinstance(node, sp.Mul):
        bits = sum(growth.bits for growth in growths)
    elif isinstance(node, sp.Pow):
        base, exponent = growths
        bits = max(base.bits, exponent.hidden * exponent.undone) * _times(exponent)
        bits = max(bits, exponent.bits)
    elif isinstance(node, sp.Function) and not isinstance(node, _OPEN):
        hidden = max(bits, hidden)
        if isinstance(node, sp.exp) and undone:
            bits = hidden * 2 ** min(bits, 64)
        elif isinstance(node, _INVERSES) or not undone:
            bits = 0
        else:
            bits = hidden
    if bits > MAX_BITS:
        raise ValueError(
            f"A number could grow too large: simplifying this {type(node).__name__} "
            f"may take integers of {bits if bits < 1e9 else 'over 1e9'} bits, and "
            f"{MAX_BITS} are allowed. Write smaller numbers or exponents."
        )
    return Growth(bits, _value(node, growths), hidden, undone)


def _times(exponent):
    """Returns how often an exponent can repeat the bits of its base.

    Raises:
        ValueError: If it is a number above `MAX_EXPONENT`.
    """
    if exponent.value is None:
        return 2 ** min(exponent.bits, 64)
    times = math.ceil(abs(exponent.value))
    if times > MAX_EXPONENT:
        raise ValueError(
            f"An exponent is too large. At most {MAX_EXPONENT} in size is allowed."
        )
    return times


def _value(node, growths):
    values = [growth.value for growth in growths]
    if not isinstance(node, sp.Expr) or any(value is None for value in values):
        return None
    try:
        value = type(node)(*values).evalf(15)
    except (ArithmeticError, TypeError, ValueError):
        value = None
    if not (isinstance(value, (sp.Float, sp.Rational)) and abs(value) < MAX_FLOAT):
        # The value is not shown: to print it could be the longest part.
        raise ValueError(
            f"A number is too large, complex or undefined: a {type(node).__name__} of "
            f"numbers. It must be real, and at most {MAX_FLOAT} in size."
        )
    return value
