"""Check that residuals neither overflow nor underflow in a floating-point type.

A loss is a mean of squared residuals, its gradient is as large, and Adam squares that
once more: a residual of magnitude M needs M⁴ in the type. In float32, which ends at
1e38, an equation in pascals overflows there, and one in joules per molecule is zero.
Each scaled residual is evaluated at points, with fields and derivatives of magnitude
one.
"""

import textwrap

import numpy as np
import sympy as sp
from keras import ops

from keraspinn import backend
from keraspinn.declaration.formulas import shorten
from keraspinn.declaration.probe_points import probe_points, with_symbols
from keraspinn.expressions import Parameter, Program, columns, distinct_nodes

# Quantile over the points that is a residual's magnitude: coefficients may have poles.
QUANTILE = 0.99
# Absolute value of scaled fields and derivatives, up to which they are drawn.
LARGEST_FIELD = 0.5
# Largest residual whose fourth power is representable, as is that of its reciprocal.
LARGEST_RESIDUAL = {"float32": 1e9, "float64": 1e75}
# Coordinate over its extent, above which round-off leaves about a thousand points.
LARGEST_OFFSET = {"float32": 1e4, "float64": 1e12}
# Relative error of an evaluation in the type, above which a number is out of range.
LARGEST_ERROR = 0.1
# Number of characters of the list of terms in a message.
LONGEST_LIST = 500


def precision_fault(problem, dtype, adapted=True):
    """Return a sentence if a type cannot hold a problem, or `None`.

    Args:
        problem: The `Problem`.
        dtype: `"float32"` or `"float64"`.
        adapted: Whether the network's inputs are scaled. Another network computes from
            the unscaled coordinates.
    """
    residuals = [*_residuals(problem)]
    equations = {label: part for label, part, *_ in residuals}
    for name, term in problem.all_terms.items():
        if term.hard:  # no loss term, but computed in the type
            equations[f"condition '{name}'"] = sp.Add(*term.expressions)
    if not adapted:
        inputs = sp.Add(*problem.domain.coordinates)
        equations["the network, whose inputs are the unscaled coordinates"] = inputs
    if fault := _coordinate_fault(equations, problem.domain, dtype):
        return fault
    for label, _, scaled, points in residuals:
        (size, *sizes), is_held = _magnitudes(scaled, problem.domain, points, dtype)
        most, fault = LARGEST_RESIDUAL[dtype], "a number in it"
        if np.isnan(size):  # in any type; `fit` stops with the reason
            continue
        if not 1 / most <= size <= most:
            fault = "the squares of its residual and of their gradients; the residual "
            fault += f"has the magnitude {size:.0e}"
        elif is_held:
            continue
        pairs = zip(sizes, sp.Add.make_args(scaled), strict=True)
        terms = ", ".join(f"{size:.0e} of {shorten(term)}" for size, term in pairs)
        wider = ", or compute in float64" if dtype == "float32" else ""
        return (
            f"In {label}: {dtype} cannot hold {fault}. Its terms have the magnitudes "
            f"{textwrap.shorten(terms, LONGEST_LIST, placeholder=' …')}. "
            "Nondimensionalise: divide the equation by its largest coefficient, and "
            f"measure coordinates and fields in units in which they are near 1{wider}."
        )
    return None


def check_numbers(expressions, domain, dtype):
    """Raise `ValueError` for an expression that underflows or overflows in a type.

    Args:
        expressions: SymPy expressions, after `Scales.apply`.
        domain: The geometry.
        dtype: `"float32"` or `"float64"`.
    """
    points = probe_points(domain, domain.blocks("interior"))
    least = np.finfo(dtype).tiny  # from which on digits are lost
    for expression in expressions:
        is_lost = any(0 < abs(n) < least for n in expression.atoms(sp.Number))
        if is_lost or not _magnitudes(expression, domain, points, dtype)[1]:
            raise ValueError(
                f"{dtype} cannot hold a number in {shorten(expression)}, in the units "
                "of training. Divide the expression by its largest coefficient."
            )


def _residuals(problem):
    """Yield a label, a residual, the scaled residual and points, for each equation."""
    for term in problem.terms.values():
        kind = "equation" if term.is_equation else "condition"
        sizes = problem.scales.sizes(term)
        for k, name in enumerate(term.names):
            label = f"{kind} '{name}'"
            label += f" ({k + 1})" if k and not term.labels else ""
            expression = term.pointwise[k]
            if term.table is not None:
                expression -= sp.Float(abs(term.targets(k)).max())
            scaled = problem.scales.apply(expression, sizes[k])
            yield label, expression, scaled, term.points(problem.domain)


def _coordinate_fault(equations, domain, dtype):
    """Return a sentence if round-off merges the coordinates that an expression needs.

    Networks receive coordinates relative to the domain, but sources and coefficients
    do not: in float32 the seconds of a Unix time come in steps of 128.
    """
    for symbol, (start, end) in domain.intervals.items():
        if max(abs(start), abs(end)) <= LARGEST_OFFSET[dtype] * (end - start):
            continue
        for name, expression in equations.items():
            # Arguments of derivatives and fields do not count.
            if symbol in distinct_nodes([expression]):
                wider = " or compute in float64," if dtype == "float32" else ""
                return (
                    f"In {name}: {dtype} does not tell apart the points of {symbol} ∈ "
                    f"[{start:.16g}, {end:.16g}], which the expression depends on. "
                    f"Measure {symbol} from {start:.10g}, so that it begins at zero,"
                    f"{wider} or write the equation without {symbol} itself."
                )
    return None


def _magnitudes(expression, domain, points, dtype):
    """Return magnitudes of an expression and its terms, and whether a type holds it."""
    known, names = with_symbols(expression)
    symbols = [*domain.coordinates, *names.values()]
    draws = np.random.default_rng(0).uniform(-1, 1, (len(points), len(names)))
    draws *= LARGEST_FIELD
    for column, atom in enumerate(names):
        if isinstance(atom, Parameter):
            draws[:, column] = atom.initial or 1.0
    program = Program([known, *sp.Add.make_args(known)], symbols)
    inputs = columns(symbols, np.hstack([points, draws]))
    with np.errstate(all="ignore"):
        with backend.double_precision():
            exact = program.on_host(inputs, {})
        inputs = {n: ops.convert_to_tensor(x, dtype) for n, x in inputs.items()}
        values = ops.convert_to_numpy(program(inputs, {})[0])
        finite = np.isfinite(exact[0])  # a pole is none of the type's
        errors = np.where(finite, abs(values - exact[0]), 0.0)
    error = _size(np.nan_to_num(errors, nan=np.inf))
    is_held = not error > LARGEST_ERROR * _size(exact[0][finite])
    return [_size(values) for values in exact], is_held


def _size(values):
    values = np.abs(values)[~np.isnan(values)]
    return np.quantile(values, QUANTILE, method="higher") if values.size else np.nan
