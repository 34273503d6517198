"""A coarse solution by polynomials: how large fields are where no term says it.

Sizes do not follow term by term: a body that gives heat off slowly grows as warm as it
must, and a slender beam's deflection and rotation nearly cancel in its shear. So all
equations and conditions together are solved by least squares in Chebyshev polynomials,
waves where sides are joined, potentials about holes beside them, by Newton's steps, in
some tenths of a second at most. It is believed where two degrees agree, and tried with
higher ones where they do not. No answer, but as large as one.
"""

import numpy as np

from keraspinn.declaration.scaling.linearization import MISSED, linearised, stacked
from keraspinn.declaration.scaling.potentials import functions

# Degrees that are tried, by the number of coordinates that fields vary along.
DEGREES, DEGREES_BEYOND = {1: (12, 40), 2: (10, 20)}, (10,)
# The degree, of another's, that must lead to the same; and how far apart they may be.
LOWER, AGREED = 0.75, 1.5
# Where Newton's steps begin, of the sizes: a fourth power has no slope at zero.
STARTS = 0, 1, 1e4
# Newton's steps, and how many times the unknowns, for the time that it takes.
STEPS, WORK = 60, 3000
# Of singular values, below which a direction is left as it is.
RANK = 1e-11
# A step of what it has led to, below which no other is made; and after how many one
# that is longer than the one before ends them.
SETTLED, TRIED = 5e-2, 6
ZERO = 1e-6  # of what was expected, below which a field is zero


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

    def basis(degree):
        return functions(domain, expected, degree, fixed)

    def solution(own):
        return _solution(own, list(linearised(domain, terms, own, offsets)), expected)

    reached = 0
    try:
        for degree in DEGREES.get(domain.dimension - len(fixed), DEGREES_BEYOND):
            own = basis(degree)
            if own.degree == reached:  # as high as there may be functions
                break
            reached, found = own.degree, solution(own)
            # Newton's steps may lead beyond a pole, to a field that is none.
            if found and _agree(found, solution(basis(LOWER * reached))):
                return found
    except ValueError:  # a derivative by a field that cannot be evaluated
        pass
    return {}


def _agree(found, other):
    pairs = [(found[name], other[name]) for name in other]
    return bool(pairs) and all(max(pair) <= AGREED * min(pair) for pair in pairs)


def _solution(polynomials, rows, expected):
    inside, even = polynomials.inside(), polynomials.even
    sizes = np.array([expected[name] for name in polynomials.field_names])
    is_linear = all(row.is_linear for row in rows)
    starts = [(factor * sizes[:, None] * even, max(factor, 1)) for factor in STARTS]
    with np.errstate(all="ignore"):  # what is not finite ends it
        if not is_linear:  # one that leaves nothing open leads to no root by chance
            starts.sort(key=lambda own: _newton_step(rows, own[0], sizes)[1])
        for start, factor in starts[: 1 if is_linear else None]:
            found = _solved(inside, rows, factor * sizes, start)
            if found is not None:
                return dict(zip(polynomials.field_names, found.tolist(), strict=True))
    return {}


def _solved(inside, rows, sizes, found):
    """The largest values that Newton's steps lead to, an array; `None` if to none."""
    smallest, last, started = ZERO * sizes, np.full_like(found, np.inf), found.any()
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
