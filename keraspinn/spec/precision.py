"""Whether a floating-point type can hold a problem, before it is trained."""

import sympy as sp

from keraspinn.spec.magnitudes import check_coordinates, check_magnitudes


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
    equations, scaled = {}, {}
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
    domain = problem.domain
    ends = zip(domain.lower.tolist(), domain.upper.tolist(), strict=True)
    intervals = dict(zip(domain.coordinates, ends, strict=True))
    if not adapted:
        whole = sp.Add(*domain.coordinates)
        equations["the network, which is given the coordinates as they are"] = whole
    fault = check_coordinates(equations, intervals, dtype)
    largest = {s: max(map(abs, interval)) for s, interval in intervals.items()}
    return fault or check_magnitudes(scaled, dtype, largest)


def _misfit(term, place):
    """One of a term's expressions, less the largest value that it should take."""
    expression = term.expressions[place]
    if term.table is None:
        return expression
    largest = abs(term.table[1][:, place]).max()
    return expression - sp.Float(largest) if largest else expression
