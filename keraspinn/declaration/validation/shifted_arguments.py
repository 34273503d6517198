"""Checks of arguments: of shifted fields, u(x - 1), of tables, of line integrals."""

import warnings

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import evaluate_at, probe_points
from keraspinn.expressions import At, Field, Interpolation, NormalComponent, Parameter
from keraspinn.expressions.line_integral import LineIntegral, nodes
from keraspinn.expressions.nodes import distinct_nodes

# Points on each part at which arguments of tables are evaluated.
_TABLE_POINTS = 1_000
# Part of a table's extent, up to which it may be extrapolated by its edge's value.
_MARGIN = 1e-3
# Largest change by a finer rule, relative to the integral of absolute values.
_TOLERANCE = 1e-6
# Ends of the intervals of the finer rule, uneven so that no kink lies on one.
FINER = (0.0, 0.143, 0.271, 0.422, 0.617, 0.757, 0.884, 1.0)


def shifted_points(node, domain, points):
    """Return the points at which an `At` evaluates its field, `(n, d)`.

    Args:
        node: The `At`.
        domain: The geometry. Beyond the end of a period is its beginning.
        points: Array `(n, d)`.
    """
    images = dict(node.images)
    shifted = [images.get(symbol, symbol) for symbol in domain.coordinates]
    other = np.stack(evaluate_at(shifted, domain.coordinates, points), axis=-1)
    around = domain.lower + (other - domain.lower) % (domain.upper - domain.lower)
    return np.where(np.isin(domain.coordinates, domain.periodic), around, other)


def check_shifted_points(expressions, domain, blocks, where):
    """Raise `ValueError` if a field is evaluated at a point outside of the domain.

    Args:
        expressions: Normalized SymPy expressions.
        domain: The geometry.
        blocks: The parts of the domain where the expressions should hold.
        where: String that names them in errors.
    """
    shifts = {node.images: node for node in distinct_nodes(expressions, At)}
    points = probe_points(domain, blocks) if shifts else ()
    for node in shifts.values():
        other = shifted_points(node, domain, points)
        inside = domain.contains(domain.interior, other - domain.centre)
        if not np.all(inside):
            row = int(np.argmin(inside))
            raise ValueError(
                f"In {where}: {node} is evaluated at {other[row]} for the point "
                f"{points[row]}, outside of the domain, {domain}. Keep it inside, as "
                "u.subs(t, sympy.Max(t - 1, 0)) does."
            )


def check_tables(expressions, domain, blocks, where):
    """Raise `ValueError` if a table does not cover the values of its arguments.

    Arguments that hold fields or unknown coefficients are not checked.

    Args:
        expressions: Normalized SymPy expressions.
        domain: The geometry.
        blocks: The parts of the domain where the expressions should hold.
        where: String that names them in errors.
    """
    tables = list(distinct_nodes(expressions, Interpolation))
    points = probe_points(domain, blocks, _TABLE_POINTS) if tables else ()
    for node in tables:
        for argument, ends in zip(node.arguments, node.table.ranges, strict=True):
            if argument.has(Field, Parameter):
                continue
            (values,) = evaluate_at([argument], domain.coordinates, points)
            (start, end), low, high = ends, values.min(), values.max()
            margin = _MARGIN * (end - start)
            if low < start - margin or high > end + margin:
                raise ValueError(
                    f"In {where}: the table of {node} goes from {start:.8g} to "
                    f"{end:.8g} in {argument}, which goes from {low:.8g} to {high:.8g} "
                    "there. Extend the table, declare a smaller domain, or write the "
                    "arguments in the order of the table's axes."
                )


def check_kernels(expressions, domain, blocks, where):
    """Warn of line integrals whose kernel the quadrature rule does not resolve.

    Numbers of magnitude one replace the fields, which training determines.

    Args:
        expressions: Normalized SymPy expressions, as declared.
        domain: The geometry.
        blocks: The parts of the domain where the expressions should hold.
        where: String that names them in errors.
    """
    for integral in set().union(*(e.atoms(LineIntegral) for e in expressions)):
        known = _substitute_numbers(integral)
        if known.free_symbols - {*domain.coordinates}:
            continue  # part of another integral, which is checked as a whole
        points = probe_points(domain, blocks)
        integrand, symbol, *limits = known.args
        low, high = evaluate_at(limits, domain.coordinates, points)
        symbols = [s for s in domain.coordinates if s != symbol]
        others = points[:, None, [domain.coordinates.index(s) for s in symbols]]
        sums = []
        for ends in ((0.0, 1.0), FINER):
            relative, weights = nodes(ends)
            abscissas = low[:, None] + (high - low)[:, None] * relative
            repeated = np.repeat(others, len(relative), axis=1)
            states = np.concatenate([repeated, abscissas[..., None]], axis=2)
            (values,) = evaluate_at([integrand], [*symbols, symbol], states)
            sums.append(values @ weights)
        size = np.max(np.abs(values) @ weights)
        is_resolved = np.max(np.abs(sums[0] - sums[1])) <= _TOLERANCE * size
        if not is_resolved or (integrand != 0 and not size):  # or sampling misses it
            warnings.warn(
                f"In {where}: {integral} is a sum over twenty points, too few for a "
                "pole, an edge or a peak. Substitute it away, as s = x - r**2 turns "
                "1/sqrt(x - s) into 2, or write the sum of integrals over parts.",
                stacklevel=4,
            )


def _substitute_numbers(integral):
    """Return an integral with numbers for fields, and inner integrals as sums."""
    known = integral
    for kind in (At, sp.Derivative, Field, Parameter, NormalComponent):
        # Different numbers, so that u(s) - u(x) does not vanish.
        atoms = sorted(known.atoms(kind), key=str)
        known = known.xreplace({a: 1 + sp.Rational(k, 7) for k, a in enumerate(atoms)})
    integrand, *limits = known.doit().args  # shifted numbers are the same
    integrand = integrand.replace(LineIntegral, lambda *a: LineIntegral(*a).at_nodes())
    return LineIntegral(integrand, *limits)
