"""Offsets of fields, such as the middle of the temperatures in kelvin.

An equation does not depend on a field's zero if the field occurs only in derivatives,
their coefficients and differences. If conditions and data prescribe values far from
zero, 293 K and 303 K or an outlet at 101,325 Pa, their middle is the offset, and the
network learns the variation. In steady problems the field may also occur in functions.
A function that is singular around zero, where networks begin, needs an offset for any
range of values: the rate exp(-E/RT).
"""

import math

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import evaluate_at
from keraspinn.declaration.scaling.monomials import OPAQUE, has_derivative, monomials
from keraspinn.declaration.terms import expressions_of, fields_of_fewer_coordinates
from keraspinn.expressions import At, Field, NormalComponent, Parameter, fields_of

# Part of a field that may be anything, in `free_shifts`.
CONSTANT = "a constant"
# Largest half of the values' range, relative to their middle, with an offset.
LARGEST_VARIATION = 0.75
# Relative difference below which values are equal up to round-off.
ROUND_OFF = 1e-12


def find_offsets(domain, terms, field_names):
    """Return a dict from names of fields to their nonzero offsets.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        field_names: Names of the fields.
    """
    offsets = {}
    for name in field_names:
        prescribed = _constants(name, domain, terms, inside=False)
        values = [value for ends in prescribed for value in ends or ()]
        if not values:
            continue
        is_needed = needs_offset(name, terms)
        offset = middle_of(values, 1.0 if is_needed else LARGEST_VARIATION)
        if offset and (is_needed or _is_invariant(name, values, domain, terms)):
            offsets[name] = offset
    return offsets


def middle_of(values, variation=LARGEST_VARIATION, smallest=-1.0):
    """Return the rounded middle of values that vary little beside it, or 0.0.

    Args:
        values: Nonempty sequence of numbers.
        variation: Half of their range, relative to the middle, that is little.
        smallest: Half of the range, up to which the values are constant: 0.0.
    """
    low, high = float(min(values)), float(max(values))
    middle, half = (low + high) / 2, (high - low) / 2
    if not smallest * abs(middle) < half < variation * abs(middle):
        return 0.0
    return round(middle, 1 - math.floor(math.log10(max(half, ROUND_OFF * abs(middle)))))


def _holds_inside(term):
    return term.is_equation or bool(term.regions)


def _is_invariant(name, values, domain, terms):
    """Return whether constants near the prescribed values solve all equations."""
    middle = (min(values) + max(values)) / 2
    largest = LARGEST_VARIATION * abs(middle)
    return all(
        ends is not None and all(abs(end - middle) < largest for end in ends)
        for ends in _constants(name, domain, terms, inside=True)
    )


def _constants(name, domain, terms, inside):
    """Yield `_values` for expressions that hold inside, or for all others."""
    for term in terms.values():
        if _holds_inside(term) == inside:
            for number, expression in enumerate(term.pointwise):
                yield _values(name, expression, number, domain, term)


def needs_offset(name, terms):
    """Return whether an expression is singular where a field is zero, as exp(-1/u).

    Args:
        name: Name of the field.
        terms: Dict from names to `Term`s.
    """
    inside = filter(_holds_inside, terms.values())
    for expression in (e for term in inside for e in term.pointwise):
        known = dict.fromkeys(expression.atoms(sp.Derivative, At), sp.S.One)
        for field in expression.atoms(Field):
            known[field] = sp.Integer(field.func.__name__ != name)
        bases = [p.base for p in expression.atoms(sp.Pow) if p.exp.is_negative]
        bases += [logarithm.args[0] for logarithm in expression.atoms(sp.log)]
        if any(base.has(Field) and base.xreplace(known) == 0 for base in bases):
            return True
    return False


def network_offsets(problem):
    """Return a list of the offsets of a network's outputs.

    The offset of a field with hard conditions is zero, as these contain its value.

    Args:
        problem: The `Problem`.
    """
    names, hard, offset = problem.field_names, problem.hard, problem.scales.offset
    return [0.0 if name in hard else offset(name) for name in names]


def bare_fields(expressions):
    """Return the names of the fields that occur themselves, not only in derivatives.

    Args:
        expressions: Iterable of normalized SymPy expressions.
    """
    return fields_of(
        e.xreplace({node: sp.Dummy() for node in e.atoms(sp.Derivative)})
        for e in expressions
    )


def free_shifts(problem):
    """Return fields that occur in derivatives alone, and what may be added to each.

    Args:
        problem: The `Problem`.

    Returns:
        Dict from names of fields to the words "a constant" or, in a problem with time,
        "a function of t". A field with a derivative by time needs an initial value.
    """
    time = problem.domain.time_coordinate
    expressions = expressions_of(problem.all_terms.values())
    derivatives = set().union(*(e.atoms(sp.Derivative) for e in expressions))
    evolving = {d.expr.func.__name__ for d in derivatives if {*d.variables} <= {time}}
    fixed = evolving.union(bare_fields(expressions))
    free = [f for f in problem.fields if f.func.__name__ not in fixed]
    of_time = f"a function of {time}"
    return {f.func.__name__: of_time if time in f.args else CONSTANT for f in free}


def evolving_fields(domain, terms):
    """Return the fields that are differentiated in time, a set.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
    """
    expressions = expressions_of(terms.values())
    derivatives = set().union(*(e.atoms(sp.Derivative) for e in expressions))
    return {d.expr for d in derivatives if domain.time_coordinate in d.variables}


def fields_fixed_in_time(domain, terms):
    """Return names of fields of fewer coordinates with an initial value.

    Adding a constant to these, unlike to a pressure, gives another solution.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
    """
    evolving = evolving_fields(domain, terms)
    fewer = fields_of_fewer_coordinates(domain, terms.values())
    return [field.func.__name__ for field in fewer if field in evolving]


def _values(name, expression, number, domain, term):
    """Return the lowest and highest constant field that solves an expression.

    Terms with its derivatives vanish, and so do derivatives in other terms.

    Returns:
        List of the two, empty if the expression does not determine them; `None` if it
        depends on the field's zero otherwise.
    """
    index = (0,) * domain.dimension
    plain = {
        monomial: coefficient
        for monomial, coefficient in monomials(expression, domain.coordinates).items()
        if not has_derivative(monomial, name if (name, index) in dict(monomial) else "")
    }
    source = plain.pop(frozenset(), sp.S.Zero)
    factor = plain.pop(frozenset({((name, index), 1.0)}), None)
    keys = {key for monomial in plain for key, _ in monomial}
    # In time a field may move far from its initial value: an inverted pendulum.
    is_opaque = OPAQUE in keys and bool(domain.time_coordinate)
    if (
        keys & {(name, index), (name, (*index, 0))}
        or (factor is not None and keys and factor + sum(plain.values()) != 0)
        or (is_opaque and name in bare_fields([expression]))
    ):
        return None
    if factor is None or keys:
        return []
    value = -source / factor
    if value.has(Parameter):
        value = sp.cancel(value)
    if value.has(Parameter, NormalComponent):
        return None
    expressions = [value, sp.S.Zero if term.table is None else 1 / factor]
    points, target = term.points(domain), term.targets(number)
    with np.errstate(all="ignore"):
        base, rate = evaluate_at(expressions, domain.coordinates, points)
        values = base + target * rate
    values = values[np.isfinite(values)]
    return [values.min(), values.max()] if values.size else []
