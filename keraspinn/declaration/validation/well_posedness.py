"""Detection of underdetermined problems, such as a wave without initial velocity.

A network then converges to any of infinitely many solutions.
"""

import dataclasses
import itertools

import numpy as np
import sympy as sp

from keraspinn.declaration.formulas import collect_parameters
from keraspinn.declaration.probe_points import parameter_corners
from keraspinn.declaration.scaling import linearization
from keraspinn.declaration.scaling.energy_scales import coarse_energy
from keraspinn.declaration.scaling.offsets import fields_fixed_in_time
from keraspinn.declaration.terms import RESIDUAL, condition_terms, expressions_of
from keraspinn.declaration.validation import missing_conditions
from keraspinn.declaration.validation.peaks import describe_peaks

# Relative singular value of round-off.
ROUND_OFF = 1e-13
# Relative singular value below which a direction is in the null space without a gap:
# those of Cauchy data on a side fall to 2e-14, gradually.
VANISHING = 2e-15
# Relative singular value below which it is in the null space if a gap precedes it.
SMALL = 1e-8
# Ratio of neighbouring singular values at a gap. Those of a slender beam fall as low,
# but gradually.
GAP = 1e-3
# Largest singular value after a gap, by number of varying coordinates and degree. An
# underdetermined problem is so at all degrees; exp(20 t) is not at a higher one.
DEGREES = {1: {20: SMALL, 40: ROUND_OFF}, 2: {20: SMALL}}
# Shares of the time in which an underdetermined problem is so, and the gap in each. In
# the first quarter fields that grow as exp(20 t) are not almost zero initially, and a
# rod without a condition at an end has small singular values without a gap.
SHARES = {1.0: GAP, 1 / 4: 1.0}
# Values of a direction of unit length inside the domain, above which it is a field.
VISIBLE = 1e-3
# Ratios of other values of a parameter to its initial one; two, as one may be right.
OTHER_VALUES = 1.37, 0.61
# Relative residual of a problem that has a solution.
SOLVED = 1e-6
# Degree of polynomials whose derivatives are the unit of each residual: beside those of
# higher degrees, any third derivative at an end is small.
SMOOTH = 6


def describe_underdetermined(domain, terms, sizes):
    """Return a sentence if a problem is underdetermined, or "".

    A part of the boundary may lack a condition. In linear problems of up to two
    coordinates without data, the null space of a polynomial discretization may hold
    more than constants.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s, hard ones included.
        sizes: Dict from names of fields to their scales: in SI units a displacement is
            1e17 times smaller than a stress.
    """
    if terms[RESIDUAL].is_energy:  # its boundary is free without a condition
        return coarse_energy(domain, (*terms.values(),), (*sizes,)).underdetermined
    if missing := missing_conditions.describe_missing_conditions(domain, terms):
        return missing
    expressions = expressions_of(terms.values())
    fixed = parameter_corners(domain, expressions)[-1]
    degrees = DEGREES.get(domain.dimension - len(fixed))
    has_boundary = bool(domain.boundary) or domain.initial is not None
    # Another check warns of a boundary without any condition.
    is_bare = not condition_terms(terms) and has_boundary
    if is_bare or not degrees or any(term.table is not None for term in terms.values()):
        return ""
    how = domain, terms, sizes, fixed
    if free := [
        parameter
        for parameter in collect_parameters(expressions)
        if all(_is_solved(*how, max(degrees), parameter, r) for r in OTHER_VALUES)
    ]:
        return missing_conditions.describe_free_parameters(free)
    names = [*sizes]
    shares = [*SHARES][: 2 if domain.time_coordinate else 1]
    for share, (degree, small) in itertools.product(shares, degrees.items()):
        names = names and _null_space_fields(*how, degree, small, share)
    integrals = [term for term in terms.values() if names and term.regions]
    peaks = (describe_peaks(t.expressions, domain, t.blocks)[0] for t in integrals)
    if not names or any(peaks):  # a peak of the integrand has its own warning
        return ""
    example = ", such as an initial velocity" * bool(domain.time_coordinate)
    return (
        "The problem is underdetermined: other fields satisfy all equations and "
        f"conditions too, and differ in {', '.join(names)}. Training may converge to "
        f"any of these. Add the missing condition{example}. Declare "
        "conditions that the network's architecture satisfies too."
    )


def _is_solved(domain, terms, sizes, fixed, degree, parameter, ratio):
    """Return whether a problem has a solution at another value of a parameter."""
    value = {parameter: sp.Float(ratio * (parameter.initial or 1.0))}
    moved = {}
    for name, term in terms.items():
        expressions = tuple(e.xreplace(value) for e in term.expressions)
        moved[name] = dataclasses.replace(term, expressions=expressions)
    if not (system := _linear_system(domain, moved, sizes, fixed, degree)):
        return False
    polynomials, residual, jacobian, norms = system
    smooth = np.tile(polynomials.degrees <= SMOOTH, len(sizes)) * norms
    units = np.linalg.norm(jacobian * smooth, axis=1)
    weights = 1 / np.where(units > 0, units, 1.0)
    residual, jacobian = residual * weights, jacobian * weights[:, None]
    left = np.linalg.norm(residual - jacobian @ np.linalg.lstsq(jacobian, residual)[0])
    return left <= SOLVED * np.linalg.norm(residual)


@np.errstate(all="ignore")  # numbers that are not finite raise an error
def _linear_system(domain, terms, sizes, fixed, degree, share=1.0):
    """Return polynomials, residuals, Jacobian and its divisors; `None` if nonlinear."""
    how = domain, terms, [*sizes], degree, fixed, {}, share
    try:
        polynomials, rows = linearization.discretize(*how)
        zero = np.zeros((len(sizes), polynomials.count))
        units = np.array([*sizes.values()])
        residual, jacobian = linearization.stack_rows(rows, zero, units)
    except ValueError:  # an expression that cannot be linearized, or is not finite
        return None
    if not all(row.is_linear for row in rows):
        return None
    return polynomials, residual, *linearization.unit_columns(jacobian)


def _null_space_fields(domain, terms, sizes, fixed, degree, small, share):
    """Return the names of fields in the null space of polynomials of a degree."""
    if not (system := _linear_system(domain, terms, sizes, fixed, degree, share)):
        return []
    polynomials, _, jacobian, norms = system
    _, values, changes = np.linalg.svd(np.linalg.qr(jacobian, mode="r"))
    relative = values / values[0]
    is_gap = relative[1:] < np.minimum(small, SHARES[share] * relative[:-1])
    is_null = relative < VANISHING
    is_null[1:] |= np.logical_or.accumulate(is_gap)
    changes = (changes[is_null] / norms).reshape(-1, len(sizes), polynomials.count)
    changes /= np.linalg.norm(changes, axis=(1, 2), keepdims=True)
    # Constants do not count, nor do values outside of a field's part.
    inside = (polynomials.inside() @ changes[..., None])[..., 0]
    is_free = np.isin([*sizes], fields_fixed_in_time(domain, terms), invert=True)
    inside -= inside.mean(axis=2, keepdims=True) * is_free[:, None]
    norms = np.sqrt((inside**2).mean(axis=2).max(axis=0, initial=0.0))
    return [n for n, norm in zip(sizes, norms, strict=True) if norm > VISIBLE]
