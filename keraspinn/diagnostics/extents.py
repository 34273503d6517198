"""How large a field is that its error is measured by."""

import numpy as np

from keraspinn.spec.monomials import monomials
from keraspinn.spec.offsets import is_held

# A field that stands on an offset is as large as its range, some three standard
# deviations: an error of 1 % of 300 K is all that a room's temperature does. One that
# is a constant has no range, and counts as this part of its size, or as what it is
# expected to vary if that is less; or wholly, if an equation holds it by itself, as
# q = k u' does a flux, and so knows its zero.
DEVIATIONS, CONSTANT, EVEN = 3.0, 1e-3, 1e-2


def extent(values, has_zero, expected):
    """What the error of a field with these values is relative to."""
    size = rms(values)
    reach = DEVIATIONS * float(np.std(values))
    if has_zero and reach < EVEN * size:
        return size
    constant = min(CONSTANT * size, expected)
    return min(size, reach if reach > EVEN * constant else constant)


def has_zero(problem, name):
    """Whether an equation knows a field's zero: q = k u' does, not u'' = u - 293."""
    for equation in problem.equations.values():
        source = monomials(equation, problem.coordinates).get(frozenset())
        if is_held(name, equation) and (source is None or not source.is_number):
            return True
    return False


def rms(values):
    """The root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))
