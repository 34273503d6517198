"""Integrals over the domain or a part of it, in a condition's equations."""

import json
import numbers

import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.declaration.parts import part_from_json, part_to_json
from keraspinn.expressions import Parameter, from_json, normalize, to_json
from keraspinn.expressions.integral import PartIntegral, Region
from keraspinn.geometry.base import Geometry
from keraspinn.geometry.faces import restricted, within
from keraspinn.geometry.part import On


def integral(
    expression: sp.Expr, over: On = "interior", where: sp.Basic | None = None
) -> PartIntegral:
    """The integral of an expression over the domain or a part of it, a number.

    It stands in the equations of a `Condition`, which then needs no `on=`: a mean
    pressure of zero, a flow rate, a mass, a norm. Several integrals, numbers and
    unknown coefficients may stand in one equation. Time is a coordinate like the
    others: in a domain with time `over={t: 0.5}` is all of space at that moment, and
    `over="interior"` all of space and time.

    In training an integral is the size of the part times a mean over lattice points
    there, moved at random from step to step; `batch_size={"mass": 2048}` sets how
    many there are on each part, 512 if not given.

    Args:
        expression: SymPy expression in the fields, their derivatives and coordinates,
            and the outward normal where there is one.
        over: `"interior"`, all of the domain, or a part of it as for `on=` of a
            `Condition`; entries of a list add up. A geometry stands for what of the
            domain lies in it, or, if nothing does, of the boundary.
        where: Optional SymPy relation in the coordinates, such as `x > 0`, which
            restricts `over`.

    Raises:
        TypeError: If `expression` is not a SymPy expression.
        ValueError: If it holds an integral itself.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> u, p = (sp.Function(name)(x, y) for name in "up")
    >>> gauge = keraspinn.Condition(keraspinn.integral(p))
    >>> flow = keraspinn.Condition(sp.Eq(keraspinn.integral(u, over={x: 1}), 2.0))

    Reference:
        Hickernell, "Obtaining O(N^(-2+ε)) convergence for lattice quadrature rules",
        2002: lattice points, moved at random and folded by the tent map.
    """
    if isinstance(expression, numbers.Real):  # of a part's size
        expression = sp.sympify(expression)
    integrand = normalize(expression, "What is integrated")
    if integrand.has(PartIntegral):
        raise ValueError(
            "What is integrated must not hold an integral itself. Received: "
            f"{integrand}. An integral is a number: write it in front of the other."
        )
    region = {"over": part_to_json(over)}
    if where is not None:
        region["where"] = to_json(where)
    return PartIntegral(integrand, Region(json.dumps(region, sort_keys=True)))


def regions_of(expressions):
    """The distinct regions that integrals in some expressions are taken over."""
    found = {e: sorted(e.atoms(PartIntegral), key=str) for e in expressions}
    return tuple(dict.fromkeys(i.region for own in found.values() for i in own))


def check_numbers(expressions):
    """Raises `ValueError` unless equations with integrals are in numbers alone."""
    for expression in expressions:
        left = expression.replace(
            lambda node: isinstance(node, PartIntegral), lambda node: sp.S.One
        )
        strange = left.atoms(AppliedUndef) | {
            symbol for symbol in left.free_symbols if not isinstance(symbol, Parameter)
        }
        if strange or not expression.has(PartIntegral):
            raise ValueError(
                "An integral is one number, and so is each side of an equation of "
                f"integrals. Received: {expression} = 0, which holds "
                f"{', '.join(sorted(map(str, strange))) or 'no integral'} outside of "
                "them. Give what holds at points a Condition of its own."
            )


def parts_of(region, domain):
    """The parts of a domain that a `Region` means: a block.

    Raises:
        ValueError: If it means none, or their size is not known.
    """
    said = json.loads(region.text)
    entries = part_from_json(said["over"])
    entries = entries if isinstance(entries, list) else [entries]
    blocks = [
        within(domain, e) if isinstance(e, Geometry) else domain.blocks(e)[0]
        for e in entries
    ]
    if "where" in said:
        where = from_json(said["where"])
        blocks = [restricted(domain, block, where) for block in blocks]
    parts = tuple(part for block in blocks for part in block)
    for part in parts:
        domain.measure(part)
    return parts
