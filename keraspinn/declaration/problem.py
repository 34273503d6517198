"""Physical problem: equations, conditions and domain, validated together."""

import types
import warnings
from collections.abc import Mapping, Sequence
from typing import Self, TypeAlias

import keras
import numpy as np
import sympy as sp

from keraspinn.common import Registered, check_type, restored, stamped, unstamped
from keraspinn.declaration import energy_text, formulas
from keraspinn.declaration.conditions import Condition, Data, Reference, tabulate
from keraspinn.declaration.energy import densities_of
from keraspinn.declaration.field_parts import attributes_of, check_field_parts, lives_at
from keraspinn.declaration.hard import HardForm, build_hard_forms
from keraspinn.declaration.probe_points import evaluate_at
from keraspinn.declaration.regional import Equation, EquationLike
from keraspinn.declaration.scaling.offsets import free_shifts
from keraspinn.declaration.scaling.scales import Scales
from keraspinn.declaration.terms import RESIDUAL, Term, build_terms, check_duplicates
from keraspinn.declaration.validation import arguments
from keraspinn.declaration.validation.corners import describe_contradictory_corners
from keraspinn.declaration.validation.elasticity import describe_unreliable_elasticity
from keraspinn.declaration.validation.interfaces import describe_missing_interface
from keraspinn.declaration.validation.peaks import describe_field_peaks
from keraspinn.declaration.validation.well_posedness import describe_underdetermined
from keraspinn.expressions import Parameter, fields_of, from_json, to_json
from keraspinn.geometry import Block, Geometry

ScalesLike: TypeAlias = str | Mapping[sp.Expr, float] | Scales | None


