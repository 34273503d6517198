"""Likely causes of a wrong answer that follow from the declaration and the fields."""

import sympy as sp

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

    So it is with linear equations, and with initial values, which determine the rest.
    """
    return problem.domain.time_coordinate is not None or is_linear(problem)


def is_linear(problem):
    """Return whether all equations and conditions are linear in fields and parameters.

    Args:
        problem: The `Problem`.
    """
    return all(_is_linear(e) for term in problem.terms.values() for e in term.pointwise)


def _is_linear(expression):
    """Return whether an expression is linear in fields and parameters together."""
    local = expression.replace(LineIntegral, lambda *_: sp.S.Zero)
    plain, symbols = with_symbols(local)
    unknown = {s for n, s in symbols.items() if not isinstance(n, NormalComponent)}
    return not any(plain.diff(symbol).free_symbols & unknown for symbol in unknown)
