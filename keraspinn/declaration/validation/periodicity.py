"""Check that given functions of the coordinates agree at the ends of periodic ones."""

import warnings

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import sampled, values_at
from keraspinn.declaration.scaling.monomials import monomials

POINTS = 256  # on each part
JUMP = 1e-2  # of a function's largest value, above which its ends differ


def check_periodicity(expressions, domain, blocks, where):
    """Warns of coefficients, sources and values that differ at joined ends.

    Args:
        expressions: Normalized SymPy expressions.
        domain: The geometry.
        blocks: The parts of the domain where the expressions should hold.
        where: String that names them in errors.
    """
    for symbol in domain.periodic:
        column = domain.coordinates.index(symbol)
        points = sampled(domain, blocks, POINTS)
        for function in _functions(expressions, domain, symbol):
            low, high = points.copy(), points.copy()
            low[:, column], high[:, column] = domain.lower[column], domain.upper[column]
            (every,) = values_at(
                [function], domain.coordinates, np.concatenate([points, low, high])
            )
            inside, *ends = np.split(every, 3)
            is_varied = np.ptp(points[:, column]) > 0
            if is_varied and np.ptp(ends, axis=0).max() > JUMP * abs(inside).max():
                warnings.warn(
                    f"In {where}: {function} differs at the two ends of {symbol}, "
                    "which are one place, as it is periodic. Write it with the period "
                    f"{2 * domain.half[column]:g}, or declare the domain without "
                    f"periodic=[{symbol}].",
                    stacklevel=4,
                )


def _functions(expressions, domain, symbol):
    """Coefficients and sources, functions of the coordinates that hold a symbol."""
    known = {*domain.coordinates}
    for expression in expressions:
        for function in monomials(expression, domain.coordinates).values():
            parameters = function.free_symbols - known
            function = function.xreplace(dict.fromkeys(parameters, sp.S.One))
            if symbol in function.free_symbols:
                yield function
