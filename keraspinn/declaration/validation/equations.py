"""Checks of names, equations and fields, and their text in messages."""

import textwrap
import warnings
from collections.abc import Mapping

import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.expressions import Parameter, fields_of, required_derivatives

RESIDUAL, ENERGY = "residual", "energy"  # of loss terms, and of a loss in logs


def check_equations(equations):
    """Refuse an object that is no dict of equations, or an empty one."""
    if not isinstance(equations, Mapping) or not equations:
        raise TypeError(
            "`equations` must be a dict from names to equations, such as "
            f"{{'heat': sympy.Eq(u.diff(t), u.diff(x, 2))}}. Received: {equations!r}"
        )


def check_term_names(equations, conditions, parameters, has_energy=False):
    """Raise `ValueError` for two terms or two columns of the logs with one name."""
    names = (ENERGY,) if has_energy else equations
    logs = ["loss", *(f"{name}_loss" for name in (RESIDUAL, *names))]
    logs += [f"{name}_{kind}" for name in conditions for kind in ("loss", "weight")]
    logs += [parameter.name for parameter in parameters]
    if duplicates := sorted({name for name in logs if logs.count(name) > 1}):
        raise ValueError(
            f"Two columns of the logs would have the same name: {duplicates}. Rename "
            "the equation, the condition or the parameter: each has a name of its own, "
            f"and '{RESIDUAL}' is the equations' loss term."
        )


def check_holds_a_field(expression, where):
    """Raise `ValueError` for an expression without fields."""
    if not fields_of([expression]):
        raise ValueError(
            f"In {where}: there is no field in {expression} = 0. Write an equation in "
            "the fields. (SymPy makes the derivative of u(x) by any other symbol zero, "
            "and that of a function without arguments, sympy.Function('u').diff(x), "
            "one: apply it to the coordinates first.)"
        )


def warn_of_no_conditions(equations, conditions, domain):
    """Warn of fields of differential equations without any condition.

    This is no error: the network's architecture may satisfy conditions.

    Args:
        equations: Iterable of expressions.
        conditions: Iterable of the conditions' expressions. A condition on one field
            counts for all fields that share equations with it, such as a pressure.
        domain: The geometry. If all its sides are periodic, it has no boundary, and a
            field that occurs without a derivative, as in u'' - u = f, needs no
            condition.
    """
    groups = [{*fields_of([e])} for e in equations]
    determined = {*fields_of(conditions)}
    for _ in groups:  # the longest chain of equations that share fields
        determined.update(*(fields for fields in groups if fields & determined))
    free = set().union(*groups) - determined
    needed = required_derivatives(equations, domain.coordinates)
    if not domain.boundary and domain.initial is None:
        free = {n for n in free if not any(sum(d) == 0 for d in needed.get(n, ()))}
    if names := sorted(n for n in free if any(map(any, needed.get(n, ())))):
        warnings.warn(
            "The problem is underdetermined: it has no conditions for "
            f"{', '.join(names)}, and infinitely many fields solve its equations. "
            "Declare boundary and initial conditions, conditions={'wall': "
            "keraspinn.Condition(...)}, or measurements, keraspinn.Data(...), unless "
            "the network's architecture satisfies them, as periodic layers do.",
            stacklevel=4,
        )


def collect_parameters(expressions):
    """Return the unknown coefficients in `expressions`, sorted by name."""
    parameters = set().union(*(e.atoms(Parameter) for e in expressions))
    return tuple(sorted(parameters, key=lambda parameter: parameter.name))


def order_fields(requested, expressions, coordinates):
    """Return the fields as applied functions, in the order of the network's outputs.

    Args:
        requested: The argument `fields` of a `Problem`.
        expressions: All equations and conditions.
        coordinates: The domain's symbols.

    Raises:
        ValueError: If others are requested, or no field depends on a coordinate.
    """
    atoms = set().union(*(e.atoms(AppliedUndef) for e in expressions))
    applied = {field.func.__name__: field for field in atoms}
    names = fields_of(expressions)
    for symbol in coordinates:
        if not any(symbol in field.args for field in applied.values()):
            field, arguments = applied[names[0]], ", ".join(map(str, coordinates))
            raise ValueError(
                f"No field depends on {symbol}, a coordinate of the domain. Received "
                f"{field}, which lacks {symbol}. Write {field.func}({arguments}). A "
                "field may depend on fewer coordinates where another depends on all."
            )
    if requested is None:
        return tuple(applied[name] for name in names)
    requested = requested if isinstance(requested, (list, tuple)) else [requested]
    order = [str(getattr(field, "func", None)) for field in requested]
    if sorted(order) != list(names):
        raise ValueError(
            f"`fields` must list each field of the equations once: {list(names)}. "
            f"Received: {list(requested)}"
        )
    return tuple(applied[name] for name in order)


def expression_name(expression):
    """Return a short name, such as `u`, `u_x` or `sqrt(u**2 + v**2)`."""
    if isinstance(expression, AppliedUndef):
        return expression.func.__name__
    is_derivative = isinstance(expression, sp.Derivative)
    if is_derivative and isinstance(expression.expr, AppliedUndef):
        order = "".join(symbol.name for symbol in expression.variables)
        return f"{expression.expr.func.__name__}_{order}"
    if isinstance(expression, sp.Piecewise):
        names = (expression_name(e) for e, _ in expression.args)
        return "_or_".join(dict.fromkeys(names))
    return str(shorten(expression))


def latex_of(expression):
    """Return LaTeX with fields without arguments, u_xx, and numbers of four digits."""
    numbers = {number: sp.Float(number, 4) for number in expression.atoms(sp.Float)}
    return sp.latex(shorten(expression).xreplace(numbers))


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
    atoms = expression.atoms(AppliedUndef, sp.Derivative)
    functions = {atom: sp.Symbol(expression_name(atom)) for atom in atoms}
    if len(set(functions.values())) < len(functions):
        return expression  # a field has the name of another's derivative
    return expression.xreplace(functions)
