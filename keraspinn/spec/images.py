"""Whether fields at other points are inside of the domain, and sums of them right."""

import warnings

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.expressions import NormalComponent, Parameter
from keraspinn.expressions.image import At
from keraspinn.expressions.line_integral import LineIntegral
from keraspinn.expressions.nodes import distinct_nodes
from keraspinn.spec.sampled import sampled, values_at

_POINTS = 256
_KERNEL = 1e-6  # of an integral, by which twice the points may move it


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
                f"{points[row]}, and that is outside of the domain, {domain}."
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
        known = integral
        for kind in (At, sp.Derivative, AppliedUndef, Parameter, NormalComponent):
            # No two alike: u(s) - u(x) is not to vanish.
            found = sorted(known.atoms(kind), key=str)
            known = known.xreplace(
                {n: 1 + sp.Rational(k, 7) for k, n in enumerate(found)}
            )
        known = known.doit()  # a number at another point is itself
        if known.free_symbols - {*domain.coordinates}:
            continue  # within another integral, which is looked at whole
        sums = [
            known.replace(LineIntegral, lambda *a, n=n: LineIntegral(*a).at_nodes(n))
            for n in (1, 2)
        ]
        points = sampled(domain, blocks, _POINTS)
        one, two = values_at(sums, domain.coordinates, points)
        if not np.max(np.abs(one - two)) <= _KERNEL * np.max(np.abs(two)):
            warnings.warn(
                f"In {where}: {integral} is taken as a sum over twenty points, which "
                "is not enough where its kernel has a pole, an edge or a peak. Put "
                "what is singular into the limits, as s = x - r**2 takes "
                "1/sqrt(x - s) to 2, or write the sum of integrals over parts.",
                stacklevel=4,
            )
