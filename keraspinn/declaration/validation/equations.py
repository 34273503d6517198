"""Checks of a problem's parts, made when it is declared."""

import textwrap
import warnings
from collections.abc import Mapping

import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.expressions import (
    Parameter,
    fields_of,
    normalize,
    required_derivatives,
)

RESIDUAL, ENERGY = "residual", "energy"  # of loss terms, and of a loss in logs


def named(parts, what, kinds):
    """`parts` as a plain dict, its names and the types of its values checked."""
    expected = " or ".join(kind.__name__ for kind in kinds)
    if not isinstance(parts, Mapping):
        raise TypeError(
            f"`{what}` must be a dict from names to {expected}. Received: an object of "
            f"type {type(parts).__name__}"
        )
    for name, part in parts.items():
        check_name(name, what)
        if not isinstance(part, kinds):
            raise TypeError(
                f"`{what}`['{name}'] must be a {expected}. Received: {part!r} of type "
                f"{type(part).__name__}"
            )
    return dict(parts)


def normalized_equations(equations):
    """Equations by name, each an expression that should vanish."""
    if not isinstance(equations, Mapping) or not equations:
        raise TypeError(
            "`equations` must be a dict from names to equations, such as "
            f"{{'heat': sympy.Eq(u.diff(t), u.diff(x, 2))}}. Received: {equations!r}"
        )
    for name in equations:
        check_name(name, "equations")
    return {name: normalize(equation) for name, equation in equations.items()}


def check_name(name, what):
    """Refuse names that are no text."""
    if not isinstance(name, str) or not name.strip():
        raise ValueError(
            f"A name in `{what}` must be a text that is not empty, such as 'heat' or "
            f"'left wall'. Received: {name!r}"
        )


def check_term_names(equations, conditions, parameters, has_energy=False):
    """Refuse two terms, or two columns of the logs, of one name."""
    if RESIDUAL in conditions:
        raise ValueError(
            f"A condition may not be called '{RESIDUAL}': that is the name of the "
            "equations' own loss term. Choose another name."
        )
    both = sorted(set(equations) & set(conditions))
    if both:
        raise ValueError(
            f"Two terms of one name: {both} stand in `equations` and in `conditions`. "
            "Rename one of each."
        )
    own = (ENERGY,) if has_energy else equations
    logs = ["loss", *(f"{name}_loss" for name in (RESIDUAL, *own))]
    logs += [f"{name}_{kind}" for name in conditions for kind in ("loss", "weight")]
    logs += [parameter.name for parameter in parameters]
    twice = sorted({name for name in logs if logs.count(name) > 1})
    if twice:
        raise ValueError(
            f"The logs would have two columns of one name: {twice}. Rename the "
            "equation, the condition or the parameter."
        )


def check_holds_a_field(expression, where):
    """Refuse what constrains nothing."""
    if not fields_of([expression]):
        raise ValueError(
            f"In {where}: there is no field in {expression} = 0. Write an equation in "
            "the fields. (To SymPy the derivative of u(x) by any other symbol is zero, "
            "and that of a function that is applied to nothing, sympy.Function('u')"
            ".diff(x), is one: apply it to the coordinates first.)"
        )


def warn_without_conditions(equations, conditions, domain):
    """Warns of differential equations that nothing else determines.

    It is no error: a network may keep conditions by the way it is built.

    Args:
        equations: Iterable of expressions.
        conditions: Iterable of the conditions' expressions. Those of one field stand
            for all fields that share equations with it, as for a pressure.
        domain: The geometry. One whose sides are all joined has no place for
            conditions, and a field that stands there by itself, as u does in
            u'' - u = f, needs none.
    """
    groups, held = [{*fields_of([e])} for e in equations], {*fields_of(conditions)}
    for _ in groups:  # as many steps as it may take from equation to equation
        held = held.union(*(fields for fields in groups if fields & held))
    open_ = set().union(*groups) - held
    needed = required_derivatives(equations, domain.coordinates)
    if not domain.boundary and domain.initial is None:
        open_ = {
            n for n in open_ if not any(sum(own) == 0 for own in needed.get(n, ()))
        }
    orders = {n: max(map(sum, own), default=0) for n, own in needed.items()}
    found = sorted(name for name in open_ if orders.get(name))
    if found:
        warnings.warn(
            f"The problem has no conditions for {', '.join(found)}, and infinitely "
            "many fields solve its equations. Declare boundary and initial conditions,"
            " conditions={'wall': keraspinn.Condition(...)}, or measurements, "
            "keraspinn.Data(...), unless the network keeps them by the way it is "
            "built, as periodic layers do.",
            stacklevel=4,
        )


def parameters_of(expressions):
    """The unknown coefficients in `expressions`, by name."""
    found = set().union(*(e.atoms(Parameter) for e in expressions))
    names = [parameter.name for parameter in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"Several parameters are called {twice}: they differ in their initial "
            "value or assumptions. Declare each once and use it throughout."
        )
    return tuple(sorted(found, key=lambda parameter: parameter.name))


def ordered_fields(requested, expressions):
    """The fields, as applied functions, in the order of the network's outputs."""
    applied = {
        atom.func.__name__: atom
        for expression in expressions
        for atom in expression.atoms(AppliedUndef)
    }
    names = fields_of(expressions)
    if requested is None:
        return tuple(applied[name] for name in names)
    requested = (
        tuple(requested) if isinstance(requested, (list, tuple)) else [requested]
    )
    if len(requested) != len(names) or {
        getattr(getattr(field, "func", None), "__name__", None) for field in requested
    } != set(names):
        raise ValueError(
            f"`fields` must list each field of the equations once: {list(names)}. "
            f"Received: {list(requested)}"
        )
    return tuple(applied[field.func.__name__] for field in requested)


def check_every_coordinate(fields, coordinates):
    """Raises `ValueError` unless some field depends on each coordinate."""
    names = ", ".join(map(str, coordinates))
    for symbol in coordinates:
        if not any(symbol in field.args for field in fields):
            field = fields[0]
            raise ValueError(
                f"No field depends on {symbol}, a coordinate of the domain. Received "
                f"{field}, which lacks {symbol}. Write {field.func}({names}). A "
                "field may depend on fewer coordinates where another depends on all."
            )


def expression_name(expression):
    """A short name for an expression in the fields: `u`, `u_x`, `sqrt(u**2 + v**2)`."""
    if isinstance(expression, AppliedUndef):
        return expression.func.__name__
    if isinstance(expression, sp.Derivative) and isinstance(
        expression.expr, AppliedUndef
    ):
        order = "".join(symbol.name for symbol in expression.variables)
        return f"{expression.expr.func.__name__}_{order}"
    return str(short(expression))


def aligned(rows):
    """Rows of LaTeX, each with its `&`, as notebooks display them."""
    body = " \\\\\n".join(rows)
    return f"$$\\begin{{aligned}}\n{body}\n\\end{{aligned}}$$"


def wrapped(line):
    """A line of what is printed, in as many as a terminal of 80 columns needs."""
    indent, whole = " " * 4, {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.fill(line, 80, subsequent_indent=indent, **whole)


def short(expression):
    """The expression with its fields and their derivatives as plain symbols."""
    functions = {
        atom: sp.Symbol(expression_name(atom))
        for kind in (AppliedUndef, sp.Derivative)
        for atom in expression.atoms(kind)
    }
    if len(set(functions.values())) < len(functions):
        return expression  # a field is named like another's derivative
    return expression.xreplace(functions)
