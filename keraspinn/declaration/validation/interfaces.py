"""Detection of conditions that are missing on the interface of two materials."""

import itertools

import numpy as np

from keraspinn.declaration.probe_points import probe_points
from keraspinn.declaration.terms import condition_terms, is_on
from keraspinn.declaration.validation.initial_parts import SMALLEST_SHARE
from keraspinn.declaration.validation.normal_order import ORDER_POINTS, NormalOrder
from keraspinn.expressions import fields_of
from keraspinn.geometry import Geometry, Interface


def describe_missing_interface(domain, equations, terms):
    """Return a sentence on an interface that lacks conditions, or "".

    Fields that live on either side alone need half of the sum of their orders there.
    The check is skipped with `Data`, where a part of the boundary has more than half of
    an order, as for Cauchy data, and for odd orders, as of advection.

    Args:
        domain: The geometry.
        equations: Dict from names to `Equation`s.
        terms: Dict from names to `Term`s, hard ones included.
    """
    conditions, systems = condition_terms(terms), {}
    if not conditions or any(term.table is not None for term in conditions):
        return ""
    for equation in equations.values():
        if isinstance(equation.on, Geometry) and equation.where is None:
            systems.setdefault(equation.on, []).append(equation.expression)
    pairs = [(len(term.expressions), term.parts) for term in conditions]

    def count(points):
        return sum(number * is_on(domain, parts, points) for number, parts in pairs)

    ends = [probe_points(domain, (part.pieces(),)) for part in domain.boundary]
    outer = np.concatenate([np.empty((0, domain.dimension)), *ends]) - domain.centre
    most = max(count(outer), default=0)
    for (first, one), (second, other) in itertools.combinations(systems.items(), 2):
        try:
            block, back = (
                Interface(*pair).block(domain)
                for pair in ((first, second), (second, first))
            )
        except ValueError:  # they do not touch
            continue
        points = probe_points(domain, (block,)) - domain.centre
        is_between = is_on(domain, back, points)  # not where they overlap
        if set(fields_of(one)) & set(fields_of(other)):
            continue
        sides = [NormalOrder(domain, expressions) for expressions in (one, other)]
        orders = [side.order(block[0], points[:ORDER_POINTS]) for side in sides]
        needed = sum(orders) // 2
        is_bare = is_between & (count(points) < needed)
        if any(n % 2 for n in orders) or 2 * most > max(orders):
            continue
        if np.mean(is_bare) > SMALLEST_SHARE:
            return (
                f"A condition is missing on {Interface(first, second)}: the equations "
                f"need {needed} there, for values and fluxes. The problem is "
                "underdetermined. Declare keraspinn.interface_condition(A, B, "
                "values=(u1, u2), flux=([-k1 * u1.diff(x)], [-k2 * u2.diff(x)]))."
            )
    return ""
