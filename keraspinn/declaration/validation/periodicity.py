"""Check that functions and data of periodic coordinates agree at both ends."""

import warnings

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import evaluate_at, probe_points, with_symbols
from keraspinn.declaration.scaling.monomials import monomials

# Difference of the ends relative to the variation inside, up to which they agree.
LARGEST_JUMP = 1e-2
# Least variation relative to the largest value: below it a value is constant.
ROUND_OFF = 1e-9
# Nearest measured points, itself included, that a measured value is compared with.
NEIGHBOURS = 4
# Ratio of changes across the ends and others: gaps between points may differ by it.
MOST_ACROSS = 2.0


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


def check_periodic_data(data, domain, where):
    """Warn of measured values that jump between the two ends of a period.

    Neighbours across the ends then differ far more than any others.

    Args:
        data: The `Data`.
        domain: The geometry.
        where: String that names them in errors.
    """
    from scipy.spatial import cKDTree

    periods = np.isin(domain.coordinates, domain.periodic).astype(float)
    near = min(NEIGHBOURS, len(data.points))
    if not periods.any() or near < 2:
        return
    points = (data.points - domain.lower) / (domain.upper - domain.lower)
    inside = np.where(periods > 0, points % 1, points)
    _, others = cKDTree(inside, boxsize=periods).query(inside, near)
    is_across = (periods * abs(points[others] - points[:, None]) > 0.5).any(axis=2)
    changes = abs(data.targets[others] - data.targets[:, None])
    across, elsewhere = changes[is_across], changes[~is_across]
    largest = MOST_ACROSS * elsewhere.max(axis=0, initial=0.0)
    largest += LARGEST_JUMP * abs(data.targets).max(axis=0)
    if len(across) and (across.mean(axis=0) > largest).any():
        names = ", ".join(map(str, domain.periodic))
        warnings.warn(
            f"In {where}: values differ at the two ends of {names}, which is periodic, "
            "so that no field has both. Declare the domain without "
            f"periodic=[{names}].",
            stacklevel=4,
        )


def _functions(expressions, domain, symbol):
    """Yield the coefficients and source terms that depend on a coordinate."""
    for expression in expressions:
        # Fields inside functions, such as exp(x u), become symbols and then one.
        terms = monomials(expression, domain.coordinates, lambda e: with_symbols(e)[0])
        for function in terms.values():
            if symbol in function.free_symbols:
                others = function.free_symbols - {*domain.coordinates}
                yield function.xreplace(dict.fromkeys(others, sp.S.One))
