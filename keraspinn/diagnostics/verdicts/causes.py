"""Likely causes of a wrong answer that follow from the declaration and the fields."""

import sympy as sp

from keraspinn.declaration.probe_points import with_symbols
from keraspinn.declaration.windows import later_times
from keraspinn.expressions import At, NormalComponent, PartIntegral, fields_of
from keraspinn.expressions.line_integral import without_line_integrals

# Ratio of a field and its scale, beyond which training suffers.
FAR = 30.0
# Relative change of a parameter by the correction, as by a wrong unit.
MOVED = 10.0


def wrong_scales(problem, sizes, zeros):
    """Yield sentences on fields far from the scale that they are trained in.

    Args:
        problem: The `Problem`.
        sizes: Dict from names of fields to their magnitudes, less offsets.
        zeros: Names of fields that are zero.
    """
    for name, size in sizes.items():
        scale = problem.scales.field(name)
        if name not in zeros and not scale / FAR <= size <= scale * FAR:
            yield (
                f"{name} is about {size:.1g} and its scale {scale:.1g}: declare "
                f"keraspinn.Problem(..., scales={{{name}: {size:.1g}}})."
            )


def moved_parameters(problem, values, changes, is_estimated):
    """Return sentences on parameters that training or the correction moves far.

    Args:
        problem: The `Problem`.
        values: Values of its parameters before, `(K,)`.
        changes: Their changes, subtracted, `(K,)`.
        is_estimated: Whether the correction holds, so that they are near.
    """
    parts = problem.parameters, values, changes
    return [
        f"{parameter.name} moves from {value:.3g} to {value - change:.3g}: check its "
        f"unit, and begin nearer, keraspinn.Parameter('{parameter.name}', "
        f"initial={f'{value - change:.1g}' if is_estimated else '...'})."
        for parameter, value, change in zip(*parts, strict=True)
        if abs(change) > MOVED * abs(value) > 0
    ]


def is_unique(problem):
    """Return whether no other solution is likely.

    So it is with linear equations. With initial values each nonlinear equation must be
    linear in the highest time derivatives, or in the fields without any, and there must
    be neither data nor unknown parameters.
    """
    time = problem.domain.time_coordinate
    if is_linear(problem):
        return True
    given = problem.parameters or problem.measured
    if time is None or given or not is_initial(problem):
        return False
    terms = [term for term in problem.terms.values() if term.is_equation]
    equations = [expression for term in terms for expression in term.pointwise]
    pairs = [_plain(expression) for expression in equations]
    nodes = set().union(*(symbols for _, symbols in pairs))
    rated = {name for node in nodes if _order(node, time) for name in fields_of([node])}
    both = zip(equations, pairs, strict=True)
    return all(_is_linear(e) or _is_explicit(*pair, rated, time) for e, pair in both)


def is_initial(problem):
    """Return whether no condition is, even in part, at a later time than the first."""
    terms = problem.all_terms.values()
    conditions = [e for t in terms if not t.is_equation for e in t.expressions]
    is_elsewhere = any(e.has(At, PartIntegral) for e in conditions)
    return not (is_elsewhere or any(later_times(problem.domain, t) for t in terms))


def _is_explicit(plain, symbols, rated, time):
    """Return whether an equation determines derivatives in time, or other fields."""
    orders = {symbol: _order(node, time) for node, symbol in symbols.items()}
    most = max(orders.values(), default=0)
    highest = {symbol for symbol, order in orders.items() if order == most}
    if not most:
        pairs = symbols.items()
        highest = {s for node, s in pairs if not rated & {*fields_of([node])}}
    rates = (plain.diff(symbol) for symbol in highest)
    return bool(highest) and not any(rate.free_symbols & highest for rate in rates)


def _order(node, time):
    """Return the order of a derivative in time, zero of anything else."""
    is_derivative = isinstance(node, sp.Derivative)
    return dict(node.variable_count).get(time, 0) if is_derivative else 0


def is_linear(problem):
    """Return whether all equations and conditions are linear in fields and parameters.

    Args:
        problem: The `Problem`.
    """
    return all(_is_linear(e) for term in problem.terms.values() for e in term.pointwise)


def _is_linear(expression):
    """Return whether an expression is linear in fields and parameters together."""
    plain, symbols = _plain(expression)
    unknown = {*symbols.values()}
    return not any(plain.diff(symbol).free_symbols & unknown for symbol in unknown)


def _plain(expression):
    """Return an expression in symbols, and the fields and parameters they replace."""
    plain, symbols = with_symbols(without_line_integrals(expression))
    unknown = {n: s for n, s in symbols.items() if not isinstance(n, NormalComponent)}
    return plain, unknown
