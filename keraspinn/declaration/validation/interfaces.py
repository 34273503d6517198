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

    Fields that live on either side alone need half of the sum of their orders there,
    unless conditions elsewhere along the only coordinate make up for it.

    Args:
        domain: The geometry.
        equations: Dict from names to `Equation`s.
        terms: Dict from names to `Term`s, hard ones included.
    """
    conditions, systems = condition_terms(terms), {}
    if any(term.table is not None for term in conditions):
        return ""
    for equation in equations.values():
        if isinstance(equation.on, Geometry) and equation.where is None:
            systems.setdefault(equation.on, []).append(equation.expression)
    pairs = [(len(term.expressions), term.parts) for term in conditions]
    in_all = sum(number * len(parts) for number, parts in pairs)
    for (first, one), (second, other) in itertools.combinations(systems.items(), 2):
        try:
            block = Interface(first, second).block(domain)
        except ValueError:  # they do not touch
            continue
        if set(fields_of(one)) & set(fields_of(other)):
            continue
        points = probe_points(domain, (block,)) - domain.centre
        sides = [NormalOrder(domain, expressions) for expressions in (one, other)]
        orders = [side.order(block[0], points[:ORDER_POINTS]) for side in sides]
        needed = sum(orders) // 2
        count = sum(number * is_on(domain, parts, points) for number, parts in pairs)
        is_elsewhere = domain.dimension == 1 and in_all >= needed * len(systems)
        if np.mean(count < needed) > SMALLEST_SHARE and not is_elsewhere:
            return (
                f"A condition is missing on {Interface(first, second)}: the equations "
                f"need {needed} there, for values and fluxes. The problem is "
                "underdetermined. Declare keraspinn.interface_condition(A, B, "
                "values=(u1, u2), flux=([-k1 * u1.diff(x)], [-k2 * u2.diff(x)]))."
            )
    return ""
