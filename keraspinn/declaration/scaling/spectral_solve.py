"""Estimate field magnitudes from a low-order spectral least-squares solution.

Magnitudes do not always follow term by term: a body that loses heat slowly grows as
warm as it must, and a slender beam's deflection and rotation nearly cancel in its
shear. All equations and conditions together are solved by least squares in Chebyshev
polynomials, in waves along periodic coordinates, by Newton's method.
"""

import numpy as np

from keraspinn.declaration.scaling import linearization

# Polynomial degrees, by the number of coordinates that fields vary along.
DEGREES = {1: 40}
# Polynomial degree in more coordinates.
DEGREE_BEYOND = 10
# Number of Newton steps.
MOST_STEPS = 60
# Unknowns times Newton steps, which bounds the time.
MOST_WORK = 3000
# Relative singular value below which a direction keeps its coefficients.
RANK_TOLERANCE = 1e-11
# Relative length of a Newton step below which iteration ends.
CONVERGED = 5e-2
# Number of steps after which a longer step ends the iteration.
FIRST_STEPS = 6
# Shares of the time, from its start.
SHARES = [0.5**k for k in range(1, 17)]
# Number of fields up to which these are tried.
MOST_FIELDS = 4
# Ratio of a field to itself at half of the time, above which it grows: by diffusion,
# it is the square root of two.
SETTLED = 1.3
# Multiples of the points for a source that polynomials do not resolve, and the ratio
# up to which both solutions agree.
DENSITIES, AGREEMENT = (8, 12), 2.0
# Part of the expected magnitude below which a field is zero.
ZERO = 1e-9


def spectral_magnitudes(
    domain, terms, offsets, expected, fixed, is_strict=False, share=1.0, density=1
):
    """Return the largest absolute value of each field, by name.

    More points than determine the coefficients make it a projection, which may miss
    linear equations and, in steady problems, linear conditions.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        offsets: Dict from names of fields to their offsets.
        expected: Dict from names of all fields to rough magnitudes.
        fixed: Dict from coordinates without derivatives to a value for each.
        is_strict: As for `Linearization.is_solved`.
        share: Share of the time, from its start.
        density: Multiple of the points that determine all coefficients.

    Returns:
        Dict of magnitudes, 0 for a field that vanishes. Empty if polynomials do not
        solve an equation, or an expression cannot be linearized.
    """
    if fixed:  # data belong to other values
        terms = {name: term for name, term in terms.items() if term.table is None}
    sizes = np.array(list(expected.values()))
    degree = DEGREES.get(domain.dimension - len(fixed), DEGREE_BEYOND)
    try:
        polynomials, rows = linearization.discretize(
            domain, terms, expected, degree, fixed, offsets, share, density
        )
        held, is_steady = rows, domain.time_coordinate is None
        if density > 1:
            missed = [r for r in rows if r.is_linear and (r.is_equation or is_steady)]
            held = [row for row in rows if row not in missed]
        with np.errstate(all="ignore"):  # numbers that are not finite raise an error
            reached = _solve(polynomials, rows, held, sizes, is_strict)
    except ValueError:
        return {}
    return dict(zip(expected, reached.tolist(), strict=True))


def projected_magnitudes(domain, terms, offsets, expected, fixed):
    """Return magnitudes of a solution that misses linear equations and conditions.

    Beside a narrow source polynomials oscillate, but their mean follows its integral.
    Two numbers of points must agree on it. In time, conditions must be met.

    Args:
        domain, terms, offsets, expected, fixed: As for `spectral_magnitudes`.

    Returns:
        Dict of magnitudes that may lack some.
    """
    problem = domain, terms, offsets, expected, fixed
    first, second = (spectral_magnitudes(*problem, density=n) for n in DENSITIES)
    pairs = {n: sorted((size, second.get(n, 0.0))) for n, size in first.items()}
    return {n: high for n, (low, high) in pairs.items() if high < AGREEMENT * low}


def magnitudes_at_the_beginning(domain, terms, offsets, expected, fixed):
    """Return magnitudes of fields that stop growing in the beginning of the time.

    Many periods are beyond any polynomial. Shorter and shorter shares of the time are
    tried.

    Args:
        domain, terms, offsets, expected, fixed: As for `spectral_magnitudes`.

    Returns:
        Dict of magnitudes, empty if there are none.
    """
    if len(expected) > MOST_FIELDS or any(term.regions for term in terms.values()):
        return {}
    problem = domain, terms, offsets, expected, fixed
    attempts = (spectral_magnitudes(*problem, share=share) for share in SHARES)
    attempts = filter(None, attempts)
    solved, half = next(attempts, {}), next(attempts, {})
    return {n: s for n, s in solved.items() if s <= SETTLED * half.get(n, 0.0)}


def _solve(polynomials, rows, held, sizes, is_strict):
    """Return the largest values of the fields by Gauss-Newton steps, `(f,)`.

    Only the rows in `held` need be solved.

    Raises:
        ValueError: If there is a null space, or the iteration does not converge.
    """
    inside = polynomials.inside()
    is_linear = all(row.is_linear for row in rows)
    # A fourth power has no gradient at zero.
    coefficients = sizes[:, None] * (polynomials.degrees == 0) * (not is_linear)
    smallest, is_nonzero = ZERO * sizes, coefficients.any()
    last = np.full_like(coefficients, np.inf)
    for number in range(min(MOST_STEPS, MOST_WORK // coefficients.size)):
        residual, jacobian = linearization.stack_rows(rows, coefficients, sizes)
        jacobian, norms = linearization.unit_columns(jacobian)
        step, _, rank, _ = np.linalg.lstsq(jacobian, -residual, rcond=RANK_TOLERANCE)
        step = (step / norms).reshape(coefficients.shape) * sizes[:, None]
        # Constants of each field are allowed, if they stay zero.
        if coefficients.size - rank > (0 if is_nonzero else len(coefficients)):
            raise ValueError("Other fields solve the problem too.")
        coefficients = coefficients + step
        reached = abs(inside @ coefficients[:, :, None]).max(axis=(1, 2))
        length, before, total = (
            np.linalg.norm(c / sizes[:, None]) for c in (step, last, coefficients)
        )
        change, last = length / (total or 1.0), step
        if change < CONVERGED or (number > FIRST_STEPS and length > before):
            break
        sizes = np.where(reached > smallest, reached, sizes)
    is_solved = all(row.is_solved(coefficients, sizes, is_strict) for row in held)
    if change > linearization.LARGEST_RESIDUAL or not is_solved:
        raise ValueError("Newton's method does not converge to a solution.")
    return np.where(reached > smallest, reached, 0.0)
