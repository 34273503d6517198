"""Detect elasticity in strong form, whose least-squares solution is too stiff."""

import collections

import sympy as sp

from keraspinn.declaration.steps import prescribed_value
from keraspinn.declaration.terms import condition_terms, equation_expressions
from keraspinn.expressions import Field, fields_of, required_derivatives

UNRELIABLE = (
    "Least squares on the strong form of elasticity converges to a too stiff solution "
    "in bending and at re-entrant corners; declare Problem(domain, energy=...)."
)


def describe_unreliable_elasticity(domain, terms):
    """Return a sentence for a clamped elastic body under tractions, or "".

    Displacements are the fields with a mixed second derivative in another field's
    equation, (λ + μ) ∂ᵢ ∂ⱼ uⱼ. A clamp prescribes constants for all of them on one
    face; a traction prescribes derivatives of several, where none is held. A plate
    without a clamp, such as Kirsch's, a beam with its exact displacements on a face,
    and flow that satisfies continuity are solved well.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s, hard ones included.
    """
    axes = [domain.coordinates.index(s) for s in domain.space_coordinates]
    coupled = collections.Counter()  # number of equations with a mixed derivative
    equations = equation_expressions(terms)
    values = _explicit_values(equations)
    for expression in _substituted(equations, values):
        needed = required_derivatives([expression], domain.coordinates).items()
        coupled.update(n for n, ds in needed if any(_is_mixed(d, axes) for d in ds))
    displacements = {n for n, count in coupled.items() if count >= len(axes) - 1}
    continuity = (e for e in equations if displacements >= {*fields_of([e])})
    rates = (e.atoms(sp.Derivative) for e in continuity)
    is_flow = any(all(d.derivative_count == 1 for d in ds) for ds in rates)
    if len(displacements) < len(axes) or is_flow:
        return ""
    held, derived = collections.defaultdict(set), collections.defaultdict(set)
    for term in condition_terms(terms):
        if term.table is None and not term.regions:
            expressions = _substituted(term.expressions, values)
            needed = required_derivatives(expressions, domain.coordinates).items()
            for part in term.parts:  # u and v may have a condition each
                held[part].update(*map(_constant, term.expressions))
                derived[part].update(n for n, ds in needed if any(map(any, ds)))
    is_clamped = any(displacements <= names for names in held.values())
    loose = [n for part, n in derived.items() if not displacements & held[part]]
    is_pulled = any(len(displacements & names) > 1 for names in loose)
    return UNRELIABLE if is_clamped and is_pulled else ""


def _explicit_values(expressions):
    """Return a dict from three or more fields to values by equations, as stresses."""
    values = {}
    for expression in expressions:
        derived = {d.expr for d in expression.atoms(sp.Derivative)}
        bare = expression.atoms(Field) - derived - values.keys()
        for field in sorted(bare, key=str):
            factor = expression.coeff(field)
            rest = expression - factor * field
            if factor.is_number and factor != 0 and not rest.has(field):
                values[field] = -rest / factor
                break
    return values if len(values) > 2 else {}  # not a vorticity


def _substituted(expressions, values):
    return [e.subs(values).doit() if e.has(*values) else e for e in expressions]


def _constant(expression):
    """Return the name of the field that an expression sets to a constant, in a set."""
    field, value = prescribed_value(expression) or (None, sp.nan)
    return {field.func.__name__} if field and not value.free_symbols else set()


def _is_mixed(index, axes):
    """Return whether a multi-index is a mixed second derivative in space."""
    return max(index) == 1 and sum(index) == 2 == sum(index[k] for k in axes)
