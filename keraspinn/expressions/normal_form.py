"""Normal form of equations: an expression that must vanish."""

import numbers

import sympy as sp
from sympy.logic.boolalg import Boolean, BooleanAtom

from keraspinn.expressions.derivatives import symbols_and_orders
from keraspinn.expressions.field import Field
from keraspinn.expressions.line_integral import line_integrals
from keraspinn.expressions.nodes import NODES

_MATRICES = (sp.MatrixBase, sp.MatrixExpr)
# Advice for objects of some types.
_HINTS = {
    (list, tuple, dict, set, *_MATRICES): "Pass its equations one by one.",
    str: "Text is never evaluated; build the expression with SymPy.",
    numbers.Number: "Write `sympy.Eq(u, {0!r})` to set a field to it.",
    sp.FunctionClass: "Apply the function to the coordinates, as in {0}(x, y).",
    Boolean: "Inequalities and logic may occur only in the conditions of a "
    "`sympy.Piecewise`. For an obstacle, u >= g and e >= 0, write the equation "
    "`sympy.Min(u - g, e)`.",
}


def normalize(equation: sp.Expr | sp.Eq, called: str = "An equation") -> sp.Expr:
    """Convert an equation to the expression that must vanish.

    `sp.Eq(a, b)` becomes `a - b`, and an expression stays itself. Derivatives are
    evaluated: `(u * u.diff(x)).diff(x)` becomes derivatives of `u`. So are finite sums
    and products.

    Args:
        equation: A `sympy.Eq`, or a SymPy expression that means "= 0".
        called: String that starts error messages, such as `"An expression to predict"`.

    Returns:
        A SymPy expression.

    Raises:
        TypeError: If `equation` is not a scalar SymPy equation or expression.
        ValueError: If SymPy reduced the equation to true or false, or it contains an
            integral without finite limits, or a derivative whose order is not an
            integer.

    Example:

    >>> x = sp.Symbol("x")
    >>> u = sp.Function("u")(x)
    >>> normalize(sp.Eq(u.diff(x), sp.sin(x)))
    -sin(x) + Derivative(u(x), x)
    """
    if isinstance(equation, (bool, BooleanAtom)):
        raise ValueError(
            "An equation must contain an unknown. Received "
            f"{bool(equation)}: both sides of a `sympy.Eq` are equal or can never be, "
            "as where a field is differentiated by a coordinate that it was not "
            "declared with, which SymPy makes 0, or before it is applied to any, as in "
            "sympy.Function('u').diff(x), which SymPy makes 1; or `==` was used. Write "
            "`sympy.Eq(left, right)`, and a field of coordinates as `u(x, t)`."
        )
    sides = equation.args if isinstance(equation, sp.Eq) else (equation,)
    for side in sides:
        _check_scalar(side, called)
    left, right = (*map(line_integrals, sides), sp.S.Zero)[:2]
    return _with_numbers(_without_deltas(_real((left - right).doit())))


def _real(expression):
    """Remove the complex parts in |z|' and sign(z)', where z is real.

    SymPy does not know that derivatives of a real field are. A user's own re(z) is left
    as it is, unless all in z is declared as real or has a sign.
    """
    signs = expression.atoms(sp.sign)
    real = {z for node in signs for z in node.atoms(Field, sp.Symbol)}
    parts = {}
    for node in expression.atoms(sp.re, sp.im, sp.conjugate):
        (z,) = node.args
        if all(s.is_real or s in real for s in z.atoms(Field, sp.Symbol)):
            parts[node] = sp.S.Zero if isinstance(node, sp.im) else z
    if parts:
        expression = expression.xreplace(parts).doit()
    for node in expression.atoms(sp.Derivative) if signs else ():
        if isinstance(node.expr, sp.sign):  # sign(z) = 2 H(z) - 1
            jump = 2 * sp.Heaviside(*node.expr.args).diff(*node.variables)
            expression = expression.xreplace({node: jump})
    return expression


def _without_deltas(expression):
    """Remove z δ(z) and z² δ'(z), which are zero, as in (max(z, 0)²)''."""
    for delta in expression.atoms(sp.DiracDelta):
        zero, order = (*delta.args, 0)[:2]
        z = sp.Dummy()
        factor = expression.xreplace({delta: z}).diff(z)
        known = {node: sp.Dummy() for node in factor.atoms(sp.Derivative)}
        factor = factor.xreplace({**known, zero: z})
        rates = (factor.diff(z, k) for k in range(order + 1))
        if all(rate.xreplace({z: sp.S.Zero}) == 0 for rate in rates):
            expression = expression.xreplace({delta: sp.S.Zero})
    return expression


def _with_numbers(expression):
    """Replace numbers such as gamma(26/5), which no node represents, by floats."""
    unknown = [n for n in expression.atoms(sp.Function) if type(n) not in NODES]
    numbers = {node: node.evalf() for node in unknown if node.is_number}
    return expression.xreplace({n: x for n, x in numbers.items() if x.is_Float})


def _check_scalar(side, called):
    if not isinstance(side, sp.Expr) or isinstance(side, _MATRICES):
        hint = next((h for kinds, h in _HINTS.items() if isinstance(side, kinds)), "")
        raise TypeError(
            f"{called} must be a scalar SymPy expression or a `sympy.Eq`. Received "
            f"{side!r} of type {type(side).__name__}. {hint.format(side)}"
        )
    for derivative in side.atoms(sp.Derivative):
        # SymPy would evaluate it to zero and drop the term without a warning.
        field = derivative.expr
        for symbol, _ in symbols_and_orders(derivative):
            # Abs(u).diff(u) holds the derivative of u by itself.
            known = {field, *field.free_symbols}
            if isinstance(field, Field) and symbol not in known:
                raise ValueError(
                    f"{derivative} is always zero, as {field} does not depend on "
                    f"{symbol}. Apply the field to every coordinate of the domain; "
                    "symbols of the same name but other assumptions are different ones."
                )
