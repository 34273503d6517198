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
# Part of the expected magnitude below which a field is zero.
ZERO = 1e-6


def spectral_magnitudes(domain, terms, offsets, expected, fixed):
    """Return the largest absolute value of each field, by name.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        offsets: Dict from names of fields to their offsets.
        expected: Dict from names of all fields to rough magnitudes.
        fixed: Dict from coordinates without derivatives to a value for each.

    Returns:
        Dict of magnitudes, 0 for a field that vanishes. Empty if polynomials do not
        solve an equation, or an expression cannot be linearized.
    """
    if fixed:  # data belong to other values
        terms = {name: term for name, term in terms.items() if term.table is None}
    sizes = np.array(list(expected.values()))
    degree = DEGREES.get(domain.dimension - len(fixed), DEGREE_BEYOND)
    how = domain, terms, expected, degree, fixed, offsets
    try:
        system = linearization.discretize(*how)
        with np.errstate(all="ignore"):  # numbers that are not finite raise an error
            magnitudes = _solve(*system, sizes).tolist()
    except ValueError:
        return {}
    return dict(zip(expected, magnitudes, strict=True))


def _solve(polynomials, rows, sizes):
    """Return fields' largest values by Gauss-Newton steps.

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
    is_solved = all(row.is_solved(coefficients, sizes) for row in rows)
    if change > linearization.LARGEST_RESIDUAL or not is_solved:
        raise ValueError("Newton's method does not converge to a solution.")
    return np.where(reached > smallest, reached, 0.0)
