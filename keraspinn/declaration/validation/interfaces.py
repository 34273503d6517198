"""Detection of conditions that are missing on the interface of two materials."""

import itertools

import numpy as np

from keraspinn.declaration.probe_points import probe_points
from keraspinn.declaration.terms import count_conditions, is_on
from keraspinn.declaration.validation.initial_parts import SMALLEST_SHARE
from keraspinn.declaration.validation.normal_order import ORDER_POINTS, NormalOrder
from keraspinn.expressions import fields_of
from keraspinn.expressions.line_integral import without_line_integrals
from keraspinn.geometry import Geometry, Interface, Mesh


def describe_missing_interface(domain, equations, terms):
    """Return a sentence on an interface that lacks conditions, or "".

    Fields that live on either side alone need half of the sum of their orders there.
    The check is skipped with `Data`, where a part of the boundary has more than half of
    an order, as for Cauchy data, for odd orders, as of advection, and for meshes, whose
    interfaces take long to find.

    Args:
        domain: The geometry.
        equations: Dict from names to `Equation`s.
        terms: Dict from names to `Term`s, hard ones included.
    """
    if any(term.table is not None for term in terms.values()):
        return ""
    sides = []
    for term in terms.values():
        declared = [equations[name] for name in term.labels if name in equations]
        on, where = (declared[0].on, declared[0].where) if declared else (None, None)
        if where is None and isinstance(on, Geometry) and not isinstance(on, Mesh):
            local = [without_line_integrals(e.expression) for e in declared]
            sides.append((on, local, NormalOrder(domain, local)))
    if len(sides) < 2:
        return ""
    ends = [probe_points(domain, (part.pieces(),)) for part in domain.boundary]
    outer = np.concatenate([np.empty((0, domain.dimension)), *ends]) - domain.centre
    most = max(count_conditions(domain, terms, outer), default=0)
    pairs = itertools.combinations(sides, 2)
    for (first, one, before), (second, other, behind) in pairs:
        if set(fields_of(one)) & set(fields_of(other)):
            continue
        try:
            block = Interface(first, second).block(domain)
            points = probe_points(domain, (block,)) - domain.centre
            where = points[:ORDER_POINTS]
            orders = [side.order(block[0], where) for side in (before, behind)]
            needed = sum(orders) // 2
            is_bare = count_conditions(domain, terms, points) < needed
            if any(n % 2 for n in orders) or 2 * most > max(orders):
                continue
            if is_bare.any():  # and the two do not overlap
                back = Interface(second, first).block(domain)
                is_bare &= is_on(domain, back, points)
        except ValueError:  # they do not touch
            continue
        if np.mean(is_bare) > SMALLEST_SHARE:
            return (
                f"A condition is missing on {Interface(first, second)}: the equations "
                f"need {needed} there, for values and fluxes. The problem is "
                "underdetermined. Declare keraspinn.interface_condition(A, B, "
                "values=(u1, u2), flux=([-k1 * u1.diff(x)], [-k2 * u2.diff(x)]))."
            )
    return ""
