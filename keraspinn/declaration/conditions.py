"""Boundary and initial conditions, measured data and reference solutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat, TypeAlias

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from keraspinn.common import Registered, checks
from keraspinn.declaration import formulas, integrals, parts
from keraspinn.expressions import from_json, normalize, to_json
from keraspinn.expressions.image import with_images
from keraspinn.expressions.line_integral import line_integrals
from keraspinn.geometry import Block, Geometry, On

ExpressionOrEq: TypeAlias = sp.Expr | sp.Eq

Values: TypeAlias = Mapping[sp.Expr, ArrayLike]

_POINTWISE = ". Points have weights w by a factor sympy.sqrt(w) of the equation."


class Condition(Registered):
    """Equations that hold on a part of the domain: a boundary or initial condition.

    Dirichlet, Neumann, Robin and initial conditions are one concept: an equation in
    the fields and their derivatives. SymPy's `subs` evaluates a field at other points:
    `u - u.subs(x, 0)` on the face `{x: 1}`. The condition's loss is the sum, over its
    blocks and equations, of the mean square of the equation's residual on the block.

    Args:
        equations: A `sympy.Eq`, an expression meaning "= 0", or a list of these,
            which share points and one weight.
        on: Part of the domain: `"boundary"`, `"initial"`, a face by its value such as
            `{y: 1}`, or a list of these. Each entry of a list is a separate block;
            `"boundary"` is one block of all spatial faces. A geometry means the part
            of the boundary on it, `keraspinn.geometry.Interface(A, B)` the common
            boundary of two regions, and `{x: 0.5}` also an inner face. Leave it out
            for equations of integrals, `keraspinn.integral`.
        weight: The initial loss weight λ, nondimensional.
        hard: Whether the fields satisfy the equations by construction, each u = g on
            a boundary or initially, or u_t = h initially. Such a hard constraint
            holds to round-off, and is no term of the loss.
        where: Optional SymPy relation in the coordinates, such as `x > 0`, or a
            geometry, which restricts `on`.

    Raises:
        TypeError: If an equation is not a SymPy equation or expression.
        ValueError: If there is no equation, or `weight` is negative or not finite.

    Example:

    >>> x, t = sp.symbols("x t")
    >>> u = sp.Function("u")(x, t)
    >>> at_rest = keraspinn.Condition(
    ...     [sp.Eq(u, sp.sin(x)), sp.Eq(u.diff(t), 0)], on="initial"
    ... )

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", equations 5 and 6.
    """

    def __init__(
        self,
        equations: ExpressionOrEq | Sequence[ExpressionOrEq],
        on: On | None = None,
        weight: SupportsFloat = 1.0,
        hard: bool = False,
        where: sp.Basic | Geometry | None = None,
    ) -> None:
        if not isinstance(equations, (list, tuple)):
            equations = [equations]
        if not equations:
            raise ValueError("A Condition needs at least one equation. Received: []")
        self.as_declared = tuple(equations)
        self.expressions = with_images(tuple(map(normalize, equations)))
        self.on: Any = on
        self.weight = checks.nonnegative("weight", weight, _POINTWISE)
        self.hard = bool(hard)
        self.where = where
        self.regions = integrals.collect_regions(self.expressions)
        if self.regions:
            self._check_integrals()
        elif on is None:
            raise ValueError(
                'A Condition must say where it holds, on=, such as "boundary" or '
                f"{{x: 1}}. Received: {self.expressions[0]} = 0 alone"
            )

    def _check_integrals(self):
        integrals.check_numbers(self.expressions)
        if self.on is not None or self.where is not None or self.hard:
            raise ValueError(
                "An equation of integrals takes no `on`, `where` or `hard`: write the "
                "part in the integral, keraspinn.integral(u, over={x: 1}, "
                f"where=y > 0). Received: on={self.on!r}, where={self.where}, "
                f"hard={self.hard}"
            )

    def blocks(self, domain: Geometry) -> tuple[Block, ...]:
        """Return the blocks of a domain's parts on which it holds.

        Args:
            domain: The geometry.
        """
        if self.regions:
            return tuple(integrals.resolve_parts(r, domain) for r in self.regions)
        return domain.blocks(self.on, self.where)

    @property
    def place(self) -> str:
        """Text such as `= 0 on boundary`."""
        if self.regions:
            return "= 0"
        where = "" if self.where is None else f" where {self.where}"
        how = ", by construction" if self.hard else ""
        return f"= 0 on {parts.format_part(self.on)}{where}{how}"

    def __repr__(self):
        equations = ", ".join(str(formulas.shorten(e)) for e in self.expressions)
        return f"<Condition: {equations} {self.place}>"

    @property
    def latex_rows(self) -> list[str]:
        """Rows of a LaTeX alignment, one for each equation."""
        text = self.place.removeprefix("= 0").lstrip()
        # LaTeX would not print the brackets and quotes.
        text = text.translate(str.maketrans("", "", "{}[]'")).replace(": ", " = ")
        words = rf" \quad \text{{{text}}}" if text else ""
        return [rf"{formulas.latex_of(e)} &= 0{words}" for e in self.expressions]

    def _repr_latex_(self):
        return formulas.align_latex(self.latex_rows)

    def get_config(self):
        where = {} if self.where is None else {"where": parts.place_to_json(self.where)}
        return {
            "equations": [to_json(expression) for expression in self.expressions],
            "on": parts.part_to_json(self.on),
            "weight": self.weight,
            **({"hard": True} if self.hard else {}),
            **where,
        }

    @classmethod
    def from_config(cls, config):
        return cls(
            [from_json(expression) for expression in config["equations"]],
            parts.part_from_json(config["on"]),
            config["weight"],
            config.get("hard", False),
            parts.place_from_json(config["where"]) if "where" in config else None,
        )


class _Table(Registered):
    """Values of expressions at points."""

    def __init__(
        self, points: ArrayLike, values: Values, gaps: Sequence[sp.Expr] = ()
    ) -> None:
        self.points = checks.point_array("points", points)
        self.expressions, self.targets = tabulate(values, len(self.points), gaps)

    def __repr__(self):
        names = ", ".join(str(formulas.shorten(e)) for e in self.expressions)
        return f"<{type(self).__name__}: {names} at {len(self.points)} points>"

    def get_config(self):
        return {
            "points": self.points.tolist(),
            "expressions": [to_json(expression) for expression in self.expressions],
            "targets": self.targets.tolist(),
        }

    @staticmethod
    def _arguments(config):
        expressions = [from_json(expression) for expression in config["expressions"]]
        targets = np.asarray(config["targets"], dtype="float64")
        return config["points"], dict(zip(expressions, targets.T, strict=True))


class Data(_Table):
    """Measured values of the fields, or of expressions in them, at points.

    The loss is the sum over the expressions of the mean square of their misfit.

    Args:
        points: Array `(n, d)`, columns in the order of the domain's `coordinates`.
        values: Dict from expressions in the fields to arrays `(n,)` or `(n, 1)`.
            Masked values (netCDF's) and dates raise an error: leave their rows out,
            `points[~mask]`, and convert times to the units of the equations.
        weight: The initial loss weight λ, nondimensional.

    Raises:
        TypeError: If a key of `values` is not a SymPy expression.
        ValueError: If shapes do not match, a number is masked or not finite, or
            `weight` is negative or not finite.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> u = sp.Function("u")(x, y)
    >>> sensors = keraspinn.Data([[0.1, 0.2], [0.3, 0.4]], {u: [1.0, 2.0]})
    """

    def __init__(
        self, points: ArrayLike, values: Values, weight: SupportsFloat = 1.0
    ) -> None:
        super().__init__(points, values)
        self.weight = checks.nonnegative("weight", weight, _POINTWISE)

    def blocks(self, domain: Geometry) -> tuple[Block, ...]:
        """Return the interior of a domain, where points may lie, as its only block.

        Args:
            domain: The geometry.
        """
        return domain.blocks("interior")

    @property
    def place(self) -> str:
        """Text such as `at 20 points`."""
        return f"measured at {len(self.points)} points"

    @property
    def latex_rows(self) -> list[str]:
        """Rows of a LaTeX alignment, one for each expression."""
        names = map(formulas.latex_of, self.expressions)
        return [rf"{name} &\quad \text{{{self.place}}}" for name in names]

    _repr_latex_ = Condition._repr_latex_

    def get_config(self):
        return {**super().get_config(), "weight": self.weight}

    @classmethod
    def from_config(cls, config):
        return cls(*cls._arguments(config), weight=config["weight"])


class Reference(_Table):
    """Known solution as values at points: a solver's output, or measurements.

    Args:
        points: Array `(n, d)`, columns in the order of the domain's `coordinates`.
        values: Dict from expressions in the fields to arrays `(n,)` or `(n, 1)`.
        names: Optional dict from some of these expressions to names for logs.
        up_to_constant: The expressions that are determined up to a constant only,
            such as a pressure. Their error leaves the means out.
        gaps: The expressions whose values are NaN at points where they are unknown.
            Their error leaves these points out.

    Raises:
        TypeError: If a key of `values` is not a SymPy expression, or `up_to_constant`
            is not a list.
        ValueError: If shapes do not match, or a number is masked or not finite.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> u, v = (sp.Function(name)(x, y) for name in "uv")
    >>> speed = sp.sqrt(u**2 + v**2)
    >>> reference = keraspinn.Reference(
    ...     [[0.5, 0.5]], {speed: [0.2]}, names={speed: "speed"}
    ... )
    """

    def __init__(
        self,
        points: ArrayLike,
        values: Values,
        names: Mapping[sp.Expr, str] | None = None,
        up_to_constant: Sequence[sp.Expr] = (),
        gaps: Sequence[sp.Expr] = (),
    ) -> None:
        super().__init__(points, values, gaps)
        names = names or {}
        kinds, expected = (list, tuple), "a list of expressions, such as [p]"
        checks.check_type("up_to_constant", up_to_constant, kinds, expected)
        self.up_to_constant, self.gaps = tuple(up_to_constant), tuple(gaps)
        known = self.expressions, "expressions in `values`"
        checks.check_known("names", names, *known)
        checks.check_known("up_to_constant", self.up_to_constant, *known)
        self.names = tuple(
            names.get(e) or formulas.expression_name(e) for e in self.expressions
        )

    def get_config(self):
        return {
            **super().get_config(),
            "names": list(self.names),
            "up_to_constant": [to_json(e) for e in self.up_to_constant],
            "gaps": [to_json(e) for e in self.gaps],
        }

    @classmethod
    def from_config(cls, config):
        points, values = cls._arguments(config)
        names = dict(zip(values, config["names"], strict=True))
        kinds = config["up_to_constant"], config.get("gaps", ())
        return cls(points, values, names, *([*map(from_json, kind)] for kind in kinds))


def tabulate(values, count, gaps):
    """Return expressions and their `(n, k)` table, from a dict of arrays `(n,)`."""
    expected = "a dict from expressions to arrays, such as {u: values}"
    checks.check_type("values", values, dict, expected, is_filled=True)
    columns = []
    for expression, column in values.items():
        expected = "keyed by SymPy expressions in the fields, such as u or u.diff(x)"
        checks.check_type("values", expression, sp.Expr, expected)
        column = checks.real_array(f"values of {expression}", column)
        known = column[~np.isnan(column)] if expression in gaps else column
        checks.finite_array(f"values of {expression}", known)
        if column.shape not in ((count,), (count, 1)):
            raise ValueError(
                f"The values of {expression} must have shape ({count},), one for each "
                f"point. Received: shape {column.shape}"
            )
        columns.append(column.reshape(count))
    return tuple(map(line_integrals, values)), np.stack(columns, axis=-1)
