"""A physical problem: what must hold, and where. Everything is checked here."""

from __future__ import annotations

import types
import warnings
from collections.abc import Mapping, Sequence
from typing import Self

import keras
import numpy as np
import sympy as sp

from keraspinn.common.configs import reading, restored, stamped, unstamped
from keraspinn.declaration import energy as energies
from keraspinn.declaration.computed_reference import table_with_gaps
from keraspinn.declaration.conditions import (
    Condition,
    Data,
    Equation,
    Reference,
    with_places,
)
from keraspinn.declaration.hard import HardForm, hard_forms
from keraspinn.declaration.probe_points import values_at
from keraspinn.declaration.scaling.scales import Scales
from keraspinn.declaration.terms import Term, check_said_once, terms_of
from keraspinn.declaration.validation import arguments as checked
from keraspinn.declaration.validation import equations as declaration
from keraspinn.declaration.validation.well_posedness import left_open
from keraspinn.expressions import Parameter, from_json, to_json
from keraspinn.geometry.base import Geometry


@keras.saving.register_keras_serializable("keraspinn")
class Problem:
    """A system of differential equations with its domain and conditions.

    Immutable, and validated as a whole when it is declared.

    Args:
        domain: Where the equations hold, such as `keraspinn.geometry.Box`.
        equations: Dict from names to equations: a `sympy.Eq`, or an expression
            meaning "= 0", in the fields and their derivatives. Not needed with an
            `energy`; beside one, each becomes a soft condition all over the domain.
        conditions: Dict from names to `Condition` or `Data`. Each becomes a loss
            term with a weight λ of its own.
        reference: Optional known solution: a dict from fields, or expressions in
            them, to SymPy expressions in the coordinates, or a `Reference` table.
        fields: Optional list of the fields, in the order of the network's output
            columns. Alphabetical if not given.
        scales: What to train in: `"auto"`, found from the declaration; a dict from
            fields to their sizes, the rest found; `Scales`; or `None`, for
            `Scales.standardized(domain)`, which is what the paper does.
        energy: Optional sum of `integral` terms over the domain and its parts, which
            the fields minimise. Parts of the boundary without a condition are free: the
            natural boundary conditions hold there.

    Attributes:
        fields: The fields in the order of the network's output columns.
        scales: The `Scales` that the problem is trained in.
        parameters: The unknown coefficients, `Parameter` symbols.
        terms: Dict from names of loss terms, `"residual"` first, to the terms.
        hard: Dict from names of fields with hard conditions to the `HardForm` of each.
        left_open: What the declaration leaves open, in words, as the warning says it;
            "" if nothing is found.
        unreliable: Jumps of coefficients and narrow peaks that training gets wrong, as
            the warning names them; "" if there are none.

    Raises:
        TypeError: If an argument is not of the form described.
        ValueError: If an equation holds an unknown symbol or function, a field or
            derivative that does not fit the domain, or a Piecewise with a gap; if a
            name, or what holds on a face, is said twice; or if `scales` do not fit.

    Warns:
        UserWarning: If differential equations have no conditions, or none on a part
            of the boundary that needs one, or too few, which is found in linear
            problems of up to two coordinates. Infinitely many fields solve them,
            unless the network itself keeps some, as periodic layers do. If the
            problem is `unreliable`, or a coefficient has a pole.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> u = sp.Function("u")(x, y)
    >>> problem = keraspinn.Problem(
    ...     domain=keraspinn.geometry.Box({x: (0, 1), y: (0, 1)}),
    ...     equations={"laplace": u.diff(x, 2) + u.diff(y, 2)},
    ...     conditions={"boundary": keraspinn.Condition(sp.Eq(u, x), on="boundary")},
    ...     reference={u: x},
    ... )

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", equations 2 to 4.
    """

    domain: Geometry
    equations: Mapping[str, sp.Expr]
    energy: sp.Expr | None
    conditions: Mapping[str, Condition | Data]
    reference: Mapping[sp.Expr, sp.Expr] | Reference | None
    fields: tuple[sp.Expr, ...]
    parameters: tuple[Parameter, ...]
    terms: Mapping[str, Term]
    hard: Mapping[str, HardForm]
    scales: Scales
    left_open: str
    unreliable: str
    _every_term: Mapping[str, Term]

    def __init__(
        self,
        domain: Geometry,
        equations: Mapping[str, Equation] | None = None,
        conditions: Mapping[str, Condition | Data] | None = None,
        reference: Mapping[sp.Expr, sp.Expr | float] | Reference | None = None,
        fields: Sequence[sp.Expr] | None = None,
        scales: str | Mapping[sp.Expr, float] | Scales | None = "auto",
        energy: sp.Expr | None = None,
    ) -> None:
        if not isinstance(domain, Geometry):
            raise TypeError(
                "`domain` must be a geometry, such as `keraspinn.geometry.Box({x: "
                f"(0, 1)}})`. Received: {domain!r}"
            )
        densities = energies.densities_of(energy, domain)
        as_declared = {} if equations is None and densities else equations
        equations = {}
        if as_declared or not densities:
            equations = declaration.normalized_equations(as_declared)
        conditions = declaration.named(
            {} if conditions is None else conditions, "conditions", (Condition, Data)
        )
        if densities:
            beside = {n: Condition(e, "interior") for n, e in equations.items()}
            equations, as_declared = {}, {}
            conditions = {**beside, **conditions}
        equations, conditions = with_places(equations, conditions)
        declared, unreliable = checked.validated(
            equations, conditions, domain, as_declared, densities
        )
        parameters = declaration.parameters_of(declared)
        declaration.check_term_names(equations, conditions, parameters, bool(densities))
        fields = declaration.ordered_fields(fields, declared)
        terms = terms_of(domain, equations, conditions, fields, densities)
        check_said_once(list(terms.values())[1:], domain)
        declaration.check_every_coordinate(fields, domain.coordinates)
        self.__dict__.update(
            domain=domain,
            equations=types.MappingProxyType(equations),
            energy=None
            if energy is None
            else terms[declaration.RESIDUAL].expressions[0],
            conditions=types.MappingProxyType(conditions),
            reference=checked.checked_reference(reference, declared, domain),
            fields=fields,
            parameters=parameters,
            terms=types.MappingProxyType(
                {name: term for name, term in terms.items() if not term.hard}
            ),
            hard=types.MappingProxyType(hard_forms(domain, conditions)),
            scales=checked.checked_scales(scales, domain, terms, fields),
            left_open=left_open(domain, terms, [f.func.__name__ for f in fields]),
            unreliable=unreliable,
            _every_term=terms,
        )
        for fault in filter(None, (self.left_open, self.unreliable)):
            warnings.warn(fault, stacklevel=2)

    def __setattr__(self, name, value):
        raise AttributeError(
            f"A Problem cannot be changed. Declare a new one with {name}={value!r}."
        )

    def __reduce__(self):
        return type(self).from_config, (self.get_config(),)

    def with_scales(
        self, scales: str | Mapping[sp.Expr, float] | Scales | None
    ) -> Self:
        """The same problem, to be trained in other units.

        Args:
            scales: As for `Problem`.

        Raises:
            TypeError: If `scales` is none of these.
            ValueError: If it has fields or terms that the problem has not, or other
                coordinates.
        """
        other = object.__new__(type(self))
        declared = self.domain, self._every_term, self.fields
        scales = checked.checked_scales(scales, *declared)
        other.__dict__.update(self.__dict__, scales=scales)
        return other

    @property
    def coordinates(self) -> tuple[sp.Symbol, ...]:
        """The domain's coordinates: the columns of an array of points."""
        return self.domain.coordinates

    @property
    def field_names(self) -> tuple[str, ...]:
        """Names of the fields, in the order of the network's output columns."""
        return tuple(field.func.__name__ for field in self.fields)

    def test_data(
        self, n: int | None = None
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Points and reference values there, for `evaluate` and `validation_data`.

        Args:
            n: Number of points a side of the grid for closed-form references, as
                `domain.grid` chooses if not given. A table brings its own points.

        Returns:
            Tuple of points `(N, d)` and a dict from reference names to `(N,)`, NaN
            where a `ComputedReference` has gaps.

        Raises:
            ValueError: If the problem has no reference.
        """
        if self.reference is None:
            raise ValueError(
                "This problem has no reference. Declare one: "
                "Problem(..., reference={u: exact solution})."
            )
        if isinstance(self.reference, Reference):
            names, table = self.reference.names, self.reference.targets
            return self.reference.points, dict(zip(names, table.T, strict=True))
        points = self.domain.grid(n)
        values = values_at(self.reference.values(), self.coordinates, points)
        return points, {
            declaration.expression_name(key): value
            for key, value in zip(self.reference, values, strict=True)
        }

    def check_reference_names(self, values):
        """Raises `ValueError` unless values are a dict from the reference's names."""
        names = list(self.reference_expressions)
        if not isinstance(values, Mapping) or set(values) != set(names):
            received = list(values) if isinstance(values, Mapping) else type(values)
            raise ValueError(
                f"Reference values must be a dict with the keys {names}, as "
                f"`test_data` returns it. Received: {received}"
            )

    def checked_reference_values(self, values, count):
        """Reference values by name, `(count,)` each, as `evaluate` receives them.

        Raises:
            ValueError: If names or shapes do not match, or a number is not finite.
        """
        self.check_reference_names(values)
        expressions = self.reference_expressions
        by_expression = {e: values[name] for name, e in expressions.items()}
        gaps = getattr(self.reference, "gaps", ())
        table = table_with_gaps(by_expression, count, gaps)
        return dict(zip(expressions, table.T, strict=True))

    @property
    def reference_expressions(self) -> dict[str, sp.Expr]:
        """Dict from reference names to the expressions compared with them."""
        if isinstance(self.reference, Reference):
            return dict(
                zip(self.reference.names, self.reference.expressions, strict=True)
            )
        return {declaration.expression_name(key): key for key in self.reference or {}}

    def determined_up_to_constant(self, name: str) -> bool:
        """Whether the reference `name` leaves a constant open."""
        return isinstance(self.reference, Reference) and (
            self.reference_expressions[name] in self.reference.up_to_constant
        )

    def __str__(self):
        """The equations and conditions, a line each, and the scales of training."""
        lines = [
            f"Problem in {self.domain}, fields {', '.join(map(str, self.fields))}",
            *(f"  {n}: {declaration.short(e)} = 0" for n, e in self.equations.items()),
            *energies.lines_of(self),
            *(
                f"  {name}: {declaration.short(expression)} {condition.place}"
                for name, condition in self.conditions.items()
                for expression in condition.expressions
            ),
            f"Trained in {', '.join(str(self.scales).splitlines())}",
        ]
        return "\n".join(map(declaration.wrapped, lines))

    __repr__ = __str__

    def _repr_latex_(self):
        rows = [rf"{sp.latex(e)} &= 0" for e in self.equations.values()]
        if self.energy is not None:
            rows.append(rf"{sp.latex(self.energy)} &\to \min")
        rows += [row for c in self.conditions.values() for row in c.latex_rows]
        return declaration.aligned(rows)

    def get_config(self):
        config = {
            "domain": keras.saving.serialize_keras_object(self.domain),
            "equations": {n: to_json(e) for n, e in self.equations.items()},
            "conditions": {
                n: keras.saving.serialize_keras_object(c)
                for n, c in self.conditions.items()
            },
            "reference": keras.saving.serialize_keras_object(self.reference)
            if isinstance(self.reference, Reference)
            else [[to_json(k), to_json(v)] for k, v in (self.reference or {}).items()],
            "fields": [to_json(field) for field in self.fields],
            "scales": self.scales.get_config(),
        }
        if self.energy is not None:
            config["energy"] = to_json(self.energy)
        return stamped(config)

    @classmethod
    @reading
    def from_config(cls, config):
        config = unstamped(config, "problem")
        reference, scales = config["reference"], config.get("scales")
        return cls(
            restored(config["domain"]),
            {n: from_json(e) for n, e in config["equations"].items()} or None,
            {n: restored(c, Condition, Data) for n, c in config["conditions"].items()},
            restored(reference, Reference)
            if isinstance(reference, dict)
            else {from_json(k): from_json(v) for k, v in reference} or None,
            [from_json(field) for field in config["fields"]],
            scales and Scales.from_config(scales),
            from_json(config["energy"]) if "energy" in config else None,
        )
