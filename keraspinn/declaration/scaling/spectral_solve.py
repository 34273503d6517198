"""Estimate field magnitudes from a low-order spectral least-squares solution.

Magnitudes do not always follow term by term: a body that loses heat slowly grows as
warm as it must, and a slender beam's deflection and rotation nearly cancel in its
shear. All equations and conditions together are solved by least squares in Chebyshev
polynomials, in waves along periodic coordinates, by Newton's method.
"""

import numpy as np

from keraspinn.declaration.scaling.linearization import MISSED, linearised, stacked
from keraspinn.declaration.scaling.polynomials import Polynomials

# Polynomial degrees that are tried, by the number of coordinates fields vary along.
DEGREES, DEGREES_BEYOND = {1: (12, 40)}, (10,)
# Part of the degree that must lead to the same magnitudes.
LOWER = 0.75
# Factor between the two, above which an ill-posed problem's solution is arbitrary.
AGREED = 3.0
# Newton steps.
STEPS = 60
# Unknowns times Newton steps, which bounds the time.
WORK = 3000
# Relative singular value below which a direction keeps its coefficients.
RANK = 1e-11
# Relative length of a Newton step below which iteration ends.
SETTLED = 5e-2
# Number of steps after which a step that grows ends the iteration.
TRIED = 6
# Part of the expected magnitude below which a field is zero.
ZERO = 1e-6


def coarse_sizes(domain, terms, offsets, expected, fixed):
    """Return the largest absolute value of each field, by name.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        offsets: Dict from names of fields to their offsets.
        expected: Dict from names of all fields to rough magnitudes.
        fixed: Dict from coordinates without derivatives to a value for each.

    Returns:
        The dict; 0 for a field that vanishes. Empty if polynomials do not solve an
        equation, or an expression cannot be linearised.
    """
    if fixed:  # data are of other values
        terms = {name: term for name, term in terms.items() if term.table is None}
    sizes = np.array(list(expected.values()))

    def solution(degree):
        polynomials = Polynomials(domain, expected, degree, fixed)
        rows = list(linearised(domain, terms, polynomials, offsets))
        with np.errstate(all="ignore"):  # what is not finite ends the iteration
            return _solved(polynomials, rows, sizes)

    try:
        for degree in DEGREES.get(domain.dimension - len(fixed), DEGREES_BEYOND):
            found = solution(degree)
            if found is not None and _agree(found, solution(int(LOWER * degree))):
                return dict(zip(expected, found.tolist(), strict=True))
    except ValueError:  # a derivative by a field that cannot be evaluated
        pass
    return {}


def _agree(found, other):
    """Return whether another degree leads to the same magnitudes, where it solves."""
    return other is None or bool(
        np.all(np.maximum(found, other) <= AGREED * np.minimum(found, other))
    )


def _solved(polynomials, rows, sizes):
    """The largest values that Newton's steps lead to, an array; `None` if to none."""
    inside = polynomials.inside()
    is_linear = all(row.is_linear for row in rows)
    # A fourth power has no slope at zero.
    found = sizes[:, None] * polynomials.even * (not is_linear)
    smallest, started = ZERO * sizes, found.any()
    last = np.full_like(found, np.inf)
    for number in range(min(STEPS, WORK // found.size)):
        step, left_open = _newton_step(rows, found, sizes)
        # More than a constant of each field, or one that would stay as it began.
        if left_open > (0 if started else len(found)):
            return None
        found = found + step
        reached = abs(found @ inside.T).max(axis=1)
        length, before, whole = (
            np.linalg.norm(own / sizes[:, None]) for own in (step, last, found)
        )
        change, last = length / (whole or 1.0), step
        if change < SETTLED or (number > TRIED and length > before):
            break
        sizes = np.where(reached > smallest, reached, sizes)
    if change > MISSED or not all(row.is_solved(found, sizes) for row in rows):
        return None
    return np.where(reached > smallest, reached, 0.0)


def _newton_step(rows, found, sizes):
    """The change that makes all rows least, and how many directions it leaves open:
    infinitely many where they are not finite.
    """
    residual, jacobian = stacked(rows, found, sizes)
    jacobian = jacobian.reshape(len(residual), -1)
    if not (np.isfinite(residual).all() and np.isfinite(jacobian).all()):
        return found, np.inf
    # Steep derivatives of high polynomials would hide what low ones do.
    norms = np.linalg.norm(jacobian, axis=0)
    norms = np.maximum(norms, RANK * norms.max() or 1.0)
    step, _, rank, _ = np.linalg.lstsq(jacobian / norms, -residual, rcond=RANK)
    step = (step / norms).reshape(found.shape)
    return step * sizes[:, None], found.size - rank
