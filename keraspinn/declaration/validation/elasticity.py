"""Detect elasticity in strong form, whose least-squares solution is too stiff."""

from keraspinn.declaration.scaling.monomials import monomials
from keraspinn.declaration.terms import RESIDUAL
from keraspinn.expressions import required_derivatives

UNRELIABLE = (
    "Least squares on the strong form of elasticity converges to a too stiff solution "
    "in bending and at re-entrant corners; declare the energy instead: "
    "Problem(domain, energy=...)."
)


def unreliable_elasticity(domain, terms):
    """Return a sentence for a clamped elastic body under tractions, or "".

    Displacements are the fields with a mixed second derivative in another field's
    equation, (λ + μ) ∂ᵢ ∂ⱼ uⱼ. A clamp prescribes constants for all of them on one
    face; a traction prescribes derivatives of several. A plate without a clamp, such as
    Kirsch's, and a beam with its exact displacements on a face are solved well.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s, hard ones included.
    """
    axes = [domain.coordinates.index(s) for s in domain.space_coordinates]
    coupled = []  # for each equation, the fields with a mixed derivative
    for expression in terms[RESIDUAL].expressions:
        found = required_derivatives([expression], domain.coordinates).items()
        second = {name: [i for i in own if sum(i) == 2] for name, own in found}
        coupled.append(
            {n for n, own in second.items() if any(_is_mixed(i, axes) for i in own)}
        )
    displacements = {
        name
        for name in set().union(*coupled)
        if sum(name in own for own in coupled) >= len(axes) - 1
    }
    if len(axes) < 2 or len(displacements) < len(axes):
        return ""
    held = [
        term.expressions
        for name, term in terms.items()
        if name != RESIDUAL and term.table is None and not term.regions
    ]
    is_clamped = any(
        displacements <= {n for e in own for n in _constant(e, domain)} for own in held
    )
    is_pulled = any(
        sum(any(map(any, needed.get(name, ()))) for name in displacements) > 1
        for own in held
        for needed in [required_derivatives(own, domain.coordinates)]
    )
    return UNRELIABLE if is_clamped and is_pulled else ""


def _constant(expression, domain):
    """Return the name of the field that an expression sets to a constant, in a set."""
    found = monomials(expression, domain.coordinates)
    if not all(coefficient.is_number for coefficient in found.values()):
        return set()
    keys = [key for monomial in found for key, _ in monomial]
    is_value = len(keys) == 1 and not any(keys[0][1])
    return {keys[0][0]} if is_value else set()


def _is_mixed(index, axes):
    return max(index) == 1 and all(k in axes for k, order in enumerate(index) if order)
