"""Whether fields at other points are inside of the domain, and sums of them right."""

import warnings

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.declaration.probe_points import sampled, values_at
from keraspinn.expressions import NormalComponent, Parameter
from keraspinn.expressions.image import At
from keraspinn.expressions.line_integral import LineIntegral, nodes
from keraspinn.expressions.nodes import distinct_nodes

_POINTS = 256
# Of an integral of absolute values, by which more points may move it; and the parts
# that have them, which no edge of a user's divides alike.
_KERNEL, FINER = 1e-6, (0.0, 0.143, 0.271, 0.422, 0.617, 0.757, 0.884, 1.0)


def image(node, coordinates, points):
    """Where an `At` takes its field for each of some points, `(n, d)`.

    Args:
        node: The `At`.
        coordinates: The domain's symbols.
        points: Array `(n, d)`.
    """
    known = dict(node.images)
    there = [known.get(symbol, symbol) for symbol in coordinates]
    return np.stack(values_at(there, coordinates, points), axis=-1)


def check_images(expressions, domain, blocks, where):
    """Raises `ValueError` if a field is taken at a point outside of the domain.

    Args:
        expressions: Normalized SymPy expressions.
        domain: The geometry.
        blocks: The parts of the domain where the expressions should hold.
        where: String that names them in errors.
    """
    found = {node.images: node for node in distinct_nodes(expressions, At)}
    if not found:
        return
    points = sampled(domain, blocks, _POINTS)
    for node in found.values():
        other = image(node, domain.coordinates, points)
        inside = domain.contains(domain.interior, other - domain.centre)
        if not np.all(inside):
            row = int(np.argmin(inside))
            raise ValueError(
                f"In {where}: {node} is taken at {other[row]} for the point "
                f"{points[row]}, and that is outside of the domain, {domain}. Keep it "
                "inside where it is of no use, as by u.subs(t, sympy.Max(t - 1, 0))."
            )


def check_kernels(expressions, domain, blocks, where):
    """Warns of integrals along a coordinate whose kernel their sums cannot follow.

    Fields are what training finds, and numbers of size one here.

    Args:
        expressions: Normalized SymPy expressions, as they are declared.
        domain: The geometry.
        blocks: The parts of the domain where the expressions should hold.
        where: String that names them in errors.
    """
    for integral in set().union(*(e.atoms(LineIntegral) for e in expressions)):
        known = _of_numbers(integral)
        if known.free_symbols - {*domain.coordinates}:
            continue  # within another, which is looked at whole
        points = sampled(domain, blocks, _POINTS)
        integrand, symbol, *limits = known.args
        low, high = values_at(limits, domain.coordinates, points)
        others = [k for k, s in enumerate(domain.coordinates) if s != symbol]
        symbols = (*(domain.coordinates[k] for k in others), symbol)
        sums = []
        for parts in ((0.0, 1.0), FINER):
            places, weights = nodes(parts)
            taken = low[:, None] + (high - low)[:, None] * places
            every = np.repeat(points[:, others], len(places), axis=0)
            every = np.column_stack([every, taken.ravel()])
            (values,) = values_at([integrand], symbols, every)
            values = values.reshape(taken.shape)
            sums.append(values @ weights)
        size = np.max(np.abs(values) @ weights)
        is_followed = np.max(np.abs(sums[0] - sums[1])) <= _KERNEL * size
        if not is_followed or (integrand != 0 and not size):  # or no place has met it
            warnings.warn(
                f"In {where}: {integral} is taken as a sum over twenty points, which "
                "is not enough where its kernel has a pole, an edge or a peak. Put "
                "what is singular into the limits, as s = x - r**2 takes "
                "1/sqrt(x - s) to 2, or write the sum of integrals over parts.",
                stacklevel=4,
            )


def _of_numbers(integral):
    """An integral with numbers of size one for fields, others' integrals as sums."""
    known = integral
    for kind in (At, sp.Derivative, AppliedUndef, Parameter, NormalComponent):
        # No two alike: u(s) - u(x) is not to vanish.
        found = sorted(known.atoms(kind), key=str)
        known = known.xreplace({n: 1 + sp.Rational(k, 7) for k, n in enumerate(found)})
    integrand, *limits = known.doit().args  # a number at another point is itself
    integrand = integrand.replace(
        LineIntegral, lambda *own: LineIntegral(*own).at_nodes()
    )
    return LineIntegral(integrand, *limits)
