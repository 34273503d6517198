"""Conditions that hold by construction: a field is written as g + φ N.

N is the network, φ vanishes where the conditions hold (`Geometry.distance`, multiplied
over the parts), and g takes the values there. On faces of a box g is put together one
face after another: what the face at s = a still lacks, continued along s, times a
polynomial in s that vanishes on the faces before it (Coons's and Gordon's way). What is
added leaves the other faces alone if values agree on the edges, which is tried out.
Other parts' values are put together by `blended`.
An initial velocity h adds (t − t₀) (h − ∂g/∂t), and makes φ begin with t².

Source: Lagaris, Likas & Fotiadis, IEEE Trans. Neural Networks 1998; Sukumar &
Srivastava, CMAME 2022; Gordon & Hall, Numerische Mathematik 1973.
"""

import dataclasses
import warnings

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.declaration.blending import blended
from keraspinn.declaration.probe_points import sampled, values_at
from keraspinn.declaration.validation.discontinuities import KINKED, kink
from keraspinn.expressions import NormalComponent, Parameter
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.image import At
from keraspinn.expressions.line_integral import LineIntegral
from keraspinn.geometry.part import exact_number

TRIED_POINTS = 64
TOLERANCE = 1e-6
_SOFT = "Declare the condition without `hard=True`."


@dataclasses.dataclass(frozen=True)
class HardForm:
    """A field as g + φ N, expressions in the coordinates, in the user's units.

    Attributes:
        value: g, what the field is where hard conditions hold.
        factor: φ, what the network is multiplied by.
    """

    value: sp.Expr
    factor: sp.Expr


@dataclasses.dataclass(frozen=True)
class _Given:
    """The value of a field, or of its slope in time, on a part."""

    name: str
    part: object
    value: sp.Expr


def hard_forms(domain, conditions):
    """Dict from names of fields to their `HardForm`, of those that have one.

    Args:
        domain: The geometry.
        conditions: Dict from names to `Condition` and `Data`.

    Raises:
        ValueError: If a condition cannot hold by construction, or two conflict.
    """
    values, slopes, depends = {}, {}, {}
    for name, condition in conditions.items():
        if not getattr(condition, "hard", False):
            continue
        parts = {p: None for block in condition.blocks(domain) for p in block}
        for expression in condition.expressions:
            field, in_time, value = _solved(expression, domain, name)
            (applied,) = expression.atoms(AppliedUndef)
            depends[field] = frozenset(applied.args)
            if in_time and set(parts) != {domain.initial}:
                _refuse(name, "gives a derivative elsewhere than at the initial time")
            kind = slopes if in_time else values
            own = kind.setdefault(field, [])
            own += [_Given(name, part, value) for part in parts]
    for field, own in slopes.items():
        if domain.initial not in {given.part for given in values.get(field, [])}:
            _refuse(
                own[0].name,
                f"gives a velocity of {field}, but no hard condition "
                "gives its value at the initial time",
            )
    forms = {f: _form(domain, f, own, slopes.get(f, [])) for f, own in values.items()}
    for field, form in forms.items():
        other = form.value.free_symbols | form.factor.free_symbols
        if other := other - depends[field]:
            names = ", ".join(sorted(map(str, other)))
            _refuse(
                values[field][0].name,
                f"makes {field} depend on {names}, which it does not",
            )
    return forms


def _refuse(name, why):
    raise ValueError(
        f"Condition '{name}' cannot be hard: it {why}. A hard condition says what a "
        "field equals on a boundary or initially, sympy.Eq(u, value), or initially "
        f"its velocity too, sympy.Eq(u.diff(t), value). {_SOFT}"
    )


