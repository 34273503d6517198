"""Whether equations and conditions leave a solution open, as a wave's without its
velocity at the start: what a network then learns looks converged, and is any of many.
"""

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import corners
from keraspinn.declaration.scaling.energy_scales import coarse_energy
from keraspinn.declaration.scaling.linearization import linearised, stacked
from keraspinn.declaration.scaling.polynomials import Polynomials
from keraspinn.declaration.terms import RESIDUAL, fields_of_fewer_coordinates
from keraspinn.declaration.validation.missing_conditions import said_nothing_of

# Of the largest singular value: what is noticed by no more than the first, rounding, or
# by no more than the second and a thousandth of what is noticed next, is not noticed. A
# slender beam's values fall as low, but not at once.
ROUNDING, UNNOTICED, GAP = 1e-13, 1e-8, 1e-3
# Degrees of the polynomials, each with the second of these, by the number of
# coordinates that fields vary along. What is open is so at all: what only grows from
# little at its start, as exp(20 t), is not brought to rounding by a higher degree.
DEGREES = {1: {20: UNNOTICED, 40: ROUNDING}, 2: {20: UNNOTICED}}
# Of a polynomial's coefficients, above which it is one inside the domain.
FELT = 1e-3


def left_open(domain, terms, field_names):
    """What to say where a declaration leaves a solution open, or "".

    That is where a part of the boundary lacks a condition, and where fields may change
    by more than constants and nothing notices, which is looked at in polynomials, in
    linear problems of up to two coordinates without data.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s, hard ones included.
        field_names: Names of the fields.
    """
    if terms[RESIDUAL].is_energy:  # whose boundary is free where nothing is declared
        return coarse_energy(domain, (*terms.values(),), (*field_names,)).left_open
    if unsaid := said_nothing_of(domain, terms):
        return unsaid
    if not (found := _unnoticed(domain, terms, field_names)):
        return ""
    return (
        f"Equations and conditions leave {', '.join(found)} open: there are other "
        "fields that meet all of them as well, and any of these may be learned. Is a "
        "condition missing, such as the velocity that a wave starts with, or what "
        "holds at a side? What the network keeps by the way it is built may be "
        "declared too."
    )


def _unnoticed(domain, terms, field_names):
    """Names of the fields that may change so, a list."""
    fixed = corners(domain, [e for term in terms.values() for e in term.pointwise])[-1]
    varying, found = domain.dimension - len(fixed), field_names
    has_place = bool(domain.boundary) or domain.initial is not None
    if (
        (set(terms) == {RESIDUAL} and has_place)  # which is warned of without a look
        or varying not in DEGREES
        or any(term.table is not None for term in terms.values())
    ):
        return []
    try:
        for look in DEGREES[varying].items():
            found = found and _open(domain, terms, field_names, fixed, *look)
    except ValueError:  # an expression that cannot be looked at
        return []
    return found


def _open(domain, terms, field_names, fixed, degree, unnoticed):
    """Names of the fields that may change unnoticed, a list."""
    polynomials = Polynomials(domain, field_names, degree, fixed)
    rows = []
    for row in linearised(domain, terms, polynomials, {}):
        if not row.is_linear:
            return []
        rows.append(row)
    nothing = np.zeros((len(field_names), polynomials.count))
    jacobian = stacked(rows, nothing, np.ones(len(field_names)))[1]
    if not np.isfinite(jacobian).all():
        return []
    norms = np.linalg.norm(jacobian, axis=0)
    norms = np.where(norms > ROUNDING * norms.max(), norms, norms.max() or 1.0)
    jacobian = (jacobian / norms).reshape(len(jacobian), -1)
    _, values, changes = np.linalg.svd(np.linalg.qr(jacobian, mode="r"))
    relative = values / values[0]
    is_gap = relative[1:] < np.minimum(unnoticed, GAP * relative[:-1])
    is_open = relative < ROUNDING
    is_open[1:] |= np.logical_or.accumulate(is_gap)
    changes = changes[is_open].reshape(-1, *norms.shape) / norms
    changes /= np.linalg.norm(changes, axis=(1, 2), keepdims=True)
    # Not by constants, nor where a domain is not and polynomials are all the same.
    inside = changes @ polynomials.inside().T
    is_free = np.isin(field_names, _without_constants(domain, terms), invert=True)
    inside -= inside.mean(axis=2, keepdims=True) * is_free[:, None]
    moved = np.sqrt((inside**2).mean(axis=2).max(axis=0, initial=0.0))
    return [n for n, own in zip(field_names, moved, strict=True) if own > FELT]


def _without_constants(domain, terms):
    """Names of fields of fewer coordinates that change in time, from a value of theirs.

    A constant more, as a pressure may have, is another solution.
    """
    expressions = [e for term in terms.values() for e in term.expressions]
    derivatives = set().union(*(e.atoms(sp.Derivative) for e in expressions))
    started = {d.expr for d in derivatives if domain.time_coordinate in d.variables}
    fewer = fields_of_fewer_coordinates(domain, terms.values())
    return [field.func.__name__ for field in fewer if field in started]
