"""A coarse solution by polynomials: how large fields are where no term says it.

Sizes do not follow term by term: a body that gives heat off slowly grows as warm as it
must, and a slender beam's deflection and rotation nearly cancel in its shear. So all
equations and conditions together are solved by least squares in Chebyshev polynomials,
waves where sides are joined, by Newton's steps, in some hundredths of a second.
It is believed where two degrees agree, and tried with higher ones where they do not. No
answer, but as large as one.
"""

import numpy as np

from keraspinn.spec.linearised import MISSED, linearised, stacked
from keraspinn.spec.polynomials import Polynomials

# Degrees that are tried, by the number of coordinates that fields vary along.
DEGREES, DEGREES_BEYOND = {1: (10, 40), 2: (10, 20)}, (10,)
# The degree, of another's, that must lead to the same; and how far apart they may be.
LOWER, AGREED = 0.75, 1.5
# Where Newton's steps begin, of the sizes: a fourth power has no slope at zero.
STARTS = 0, 1, 1e2, 1e4
# Newton's steps, and how many times the unknowns, for the time that it takes.
STEPS, WORK = 60, 3000
# Of singular values, below which a direction is left as it is.
RANK = 1e-7
# A step of what it has led to, below which no other is made; and above which, after so
# many, none will settle.
SETTLED, LOST, TRIED = 5e-2, 0.4, 6
NOTHING = 1e-6  # of what was expected, below which a field is zero


def coarse_sizes(domain, terms, offsets, expected, fixed):
    """Dict from names of fields to their largest absolute values.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        offsets: Dict from names of fields to what they are measured from.
        expected: Dict from names of all fields to sizes that are about right.
        fixed: Dict from coordinates that nothing is derived by to values of theirs.

    Returns:
        The dict; empty where polynomials do not solve an equation or an expression
        cannot be linearised. A field that is next to nothing is 0.
    """
    if fixed:  # data are of other values
        terms = {name: term for name, term in terms.items() if term.table is None}

    def solution(degree):
        polynomials = Polynomials(domain, expected, degree, fixed)
        rows = list(linearised(domain, terms, polynomials, offsets))
        return polynomials.degree, _solution(polynomials, rows, expected)

    try:
        for degree in DEGREES.get(domain.dimension - len(fixed), DEGREES_BEYOND):
            degree, found = solution(degree)
            # Newton's steps may lead beyond a pole, to a field that is none.
            if found and _agree(found, solution(LOWER * degree)[1]):
                return found
    except ValueError:  # a derivative by a field that cannot be evaluated
        pass
    return {}


def _agree(found, other):
    pairs = [(found[name], other[name]) for name in other]
    return bool(pairs) and all(max(pair) <= AGREED * min(pair) for pair in pairs)


def _solution(polynomials, rows, expected):
    inside = polynomials.inside()
    sizes = np.array([expected[name] for name in polynomials.field_names])
    is_linear = all(row.is_linear for row in rows)
    with np.errstate(all="ignore"):  # what is not finite ends it
        for start in STARTS[: 1 if is_linear else None]:
            even = start * sizes[:, None] * polynomials.even
            found = _solved(inside, rows, max(start, 1) * sizes, even)
            if found is not None:
                break
    if found is None:
        return {}
    return dict(zip(polynomials.field_names, found.tolist(), strict=True))


def _solved(inside, rows, sizes, found):
    """The largest values that Newton's steps lead to, an array; `None` if to none."""
    smallest = NOTHING * sizes
    for number in range(min(STEPS, WORK // found.size)):
        step = _newton_step(rows, found, sizes)
        if step is None:
            return None
        found = found + step
        reached = abs(found @ inside.T).max(axis=1)
        change = np.linalg.norm(step / sizes[:, None])
        change /= np.linalg.norm(found / sizes[:, None]) or 1.0
        if change < SETTLED or (number > TRIED and change > LOST):
            break
        sizes = np.where(reached > smallest, reached, sizes)
    if change > MISSED or not all(row.is_solved(found, sizes) for row in rows):
        return None
    return np.where(reached > smallest, reached, 0.0)


def _newton_step(rows, found, sizes):
    """The change that makes all rows least; `None` if they are not finite, or leave
    more open than a constant of each field.
    """
    residual, jacobian = stacked(rows, found, sizes)
    jacobian = jacobian.reshape(len(residual), -1)
    if not (np.isfinite(residual).all() and np.isfinite(jacobian).all()):
        return None
    step, _, rank, _ = np.linalg.lstsq(jacobian, -residual, rcond=RANK)
    if rank < found.size - len(found):
        return None
    return step.reshape(found.shape) * sizes[:, None]
