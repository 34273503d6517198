"""Check that functions of periodic coordinates agree at both ends."""

import warnings

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import evaluate_at, probe_points, with_symbols
from keraspinn.declaration.scaling.monomials import monomials

# Difference of the ends relative to the variation inside, up to which they agree.
LARGEST_JUMP = 1e-2
# Least variation relative to the largest value: below it a value is constant.
ROUND_OFF = 1e-9


def check_periodicity(expressions, domain, blocks, where):
    """Warn of coefficients and source terms that differ at the ends of a period.

    Args:
        expressions: Normalized SymPy expressions.
        domain: The geometry.
        blocks: The parts of the domain where the expressions should hold.
        where: String that names them in errors.
    """
    for symbol in domain.periodic:
        column = domain.coordinates.index(symbol)
        points = probe_points(domain, blocks)
        if not np.ptp(points[:, column]):
            continue
        for function in _functions(expressions, domain, symbol):
            if differs_at_ends(function, domain, symbol, points):
                warnings.warn(
                    f"In {where}: {function} differs at the ends of {symbol}, which "
                    f"is periodic. Write it with period {2 * domain.half[column]:g}, "
                    f"or declare the domain without periodic=[{symbol}].",
                    stacklevel=4,
                )


def differs_at_ends(function, domain, symbol, points, largest=LARGEST_JUMP):
    """Return whether a function of the coordinates jumps across a period's ends.

    Args:
        function: A SymPy expression.
        domain: The geometry.
        symbol: The periodic coordinate.
        points: Array `(N, d)` of the other coordinates to compare at.
        largest: Jump, relative to the variation inside, up to which the ends agree.
    """
    axis = domain.coordinates.index(symbol) == np.arange(domain.dimension)
    ends = [np.where(axis, end, points) for end in (domain.lower, domain.upper)]
    inside, *at_ends = (
        evaluate_at([function], domain.coordinates, at)[0] for at in (points, *ends)
    )
    variation = max(np.ptp(inside), ROUND_OFF * abs(inside).max())
    return np.ptp(at_ends, axis=0).max() > largest * variation


def _functions(expressions, domain, symbol):
    """Yield the coefficients and source terms that depend on a coordinate."""
    for expression in expressions:
        # Fields inside functions, such as exp(x u), become symbols and then one.
        terms = monomials(expression, domain.coordinates, lambda e: with_symbols(e)[0])
        for function in terms.values():
            if symbol in function.free_symbols:
                others = function.free_symbols - {*domain.coordinates}
                yield function.xreplace(dict.fromkeys(others, sp.S.One))
