"""Expressions as text: names of fields, LaTeX, and lines of messages."""

import re
import textwrap

import sympy as sp

from keraspinn.expressions import Field, Parameter
from keraspinn.expressions.derivatives import symbols_and_orders


def collect_parameters(expressions):
    """Return the unknown coefficients in `expressions`, sorted by name."""
    parameters = set().union(*(e.atoms(Parameter) for e in expressions))
    return tuple(sorted(parameters, key=lambda parameter: parameter.name))


def expression_name(expression):
    """Return a short name, such as `u`, `u_x` or `sqrt(u**2 + v**2)`."""
    if isinstance(expression, Field):
        return expression.func.__name__
    is_derivative = isinstance(expression, sp.Derivative)
    if is_derivative and isinstance(expression.expr, Field):
        pairs = symbols_and_orders(expression)
        suffix = "".join(symbol.name * int(order) for symbol, order in pairs)
        return f"{expression.expr.func.__name__}_{suffix}"
    if isinstance(expression, sp.Piecewise):
        names = (expression_name(e) for e, _ in expression.args)
        return "_or_".join(dict.fromkeys(names))
    return str(shorten(expression))


def latex_of(expression):
    """Return LaTeX with fields without arguments, u_xx, and numbers of four digits."""
    numbers = {number: sp.Float(number, 4) for number in expression.atoms(sp.Float)}
    expression = shorten(expression).xreplace(numbers)
    latex = {symbol: sp.latex(symbol) for symbol in expression.free_symbols}
    word = r"^[^\W\d_][^\W_]+"
    words = {s: re.sub(word, r"\\mathit{\g<0>}", latex[s]) for s in latex}
    return sp.latex(expression, symbol_names=words, mul_symbol=r" \, ")


def align_latex(rows):
    """Return rows of LaTeX, each with its `&`, as notebooks display them."""
    body = " \\\\\n".join(rows)
    return f"$$\\begin{{aligned}}\n{body}\n\\end{{aligned}}$$"


def wrap_line(line):
    """Return a line of text, wrapped at 80 columns."""
    indent, whole = " " * 4, {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.fill(line, 80, subsequent_indent=indent, **whole)


def shorten(expression):
    """Return the expression with fields and derivatives as plain symbols."""
    atoms = expression.atoms(Field, sp.Derivative)
    functions = {atom: sp.Symbol(expression_name(atom)) for atom in atoms}
    if len(set(functions.values())) < len(functions):
        return expression  # a field has the name of another's derivative
    return expression.xreplace(functions)
