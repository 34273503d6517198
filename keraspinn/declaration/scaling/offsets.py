"""Where fields are measured from: a temperature in kelvin from amid its values.

An equation that holds a field's derivatives alone does not know from where the field is
measured. Where the values that conditions and data give it lie close together and far
from zero, 293 K and 303 K or an outlet at 101,325 Pa, it is measured from their middle,
so that what is learned is what varies. So is one that else stands in functions alone,
where nothing changes in time; and, however far apart its values lie, one that stands in
a function without a value around zero, from which networks begin: the rate exp(-E/RT).
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

POINTS = 512
# Half of the values' range, of their middle, up to which they lie close together.
CLOSE = 0.25
ROUNDING = 1e-12  # of a value, below which no two differ
NEXT_TO_ZERO, LARGEST = 1e-6, 1e300  # of a field's size; and of what is a value
AMID = 1 / 7  # of a domain, where no coefficient is likely to have a pole


def offsets_of(domain, terms, field_names):
    """Dict from names of fields to what they are measured from, those not from zero.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        field_names: Names of the fields.
    """
    found = {}
    expressions = [e for term in terms.values() for e in term.pointwise]
    for name in field_names:
        if any(is_held(name, e) and e.has(Parameter) for e in expressions):
            continue
        values = [
            value
            for key, term in terms.items()
            if key != RESIDUAL and not term.regions
            for place, expression in enumerate(term.expressions)
            for value in _values(name, expression, place, domain, term)
        ]
        if not values:
            continue
        low, high = min(values), max(values)
        middle, half = (low + high) / 2, (high - low) / 2
        is_needed = needs_offset(name, middle, domain, terms)
        if half >= (1.0 if is_needed else CLOSE) * abs(middle):
            continue
        # In time it may go far from its start: a pendulum that stands on its head.
        if not is_needed and any(
            _has_term(name, e, domain) or (domain.time_coordinate and is_held(name, e))
            for e in _everywhere(terms)
        ):
            continue
        digits = 1 - math.floor(math.log10(max(half, ROUNDING * abs(middle))))
        found[name] = round(float(middle), digits)
    return found


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
        for expression in _everywhere(terms)
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


def _everywhere(terms):
    """The expressions that hold all over a domain, a list."""
    return [
        expression
        for key, term in terms.items()
        if key == RESIDUAL or term.regions
        for expression in term.pointwise
    ]


def _has_term(name, expression, domain):
    """Whether a field is a factor of a term, other than in a function like exp(1/u)."""
    own = (name, (0,) * domain.dimension)
    found = monomials(expression, domain.coordinates)
    return any(own in dict(monomial) for monomial in found)


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


def _values(name, expression, place, domain, term):
    """The lowest and highest value that an expression gives a field, if it does."""
    own = ((name, (0,) * domain.dimension), 1.0)
    found = monomials(expression, domain.coordinates)
    source = found.pop(frozenset(), sp.S.Zero)
    factor = found.pop(frozenset({own}), None)
    others = {pair for monomial in found for pair, _ in monomial}
    if (
        factor is None
        or (factor + source).has(NormalComponent)
        or any(
            pair == OPAQUE or not any(pair[1]) or len(pair[1]) > domain.dimension
            for pair in others
        )
    ):
        return []
    if term.table is None:
        points, target = sampled(domain, term.blocks, POINTS), 0.0
    else:
        points, target = term.table[0], term.table[1][:, place]
    given, factor = values_at([source, factor], domain.coordinates, points)
    with np.errstate(all="ignore"):
        values = np.atleast_1d((target - given) / factor)
    values = values[np.isfinite(values)]
    return [values.min(), values.max()] if values.size else []
