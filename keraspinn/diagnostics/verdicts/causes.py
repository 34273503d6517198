"""Likely causes of a wrong answer that follow from the declaration and the fields."""

import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.declaration.probe_points import with_symbols
from keraspinn.expressions import NormalComponent
from keraspinn.expressions.line_integral import LineIntegral

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


def moved_parameters(problem, values, changes):
    """Return sentences on parameters that training or the correction moves far.

    Args:
        problem: The `Problem`.
        values: Values of its parameters before, `(K,)`.
        changes: Their changes, subtracted, `(K,)`.
    """
    parts = problem.parameters, values, changes
    return [
        f"{parameter.name} moves from {value:.3g} to {value - change:.3g}: check its "
        "unit, and begin nearer, "
        f"keraspinn.Parameter('{parameter.name}', initial={value - change:.1g})."
        for parameter, value, change in zip(*parts, strict=True)
        if abs(change) > MOVED * abs(value) > 0
    ]


def is_unique(problem):
    """Return whether no other solution is likely.

    So it is with linear equations, and with initial values of equations that are solved
    for a time derivative or a field, if there are no unknown parameters.
    """
    time = problem.domain.time_coordinate
    if time is None or problem.parameters or not _is_initial(problem, time):
        return is_linear(problem)
    return all(
        _is_linear(expression) or _is_explicit(expression, time)
        for term in problem.terms.values()
        for expression in term.pointwise
    )


def _is_initial(problem, time):
    """Return whether no condition is at a later time than the first."""
    domain, column = problem.domain, problem.coordinates.index(time)
    times = (
        value
        for term in problem.all_terms.values()
        for block in term.blocks
        for part in block
        for index, value in domain.fixed(part)
        if index == column
    )
    return all(value == domain.lower[column] for value in times)


def _is_explicit(expression, time):
    """Return whether it is linear in the highest time derivatives, or a bare field."""
    plain, symbols = _plain(expression)
    orders = {
        symbol: dict(node.variable_count).get(time, 0)
        for node, symbol in symbols.items()
        if isinstance(node, sp.Derivative)
    }
    if most := max(orders.values(), default=0):
        highest = {symbol for symbol, order in orders.items() if order == most}
        return not any(plain.diff(s).free_symbols & highest for s in highest)
    bare = {s for node, s in symbols.items() if isinstance(node, AppliedUndef)}
    return any(not plain.diff(s).free_symbols & {*symbols.values()} for s in bare)


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
    local = expression.replace(LineIntegral, lambda *_: sp.S.Zero)
    plain, symbols = with_symbols(local)
    return plain, {
        node: symbol
        for node, symbol in symbols.items()
        if not isinstance(node, NormalComponent)
    }
