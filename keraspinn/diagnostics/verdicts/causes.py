"""Likely causes of a wrong answer that follow from the declaration and the fields."""

import numpy as np

from keraspinn.declaration.probe_points import probe_points
from keraspinn.declaration.scaling.monomials import monomials
from keraspinn.diagnostics.verdicts.extents import rms
from keraspinn.expressions import Program

# Points that functions of the coordinates are evaluated at, and how many of them are as
# many as an equation is trained and judged on. A million take 0.1 s a function.
DENSE, USUAL = 1_000_000, 1000
MISSED = 0.5  # share of a function's integral above its largest value at few points
FAR = 30.0  # factor between a field and its scale, beyond which training suffers
MOVED = 10.0  # relative change of a parameter by the correction, as by a wrong unit


def unbounded_coefficients(problem):
    """Return sentences on coefficients of derivatives with a pole."""
    return [
        f"A coefficient in '{name}' is unbounded near {peak}. Multiply the equation by "
        "its denominator."
        for name, monomial, coefficient in _functions(problem)
        if monomial and (peak := _peak(problem, coefficient))
    ][:1]


def wrong_scales(problem, fields, zeros):
    """Return sentences on fields far from the scale that they are trained in.

    Args:
        problem: The `Problem`.
        fields: Dict from names to the corrected values.
        zeros: Names of fields that are zero.
    """
    found = []
    for name, values in fields.items():
        size = rms(values - problem.scales.offset(name))
        scale = problem.scales.field(name)
        if name not in zeros and not scale / FAR <= size <= scale * FAR:
            found.append(
                f"{name} is about {size:.1g} and its scale {scale:.1g}: declare "
                f"keraspinn.Problem(..., scales={{{name}: {size:.1g}}}), or leave out "
                "scales=None."
            )
    return found


def moved_parameters(problem, values, changes):
    """Return sentences on parameters that the correction moves far.

    Args:
        problem: The `Problem`.
        values: Values of its parameters, `(K,)`.
        changes: Correction of them, subtracted, `(K,)`.
    """
    return [
        f"The correction moves {parameter.name} from {value:.3g} to "
        f"{value - change:.3g}: check its unit, and begin nearer, "
        f"keraspinn.Parameter('{parameter.name}', initial={value - change:.1g})."
        for parameter, value, change in zip(
            problem.parameters, values, changes, strict=True
        )
        if abs(change) > MOVED * abs(value)
    ]


def _functions(problem):
    """Yield equations' names, monomials and coefficients that vary in coordinates."""
    for name, equation in problem.equations.items():
        for monomial, coefficient in monomials(equation, problem.coordinates).items():
            free = coefficient.free_symbols
            if free and free <= {*problem.coordinates}:
                yield name, monomial, coefficient


def _peak(problem, function):
    """Return where a function is large on too small a part, or an empty string."""
    points = probe_points(problem.domain, problem.domain.blocks("interior"), DENSE)
    columns = dict(zip((s.name for s in problem.coordinates), points.T, strict=True))
    (values,) = np.abs(Program([function], problem.coordinates).on_host(columns, {}))
    values = np.where(np.isfinite(values), values, 0.0)
    above = values > values[:: max(len(values) // USUAL, 1)].max()
    if values[above].sum() <= MISSED * values.sum():
        return ""
    place = points[values.argmax()]
    return ", ".join(f"{n} = {x:.4g}" for n, x in zip(columns, place, strict=True))
