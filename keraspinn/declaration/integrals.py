"""Integrals over the domain or a part of it, in a condition's equations."""

import json
import numbers

import sympy as sp

from keraspinn.declaration.parts import part_from_json, part_to_json
from keraspinn.expressions import Field, Parameter, from_json, normalize, to_json
from keraspinn.expressions.integral import PartIntegral, Region
from keraspinn.geometry import Geometry, On, restricted, within


def integral(
    expression: sp.Expr, over: On = "interior", where: sp.Basic | None = None
) -> PartIntegral:
    """Return the integral of an expression over the domain or a part of it.

    Use it in the equations of a `Condition`, which then needs no `on=`: a mean
    pressure of zero, a flow rate, a mass, a norm. An equation may hold several
    integrals, numbers and unknown coefficients. Time is a coordinate like the others:
    in a domain with time `over={t: 0.5}` is all of space at that time, and
    `over="interior"` all of space and time.

    In training an integral is the size of the part times a mean over lattice points
    there, shifted at random in each step. `batch_size={"mass": 2048}` sets their
    number on each part, 512 by default.

    Args:
        expression: SymPy expression in the fields, their derivatives and coordinates,
            and the outward normal where there is one.
        over: `"interior"`, all of the domain, or a part of it as for `on=` of a
            `Condition`; entries of a list add up. A geometry means the part of the
            domain in it or, if there is none, the part of the boundary.
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
        2002: lattice points, shifted at random and folded by the tent map.
    """
    if isinstance(expression, numbers.Real):  # a part's size
        expression = sp.sympify(expression)
    integrand = normalize(expression, "The integrand")
    if integrand.has(PartIntegral):
        raise ValueError(
            "The integrand must not hold an integral itself. Received: "
            f"{integrand}. An integral is a number: write it in front of the other."
        )
    region = {"over": part_to_json(over)}
    if where is not None:
        region["where"] = to_json(where)
    return PartIntegral(integrand, Region(json.dumps(region, sort_keys=True)))


def collect_regions(expressions):
    """Return the distinct regions of the integrals in some expressions."""
    integrals = (i for e in expressions for i in sorted(e.atoms(PartIntegral), key=str))
    return tuple(dict.fromkeys(i.region for i in integrals))


def check_numbers(expressions):
    """Raise `ValueError` if equations of integrals hold fields or coordinates."""
    for expression in expressions:
        left = expression.replace(PartIntegral, lambda *_: sp.S.One)
        others = left.atoms(Field) | (left.free_symbols - left.atoms(Parameter))
        if others or not expression.has(PartIntegral):
            raise ValueError(
                "An integral is one number, and so is each side of an equation of "
                f"integrals. Received: {expression} = 0, which holds "
                f"{', '.join(sorted(map(str, others))) or 'no integral'} outside of "
                "them. Declare a separate Condition for equations that hold at points."
            )


def resolve_parts(region, domain):
    """Return the block of a domain's parts that a `Region` names.

    Raises:
        ValueError: If there are none, or their size is unknown.
    """
    config = json.loads(region.name)
    entries = part_from_json(config["over"])
    entries = entries if isinstance(entries, list) else [entries]
    blocks = [
        within(domain, e) if isinstance(e, Geometry) else domain.blocks(e)[0]
        for e in entries
    ]
    if "where" in config:
        where = from_json(config["where"])
        blocks = [restricted(domain, block, where) for block in blocks]
    parts = tuple(part for block in blocks for part in block)
    for part in parts:
        domain.measure(part)
    return parts
