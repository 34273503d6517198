"""Check that functions of periodic coordinates agree at both ends."""

import warnings

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import (
    evaluate_at,
    probe_points,
    substitute_symbols,
)
from keraspinn.declaration.scaling.monomials import monomials

# Points on each part.
PART_POINTS = 256
# Difference of the ends relative to the largest value, up to which they agree.
LARGEST_JUMP = 1e-2


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
        points = probe_points(domain, blocks, PART_POINTS)
        if not np.ptp(points[:, column]):
            continue
        axis = np.arange(domain.dimension) == column
        ends = [np.where(axis, end, points) for end in (domain.lower, domain.upper)]
        for function in _functions(expressions, domain, symbol):
            values = [
                evaluate_at([function], domain.coordinates, at)[0]
                for at in (points, *ends)
            ]
            if np.ptp(values[1:], axis=0).max() > LARGEST_JUMP * abs(values[0]).max():
                warnings.warn(
                    f"In {where}: {function} differs at the two ends of {symbol}, "
                    "which is periodic. Write it with the period "
                    f"{2 * domain.half[column]:g}, or declare the domain without "
                    f"periodic=[{symbol}].",
                    stacklevel=4,
                )


def _functions(expressions, domain, symbol):
    """Yield the coefficients and source terms that depend on a coordinate."""
    known = {*domain.coordinates}
    for expression in expressions:
        # Fields inside functions, such as exp(x u), become symbols and then one.
        factors = monomials(
            expression, domain.coordinates, lambda node: substitute_symbols(node)[0]
        )
        for function in factors.values():
            if symbol in function.free_symbols:
                others = function.free_symbols - known
                yield function.xreplace(dict.fromkeys(others, sp.S.One))
