"""Whether a floating-point type can hold a problem, before it is trained."""

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import sampled, values_at
from keraspinn.declaration.validation.magnitudes import (
    check_coordinates,
    check_magnitudes,
    coefficients,
    magnitude,
)

POINTS = 256


def precision_fault(problem, dtype, adapted=True):
    """What a type cannot hold of a problem, data included, and what to do about it.

    Args:
        problem: The `Problem`.
        dtype: `"float32"` or `"float64"`.
        adapted: Whether the network is fed from the problem's scales. Another one
            computes from the coordinates themselves.

    Returns:
        A sentence, or `None` if there is nothing to say.
    """
    equations, scaled, largest = _expressions(problem)
    domain = problem.domain
    for name, condition in problem.conditions.items():
        if getattr(condition, "hard", False):  # no term, and yet computed in the type
            equations[f"condition '{name}'"] = sp.Add(*condition.expressions)
    ends = zip(domain.lower.tolist(), domain.upper.tolist(), strict=True)
    intervals = dict(zip(domain.coordinates, ends, strict=True))
    if not adapted:
        whole = sp.Add(*domain.coordinates)
        equations["the network, which is given the coordinates as they are"] = whole
    fault = check_coordinates(equations, intervals, dtype)
    return fault or check_magnitudes(scaled, dtype, largest)


def residual_magnitudes(problem):
    """The decimal logarithms of the sizes of residuals, in the problem's scales.

    Args:
        problem: The `Problem`.

    Returns:
        Dict from texts such as `"equation 'heat'"` to numbers.
    """
    _, scaled, largest = _expressions(problem)
    return {
        label: max(magnitude(term, largest) for term in sp.Add.make_args(expression))
        for label, expression in scaled.items()
    }


def _expressions(problem):
    """Expressions by label, the same in the problem's scales, their coefficients."""
    equations, scaled, largest = {}, {}, {}
    for term in problem.terms.values():
        kind = "equation" if term.labels else "condition"
        names = term.labels or (term.name,) * len(term.expressions)
        sizes = problem.scales.sizes(term)
        for place, name in enumerate(names):
            expression = _misfit(term, place)
            label = f"{kind} '{name}'"
            label += f" ({place + 1})" if label in equations else ""
            equations[label] = expression
            scaled[label] = problem.scales.apply(expression, sizes[place])
            largest |= _coefficient_sizes(problem.domain, term, scaled[label])
    return equations, scaled, largest


def _coefficient_sizes(domain, term, expression):
    """Dict from the coefficients of an expression to their sizes at points of a term.

    Sizes are those that 1% of the points exceed, as a coefficient may have a pole.
    """
    found = sorted(coefficients(expression), key=sp.default_sort_key)
    if not found:
        return {}
    if term.table is None:
        points = sampled(domain, term.blocks, POINTS)
    else:
        points = term.table[0]
    stand_ins = {
        symbol: sp.Float(getattr(symbol, "initial", 1.0) or 1.0)
        for part in found
        for symbol in part.free_symbols - set(domain.coordinates)
    }
    sizes = {}
    for part in found:
        known = part.xreplace(stand_ins)
        try:
            values = np.abs(values_at([known], domain.coordinates, points)[0])
        except ValueError:  # a derivative of |x| for one
            continue
        values = np.sort(values[~np.isnan(values)])
        if len(values):
            most = values[int(0.99 * (len(values) - 1))] or values[-1]
            sizes[part] = float(most)
    return sizes


def _misfit(term, place):
    """One of a term's expressions, less the largest value that it should take."""
    expression = term.pointwise[place]
    if term.table is None:
        return expression
    largest = abs(term.table[1][:, place]).max()
    return expression - sp.Float(largest) if largest else expression
