"""Equations in a part of the domain, and conditions on interfaces between parts."""

from collections.abc import Sequence
from typing import Any, SupportsFloat, TypeAlias

import numpy as np
import sympy as sp

from keraspinn.declaration.conditions import Condition, ExpressionOrEq
from keraspinn.declaration.parts import part_from_json, place_from_json
from keraspinn.declaration.probe_points import probe_points
from keraspinn.expressions import from_json
from keraspinn.geometry import Block, Geometry, Interface, region, restricted
from keraspinn.geometry.faces import in_coordinates_of


class Equation(Condition):
    """An equation that holds in a part of the domain: in a layer, beside a source.

    It stands in `equations` of a `Problem`, where plain expressions hold everywhere.

    Args:
        equation: A `sympy.Eq`, or an expression meaning "= 0".
        on: A geometry within the domain, or `"interior"`, all of it.
        where: Optional SymPy relation in the coordinates, such as `x > 0`, or a
            geometry, which restricts `on`.

    Raises:
        TypeError: If `equation` is not a SymPy equation or expression.
        ValueError: If `on` is a face.

    Example:

    >>> x = sp.Symbol("x")
    >>> u = sp.Function("u")(x)
    >>> layer = keraspinn.geometry.Box({x: (0, 0.5)})
    >>> heated = keraspinn.Equation(sp.Eq(-u.diff(x, 2), 1), on=layer)
    """

    def __init__(
        self,
        equation: ExpressionOrEq,
        on: str | Geometry = "interior",
        where: sp.Basic | Geometry | None = None,
    ) -> None:
        if on != "interior" and not isinstance(on, Geometry):
            raise ValueError(
                "An Equation holds inside of the domain: `on` must be a geometry "
                f'within it, or "interior". Received: {on!r}. Restrict it by where=, '
                "or declare what holds on a face as a keraspinn.Condition."
            )
        super().__init__([equation], on, where=where)

    def _check_integrals(self):
        self.regions = ()  # a `Problem` refuses them, and knows the equation's name

    @property
    def expression(self) -> sp.Expr:
        """The expression that should vanish."""
        return self.expressions[0]

    @property
    def is_everywhere(self) -> bool:
        """Return whether it holds in all of the domain."""
        return self.on == "interior" and self.where is None

    @property
    def place(self) -> str:
        """Text such as `= 0 on x ∈ [0, 0.5]`, or `= 0`."""
        return "= 0" if self.is_everywhere else super().place

    def blocks(self, domain: Geometry) -> tuple[Block, ...]:
        """Return the part of a domain in which it holds, as its only block."""
        whole = self.on == "interior"
        block = (domain.interior,) if whole else region(domain, self.on)
        return (block if self.where is None else restricted(domain, block, self.where),)

    @classmethod
    def from_config(cls, config):
        (equation,) = map(from_json, config["equations"])
        where = place_from_json(config["where"]) if "where" in config else None
        return cls(equation, part_from_json(config["on"]), where)


# Equation that holds everywhere, or in a part of the domain.
EquationLike: TypeAlias = ExpressionOrEq | Equation


def interface_condition(
    first: Geometry,
    second: Geometry,
    values: Sequence[Any] | sp.Expr,
    flux: Sequence[Any],
    weight: SupportsFloat = 1.0,
) -> Condition:
    """Return the condition that values and normal fluxes are continuous.

    Args:
        first: The geometry on one side.
        second: The geometry on the other.
        values: The field of each side, or a list of fields for each; or one
            `keraspinn.by_region` of both.
        flux: The flux of each side, a list of its components along the spatial
            coordinates; for lists of fields a list of fluxes, such as stress tensors.
            For one field by region, its flux, such as `[-k * T.diff(x)]`.
        weight: As for `Condition`.

    Raises:
        ValueError: If there is no flux for each side, or a component is missing.

    Example:

    >>> x = sp.Symbol("x")
    >>> u1, u2 = (sp.Function(name)(x) for name in ("u1", "u2"))
    >>> A = keraspinn.geometry.Box({x: (0, 1)})
    >>> B = keraspinn.geometry.Box({x: (1, 2)})
    >>> flux = [-400 * u1.diff(x)], [-1.38 * u2.diff(x)]
    >>> meet = keraspinn.interface_condition(A, B, values=(u1, u2), flux=flux)
    """
    whole = first if first.has_coordinates else second
    pieces = sp.Tuple(*np.ravel(np.array(values, dtype=object))).atoms(sp.Piecewise)
    if regions := {case.cond for piece in pieces for case in piece.args}:
        sides = [in_coordinates_of(whole, side) for side in (first, second)]
        how = (values, flux), regions
        values, flux = zip(*(_on(side, *how) for side in sides), strict=True)
    fluxes = [np.atleast_2d(np.array(q, dtype=object)) for q in flux]
    is_whole = all(q.shape[-1] == len(whole.normal) for q in fluxes)
    if len(flux) != 2 or len(values) != 2 or not is_whole:
        raise ValueError(
            "Declare a value and a flux for each of the two sides, values=(u1, u2), "
            "flux=([-k1 * u1.diff(x)], [-k2 * u2.diff(x)]), with a component for each "
            "coordinate in space; or one by region, values=keraspinn.by_region(...). "
            f"Received: {values}, {flux}"
        )
    rows = [q @ whole.normal for q in fluxes]
    pairs = zip(*map(np.atleast_1d, map(np.array, values)), strict=True)
    jumps = [one - other for one, other in (*pairs, *zip(*rows, strict=True))]
    return Condition(jumps, on=Interface(first, second), weight=weight)


def _on(side, expressions, regions):
    """Return expressions, or nested lists, with the branches that hold on a side.

    Args:
        side: Geometry with coordinates.
        expressions: SymPy expressions, or nested lists.
        regions: Set of the conditions of fields by region. Others remain.
    """
    if isinstance(expressions, (list, tuple)):
        return [_on(side, expression, regions) for expression in expressions]
    (point,) = probe_points(side, side.blocks("interior"), 1)
    point = dict(zip(side.coordinates, point.tolist(), strict=True))

    def branch(*cases):
        if not {case.cond for case in cases} <= regions:
            return sp.Piecewise(*cases)
        return next(e for e, condition in cases if condition.subs(point) == sp.true)

    return sp.sympify(expressions).replace(sp.Piecewise, branch)
