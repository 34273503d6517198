"""Offsets of fields: a temperature in kelvin is measured from amid its values.

An equation in which a field occurs in derivatives, coefficients of derivatives and
differences only does not depend on the field's zero. If conditions and data give it
values far from zero, 293 K and 303 K or an outlet at 101,325 Pa, it is measured from
their middle, so that the network learns the variation. So is a field that otherwise
occurs in functions only, in steady problems; and, however far apart its values lie, one
that occurs in a function without a value around zero, where networks begin: the rate
exp(-E/RT).
"""

import math

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.declaration.probe_points import sampled, values_at
from keraspinn.declaration.scaling.monomials import OPAQUE, monomials
from keraspinn.declaration.terms import RESIDUAL
from keraspinn.expressions import NormalComponent, Parameter
from keraspinn.expressions.image import At

# Points of each part at which values are evaluated.
POINTS = 512
# Half of the values' range relative to their middle, up to which an offset pays.
CLOSE = 0.75
# Relative difference of values below which they are equal.
ROUNDING = 1e-12
# Part of an offset that is next to zero.
NEXT_TO_ZERO = 1e-6
# Absolute value above which a function has a pole.
LARGEST = 1e300
# Part of a domain at which no coefficient is likely to have a pole.
AMID = 1 / 7


def offsets_of(domain, terms, field_names):
    """Return a dict from names of fields to their offsets, those not zero.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        field_names: Names of the fields.
    """
    offsets = {}
    for name in field_names:
        values = [
            value
            for key, term in terms.items()
            if not _holds_inside(key, term)
            for place, expression in enumerate(term.expressions)
            for value in _values(name, expression, place, domain, term) or ()
        ]
        if not values:
            continue
        low, high = min(values), max(values)
        middle, half = (low + high) / 2, (high - low) / 2
        is_needed = needs_offset(name, middle, domain, terms)
        if half >= (1.0 if is_needed else CLOSE) * abs(middle):
            continue
        if not is_needed and not _is_invariant(name, middle, domain, terms):
            continue
        digits = 1 - math.floor(math.log10(max(half, ROUNDING * abs(middle))))
        offsets[name] = round(float(middle), digits)
    return offsets


def _holds_inside(key, term):
    return key == RESIDUAL or bool(term.regions)


def _is_invariant(name, middle, domain, terms):
    """Return whether constants near the given values solve all equations."""
    for key, term in terms.items():
        if _holds_inside(key, term):
            for place, expression in enumerate(term.pointwise):
                values = _values(name, expression, place, domain, term, True)
                if values is None or any(
                    abs(value - middle) >= CLOSE * abs(middle) for value in values
                ):
                    return False
    return True


def needs_offset(name, offset, domain, terms):
    """Whether what a field stands in has values at an offset, and none around zero.

    Args:
        name: Name of the field.
        offset: What it may be measured from.
        domain: The geometry.
        terms: Dict from names to `Term`s.
    """
    near = -NEXT_TO_ZERO * offset, NEXT_TO_ZERO * offset
    return any(
        _is_finite(name, offset, expression, domain)
        and not all(_is_finite(name, value, expression, domain) for value in near)
        for key, term in terms.items()
        if _holds_inside(key, term)
        for expression in term.pointwise
        if is_held(name, expression)
    )


def shifted(expression, offsets):
    """An expression of fields that are measured from their offsets.

    Args:
        expression: Normalized SymPy expression.
        offsets: As from `offsets_of`.
    """
    # A derivative holds its field, and so does a field at another point.
    inner = {node: sp.Dummy() for node in expression.atoms(sp.Derivative, At)}
    plain = expression.xreplace(inner)
    outer = {stand_in: node for node, stand_in in inner.items()}
    for value in [*plain.atoms(AppliedUndef), *outer]:
        node = outer.get(value, value)
        field = node.node if isinstance(node, At) else node
        if isinstance(field, AppliedUndef) and field.func.__name__ in offsets:
            outer[value] = node + sp.Float(offsets[field.func.__name__])
    return plain.xreplace(outer)


def network_offsets(problem):
    """What a network's outputs are measured from, a list.

    Nothing where hard conditions say what is added to them.

    Args:
        problem: The `Problem`.
    """
    return [
        0.0 if name in problem.hard else problem.scales.offset(name)
        for name in problem.field_names
    ]


def is_held(name, expression):
    """Whether an expression holds a field itself, beside its derivatives.

    Args:
        name: Name of the field.
        expression: Normalized SymPy expression.
    """
    inner = {node: sp.Dummy() for node in expression.atoms(sp.Derivative)}
    fields = expression.xreplace(inner).atoms(AppliedUndef)
    return any(field.func.__name__ == name for field in fields)


def _is_finite(name, value, expression, domain):
    """Whether an expression is a finite number at a value of a field, amid a domain.

    Other fields and what is derived are taken to be one there.
    """
    known = dict.fromkeys(expression.atoms(sp.Derivative, At), 1.0)
    for field in expression.atoms(AppliedUndef):
        known[field] = value if field.func.__name__ == name else 1.0
    places = domain.centre + AMID * domain.half
    known |= zip(domain.coordinates, places.tolist(), strict=True)
    plain = expression.xreplace({node: sp.Float(own) for node, own in known.items()})
    found = plain.xreplace(dict.fromkeys(plain.free_symbols, sp.Integer(1))).evalf(15)
    return bool(found.is_real and abs(found) < LARGEST)


def _has_derivative(monomial, name):
    """Return whether a term holds a derivative, of one field if `name` is not empty."""
    return any(any(order) and name in ("", field) for (field, order), _ in monomial)


def _values(name, expression, place, domain, term, is_inside=False):
    """Return the lowest and highest constant field that solves an expression.

    Terms with derivatives of the field vanish, and so do others without itself.

    Returns:
        List of the two, empty if the expression does not tell; `None` if it holds
        inside the domain, and the field's zero matters there.
    """
    unknown = None if is_inside else []
    index = (0,) * domain.dimension
    plain = {
        monomial: coefficient
        for monomial, coefficient in monomials(expression, domain.coordinates).items()
        if not _has_derivative(
            monomial, name if (name, index) in dict(monomial) else ""
        )
    }
    source = plain.pop(frozenset(), sp.S.Zero)
    factor = plain.pop(frozenset({((name, index), 1.0)}), None)
    keys = {key for monomial in plain for key, _ in monomial}
    # In time it may go far from its start: a pendulum that stands on its head.
    is_opaque = OPAQUE in keys and bool(domain.time_coordinate)
    if (
        keys & {(name, index), (name, (*index, 0))}
        or (factor is not None and keys and factor + sum(plain.values()) != 0)
        or (is_opaque and is_held(name, expression))
    ):
        return unknown
    if factor is None or keys:
        return []
    value = -source / factor
    if value.has(Parameter):
        value = sp.cancel(value)
    if value.has(Parameter, NormalComponent):
        return unknown
    if term.table is None:
        points, target = sampled(domain, term.blocks, POINTS), 0.0
    else:
        points, target = term.table[0], term.table[1][:, place]
    expressions = [value, sp.S.Zero if term.table is None else 1 / factor]
    with np.errstate(all="ignore"):
        given, rate = values_at(expressions, domain.coordinates, points)
        values = np.atleast_1d(given + target * rate)
    values = values[np.isfinite(values)]
    return [values.min(), values.max()] if values.size else []