class Problem(Registered):
    """System of differential equations with its domain and conditions.

    Immutable, and validated as a whole when it is declared.

    Args:
        domain: The geometry, such as `keraspinn.geometry.Box`.
        equations: Dict from names to equations: a `sympy.Eq`, or an expression
            meaning "= 0", in the fields and their derivatives; an `Equation` where it
            holds in a part of the domain alone. Not needed with an `energy`; beside
            one, each becomes a soft condition.
        conditions: Dict from names to `Condition` or `Data`. Each becomes a loss
            term with a weight λ.
        reference: Optional known solution: a dict from fields, or expressions in
            them, to SymPy expressions in the coordinates, or a `Reference` table.
        fields: Optional list of the fields, in the order of the network's output
            columns. Alphabetical if not given.
        scales: Scales of training: `"auto"`, from the declaration; a dict from fields
            to known scales; `Scales`; or `None`, for `Scales.standardized(domain)`,
            as in the paper.
        energy: Optional sum of `integral` terms over the domain and its parts, which
            the fields minimise. Parts of the boundary without a condition are free: the
            natural boundary conditions hold there.

    Attributes:
        fields: The fields in the order of the network's output columns.
        scales: The `Scales` that the problem is trained in.
        parameters: The unknown coefficients, `Parameter` symbols.
        terms: Dict from names of loss terms, `"residual"` first, to the terms.
        hard: Dict from names of fields with hard conditions to the `HardForm` of each.
        field_parts: Dict from names of fields to the parts of the domain on which
            their equations hold; `None` means all of it.
        field_terms: Dict from names of fields to the terms of these equations.
        underdetermined: Text of the warning if the problem is underdetermined, or "".
        unreliable: Text of the warning on jumps of coefficients and peaks, or "".
        poles: Text of the warnings on poles and on contradictory corners, or "".

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an equation holds an unknown symbol or function, a field or
            derivative that does not fit the domain, or a Piecewise with a gap; if a
            name or a condition on a face is repeated; or if `scales` do not fit.

    Warns:
        UserWarning: If the problem is `underdetermined`, which is detected without
            `Data`; if it is `unreliable`, has `poles`, or is clamped elasticity.

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
    underdetermined: str
    unreliable: str
    poles: str
    field_parts: Mapping[str, Block | None]
    field_terms: Mapping[str, tuple[str, ...]]
    all_terms: Mapping[str, Term]
    _declared: Mapping[str, Equation]

    def __init__(
        self,
        domain: Geometry,
        equations: Mapping[str, EquationLike] | None = None,
        conditions: Mapping[str, Condition | Data] | None = None,
        reference: Mapping[sp.Expr, sp.Expr | float] | Reference | None = None,
        fields: Sequence[sp.Expr] | None = None,
        scales: ScalesLike = "auto",
        energy: sp.Expr | None = None,
    ) -> None:
        expected = "a geometry, such as `keraspinn.geometry.Box({x: (0, 1)})`"
        check_type("domain", domain, Geometry, expected)
        densities = densities_of(energy, domain)
        if equations or not densities:
            expected = "{'heat': sympy.Eq(u.diff(t), u.diff(x, 2))}"
            expected = f"a dict from names to equations, such as {expected}"
            check_type("equations", equations, Mapping, expected, is_filled=True)
        pairs = (equations or {}).items()
        equations = {n: e if isinstance(e, Equation) else Equation(e) for n, e in pairs}
        conditions = arguments.validate_conditions(conditions)
        if densities:
            equations, conditions = {}, {**equations, **conditions}
        equations, conditions = arguments.resolve_shifted_fields(equations, conditions)
        declared, unreliable, poles = arguments.validate_declaration(
            equations, conditions, domain, densities
        )
        parameters = formulas.collect_parameters(declared)
        arguments.check_term_names(equations, conditions, parameters)
        fields = arguments.order_fields(fields, declared, domain.coordinates)
        terms = build_terms(domain, equations, conditions, fields, densities)
        check_duplicates(terms, domain)
        names = [field.func.__name__ for field in fields]
        check_field_parts(domain, terms, names)
        expressions = {name: e.expression for name, e in equations.items()}
        hard = build_hard_forms(domain, conditions)
        corner = describe_contradictory_corners(domain, terms, hard)
        units = arguments.validate_scales(scales, domain, terms, names)
        sizes = {name: units.field(name) for name in names}
        unreliable = f"{unreliable} {describe_field_peaks(terms, units)}".strip()
        self.__dict__.update(
            attributes_of(domain, conditions, terms, names),
            equations=types.MappingProxyType(expressions),
            energy=None if energy is None else terms[RESIDUAL].expressions[0],
            reference=arguments.validate_reference(reference, declared, domain),
            fields=fields,
            parameters=parameters,
            hard=types.MappingProxyType(hard),
            scales=units,
            underdetermined=describe_missing_interface(domain, equations, terms)
            or describe_underdetermined(domain, terms, sizes),
            unreliable=unreliable,
            poles=f"{poles} {corner}".strip(),
            _declared=equations,
        )
        stiff = "" if densities else describe_unreliable_elasticity(domain, terms)
        faults = self.underdetermined, unreliable, self.poles, stiff
        for fault in filter(None, faults):
            warnings.warn(fault, stacklevel=2)

    def __setattr__(self, name, value):
        raise AttributeError(
            f"A Problem cannot be changed. Declare a new one with {name}={value!r}."
        )

    def __reduce__(self):
        return type(self).from_config, (self.get_config(),)

    def with_scales(self, scales: ScalesLike) -> Self:
        """Return the same problem with other scales.

        Args:
            scales: As for `Problem`.

        Raises:
            TypeError: If `scales` has another type.
            ValueError: If it has unknown fields or terms, or other coordinates.
        """
        declared = self.domain, self.all_terms, list(self.field_names)
        return self._with(scales=arguments.validate_scales(scales, *declared))

    def _with(self, **attributes):
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **attributes)
        return other

    @property
    def coordinates(self) -> tuple[sp.Symbol, ...]:
        """Coordinates of the domain, in the order of the columns of points."""
        return self.domain.coordinates

    @property
    def field_names(self) -> tuple[str, ...]:
        """Names of the fields, in the order of the network's output columns."""
        return tuple(field.func.__name__ for field in self.fields)

    @property
    def measured(self) -> tuple[str, ...]:
        """Names of the conditions that are `Data`."""
        return tuple(n for n, c in self.conditions.items() if isinstance(c, Data))

    def test_data(
        self, n: int | None = None
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return points and reference values, for `evaluate` and `validation_data`.

        Args:
            n: Number of points a side of the grid for closed-form references, as
                `domain.grid` chooses by default. A table has fixed points.

        Returns:
            Tuple of points `(N, d)` and a dict from reference names to `(N,)`, NaN
            where a `Reference` has gaps, or a field does not live.

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
        values = evaluate_at(self.reference.values(), self.coordinates, points)
        by_name = {}
        for key, value in zip(self.reference, values, strict=True):
            is_alive = lives_at(self.domain, self.field_parts, key, points)
            by_name[formulas.expression_name(key)] = np.where(is_alive, value, np.nan)
        return points, by_name

    def check_reference_names(self, values):
        """Raise `ValueError` unless values are a dict from the reference's names."""
        names = list(self.reference_expressions)
        if not isinstance(values, Mapping) or set(values) != set(names):
            received = list(values) if isinstance(values, Mapping) else type(values)
            raise ValueError(
                f"Reference values must be a dict with the keys {names}, as "
                f"`test_data` returns it. Received: {received}"
            )

    def checked_reference_values(self, values, count):
        """Return reference values by name, `(count,)` each, as `evaluate` needs.

        Raises:
            ValueError: If names or shapes do not match, or a number is not finite.
        """
        self.check_reference_names(values)
        expressions = self.reference_expressions
        by_expression = {e: values[name] for name, e in expressions.items()}
        parts, gaps = self.field_parts, [*getattr(self.reference, "gaps", ())]
        gaps += [e for e in by_expression if any(map(parts.get, fields_of([e])))]
        _, table = tabulate(by_expression, count, gaps)
        return dict(zip(expressions, table.T, strict=True))

    @property
    def reference_expressions(self) -> dict[str, sp.Expr]:
        """Dict from reference names to the expressions compared with them."""
        if isinstance(self.reference, Reference):
            names, expressions = self.reference.names, self.reference.expressions
            return dict(zip(names, expressions, strict=True))
        return {formulas.expression_name(key): key for key in self.reference or {}}

    def determined_up_to_constant(self, name: str) -> bool:
        """Return whether the reference `name` is determined up to a constant."""
        known = getattr(self.reference, "up_to_constant", ())
        free = [f for f in self.fields if f.func.__name__ in free_shifts(self)]
        return self.reference_expressions[name] in (*known, *free)

    def __str__(self):
        """Return the equations and conditions, a line each, and the scales."""
        lines = [f"Problem in {self.domain}, fields {', '.join(map(str, self.fields))}"]
        lines += energy_text.lines_of(self)
        for name, c in (self._declared | self.conditions).items():
            shortened = map(formulas.shorten, c.expressions)
            lines += [f"  {name}: {expression} {c.place}" for expression in shortened]
        lines.append(f"Trained in {', '.join(str(self.scales).splitlines())}")
        return "\n".join(map(formulas.wrap_line, lines))

    __repr__ = __str__

    def _repr_latex_(self):
        terms = {**self._declared, **self.conditions}.values()
        rows = [row for term in terms for row in term.latex_rows]
        if self.energy is not None:
            rows.insert(0, rf"{formulas.latex_of(self.energy)} &\to \min")
        return formulas.align_latex(rows)

    def get_config(self):
        config = {
            "domain": keras.saving.serialize_keras_object(self.domain),
            "equations": {n: _to_json(e) for n, e in self._declared.items()},
            "conditions": keras.saving.serialize_keras_object({**self.conditions}),
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
    def from_config(cls, config):
        config = unstamped(config, "problem")
        reference, scales = config["reference"], config.get("scales")
        return cls(
            restored(config["domain"]),
            {n: _from_json(e) for n, e in config["equations"].items()} or None,
            {n: restored(c, Condition, Data) for n, c in config["conditions"].items()},
            restored(reference, Reference)
            if isinstance(reference, dict)
            else {from_json(k): from_json(v) for k, v in reference} or None,
            [from_json(field) for field in config["fields"]],
            scales and Scales.from_config(scales),
            from_json(config["energy"]) if "energy" in config else None,
        )


def _to_json(equation):
    """Return an `Equation` as JSON's types: if it holds everywhere, its expression."""
    if equation.is_everywhere:
        return to_json(equation.expression)
    return keras.saving.serialize_keras_object(equation)


def _from_json(saved):
    """Return the expression or `Equation` that `_to_json` wrote."""
    is_equation = isinstance(saved, dict) and "class_name" in saved
    return restored(saved, Equation) if is_equation else from_json(saved)