def _solved(expression, domain, name):
    """The field that an equation gives, whether it is its slope in time, its value."""
    if expression.has(At, LineIntegral):
        _refuse(name, "relates values at different points")
    derivatives = expression.atoms(sp.Derivative)
    nodes = derivatives or expression.atoms(AppliedUndef)
    unknown = sp.Dummy()
    plain = expression.xreplace(dict.fromkeys(nodes, unknown))
    slope = plain.diff(unknown)
    if len(nodes) > 1 or plain.has(AppliedUndef):
        _refuse(name, "relates several fields or derivatives")
    if not slope.is_number or not slope:
        _refuse(name, "is not linear in the field with a constant coefficient")
    value = -plain.xreplace({unknown: sp.S.Zero}) / slope
    if value.has(Parameter, NormalComponent):
        _refuse(name, "holds an unknown coefficient or a normal")
    if kinked := value.atoms(*KINKED):
        _refuse(
            name,
            f"holds {min(map(str, kinked))}, and no point would meet the source that "
            "its kink or jump is to second derivatives. Rounded off it may be hard: "
            "sqrt(x**2 + w**2) for Abs(x), (x + sqrt(x**2 + w**2))/2 for Max(x, 0)",
        )
    if place := kink(domain, value):
        warnings.warn(
            f"Condition '{name}' is hard, and its value has a kink or a jump at "
            f"{place}. Equations with second derivatives there are not solved, as no "
            f"point meets the source that it is to them. {_SOFT}",
            stacklevel=4,
        )
    field, index = field_and_index(next(iter(nodes)), domain.coordinates)
    time = domain.time_coordinate
    in_time = tuple(int(symbol == time) for symbol in domain.coordinates)
    if any(index) and index != in_time:
        _refuse(name, "gives a derivative other than the initial velocity")
    return field, any(index), value


def _form(domain, field, values, slopes):
    unique = {given.part: given for given in reversed(values)}.values()
    try:
        factor = domain.distance(tuple(given.part for given in unique))
        value = _interpolated(domain, list(unique))
        if slopes:
            value, own = _with_velocity(domain, value, slopes[0].value)
            factor *= own
    except ValueError as error:
        names = " and ".join(f"'{n}'" for n in dict.fromkeys(g.name for g in values))
        raise ValueError(f"Condition {names} cannot be hard: {error}") from error
    form = HardForm(value, factor)
    time = domain.time_coordinate
    for given in values:
        _try(domain, field, given, form.value, given.value)
    for given in slopes:
        _try(domain, f"{field}_{time}", given, form.value.diff(time), given.value)
    return form


def _interpolated(domain, given):
    """An expression with the values given on each of some parts."""
    faces = [(own, _face(domain, own.part)) for own in given]
    others = [own for own, face in faces if face is None]
    faces = [(own, face) for own, face in faces if face is not None]
    apart = {own.part: own.value for own in others}
    total = blended(domain, apart) if apart else faces[0][0].value
    for place, (own, (symbol, at)) in enumerate(faces):
        share = sp.S.One
        for _, (other, there) in faces[:place]:
            if other == symbol:
                share *= (symbol - there) / (at - there)
        total += (own.value - total).subs(symbol, at) * share
    return total


def _face(domain, part):
    """The coordinate that a part fixes and its value, or `None`."""
    if part == domain.initial:
        return domain.time_coordinate, exact_number(domain.lower[-1])
    fixed = domain.fixed(part)
    if len(fixed) != 1:
        return None
    ((column, value),) = fixed
    return domain.coordinates[column], exact_number(value)


def _with_velocity(domain, value, velocity):
    symbol, start = _face(domain, domain.initial)
    lacking = (velocity - value.diff(symbol)).subs(symbol, start)
    return value + (symbol - start) * lacking, domain.distance(domain.initial)


def _try(domain, called, given, found, wanted):
    """Refuse a value that is missed on its part, as others there are not the same."""
    points = sampled(domain, ((given.part,),), TRIED_POINTS)
    found, wanted = values_at([found, wanted], domain.coordinates, points)
    error = np.abs(found - wanted)
    if not error.max() <= TOLERANCE * max(1.0, np.abs(wanted).max()):
        row = int(np.argmax(np.nan_to_num(error, nan=np.inf)))
        raise ValueError(
            f"Condition '{given.name}' cannot be hard: it gives {called} = "
            f"{wanted[row]:.6g} at {points[row]} on {given.part}, where the hard "
            f"conditions together make {found[row]:.6g}. Values of neighbouring parts "
            f"must agree where they meet. {_SOFT}"
        )
