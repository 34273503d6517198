"""Hard constraints: conditions that hold by construction, as u = g + φ N.

N is the network, φ vanishes where the conditions hold (`Geometry.distance`, multiplied
over the parts), and g has the prescribed values there. On faces of a box g is a sum
(Coons and Gordon): each face at s = a adds its remaining error, extended along s, times
a polynomial in s that vanishes on the previous faces. This keeps the other faces if
values agree on the edges, which is checked. Values of a formula inside the domain have
no influence: they may be the solution. `blend` combines values of other parts.
An initial velocity h adds (t − t₀) (h − ∂g/∂t), and φ is of second order in t − t₀.

Source: Lagaris, Likas & Fotiadis, IEEE Trans. Neural Networks 1998; Sukumar &
Srivastava, CMAME 2022; Gordon & Hall, Numerische Mathematik 1973.
"""

import collections
import dataclasses
import warnings

import numpy as np
import sympy as sp

from keraspinn.declaration.blending import blend
from keraspinn.declaration.probe_points import evaluate_at, probe_points
from keraspinn.declaration.validation.discontinuities import KINKED, find_discontinuity
from keraspinn.expressions import At, Field, NormalComponent, Parameter, field_and_index
from keraspinn.expressions.line_integral import LineIntegral
from keraspinn.geometry.part import exact_number

# Largest error of a hard constraint, relative to its values or one.
TOLERANCE = 1e-6
_SOFT = "Declare the condition without `hard=True`."


@dataclasses.dataclass(frozen=True)
class HardForm:
    """Field as g + φ N, expressions in the coordinates, in the user's units.

    Attributes:
        value: g, the field's values where hard conditions hold.
        factor: φ, the factor of the network.
    """

    value: sp.Expr
    factor: sp.Expr


# Value of a field, or of its derivative in time, on a part.
_Constraint = collections.namedtuple("_Constraint", "name part value")


def build_hard_forms(domain, conditions):
    """Return a dict from names of fields with hard conditions to their `HardForm`.

    Args:
        domain: The geometry.
        conditions: Dict from names to `Condition` and `Data`.

    Raises:
        ValueError: If a condition cannot hold by construction, or two conflict.
    """
    of_fields, depends = {}, {}
    for name, condition in conditions.items():
        if not getattr(condition, "hard", False):
            continue
        parts = {p: None for block in condition.blocks(domain) for p in block}
        for expression in condition.expressions:
            field, in_time, value = _solved(expression, domain, name)
            (applied,) = expression.atoms(Field)
            depends[field] = frozenset(applied.args)
            if in_time and set(parts) != {domain.initial}:
                _refuse(name, "gives a derivative elsewhere than at the initial time")
            values, velocities = of_fields.setdefault(field, ([], []))
            constraints = velocities if in_time else values
            constraints += [_Constraint(name, part, value) for part in parts]
    forms = {}
    for field, (values, velocities) in of_fields.items():
        if velocities and domain.initial not in {value.part for value in values}:
            why = f"gives a velocity of {field}, but no hard condition gives its value"
            _refuse(velocities[0].name, f"{why} at the initial time")
        form = _form(domain, field, values, velocities)
        other = (form.value.free_symbols | form.factor.free_symbols) - depends[field]
        if other:
            names = ", ".join(sorted(map(str, other)))
            why = f"makes {field} depend on {names}, which it does not"
            _refuse(values[0].name, why)
        forms[field] = form
    return forms


def _refuse(name, why):
    raise ValueError(
        f"Condition '{name}' cannot be hard: it {why}. A hard condition prescribes "
        "the value of a field on a boundary or initially, sympy.Eq(u, value), or also "
        f"its initial velocity, sympy.Eq(u.diff(t), value). {_SOFT}"
    )


def _solved(expression, domain, name):
    """Return an equation's field, whether it is its time derivative, and the value."""
    if expression.has(At, LineIntegral):
        _refuse(name, "relates values at different points")
    nodes = expression.atoms(sp.Derivative) or expression.atoms(Field)
    unknown = sp.Dummy()
    plain = expression.xreplace(dict.fromkeys(nodes, unknown))
    factor = plain.diff(unknown)
    if len(nodes) > 1 or plain.has(Field):
        _refuse(name, "relates several fields or derivatives")
    if not factor.is_number or not factor:
        _refuse(name, "is not linear in the field with a constant coefficient")
    value = -plain.xreplace({unknown: sp.S.Zero}) / factor
    if value.has(Parameter, NormalComponent):
        _refuse(name, "holds an unknown coefficient or a normal")
    if kinked := value.atoms(*KINKED):
        _refuse(
            name,
            f"holds {min(map(str, kinked))}, whose kink or jump is a point source in "
            "second derivatives, which no collocation point samples. Round it off: "
            "sqrt(x**2 + w**2) for Abs(x), (x + sqrt(x**2 + w**2))/2 for Max(x, 0)",
        )
    if jump := find_discontinuity(domain, value):
        warnings.warn(
            f"Condition '{name}' is hard, and its value has a kink or a jump at "
            f"{jump}. It is a point source in second derivatives, which no collocation "
            f"point samples: equations with these are not solved there. {_SOFT}",
            stacklevel=4,
        )
    field, index = field_and_index(next(iter(nodes)), domain.coordinates)
    time = domain.time_coordinate
    in_time = tuple(int(symbol == time) for symbol in domain.coordinates)
    if any(index) and index != in_time:
        _refuse(name, "gives a derivative other than the initial velocity")
    return field, any(index), value


def _form(domain, field, values, velocities):
    unique = {value.part: value for value in reversed(values)}.values()
    try:
        factor = domain.distance(tuple(constraint.part for constraint in unique))
        value = _interpolate(domain, list(unique))
        if velocities:
            time, start = _face(domain, domain.initial)
            error = (velocities[0].value - value.diff(time)).subs(time, start)
            value += (time - start) * error
            factor *= domain.distance(domain.initial)
    except ValueError as error:
        names = " and ".join(f"'{n}'" for n in dict.fromkeys(g.name for g in values))
        raise ValueError(f"Condition {names} cannot be hard: {error}") from error
    time = domain.time_coordinate
    for constraint in values:
        _check_value(domain, field, constraint, value)
    for constraint in velocities:
        _check_value(domain, f"{field}_{time}", constraint, value.diff(time))
    return HardForm(value, factor)


def _interpolate(domain, constraints):
    """Return an expression with the prescribed values on some parts."""
    pairs = [(constraint, _face(domain, constraint.part)) for constraint in constraints]
    others = {c.part: c.value for c, face in pairs if face is None}
    faces = [(c.value, *face) for c, face in pairs if face is not None]
    total = blend(domain, others) if others else sp.S.Zero
    for number, (value, symbol, end) in enumerate(faces):
        opposite = (at for _, other, at in faces[:number] if other == symbol)
        factor = sp.Mul(*((symbol - at) / (end - at) for at in opposite))
        total += (value - total).subs(symbol, end) * factor
    return total


def _face(domain, part):
    """Return the coordinate that a part fixes and its value, or `None`."""
    if part == domain.initial:
        return domain.time_coordinate, exact_number(domain.lower[-1])
    fixed = domain.fixed(part)
    if len(fixed) != 1:
        return None
    ((column, value),) = fixed
    return domain.coordinates[column], exact_number(value)


def _check_value(domain, name, constraint, value):
    """Raise `ValueError` if other hard conditions contradict a constraint."""
    points = probe_points(domain, ((constraint.part,),))
    pair = [value, constraint.value]
    actual, prescribed = evaluate_at(pair, domain.coordinates, points)
    error = np.abs(actual - prescribed)
    if not error.max() <= TOLERANCE * max(1.0, np.abs(prescribed).max()):
        row = int(np.argmax(np.nan_to_num(error, nan=np.inf)))
        raise ValueError(
            f"Condition '{constraint.name}' cannot be hard: it gives {name} = "
            f"{prescribed[row]:.6g} at {points[row]} on {constraint.part}, where the "
            f"hard conditions together make {actual[row]:.6g}. Values of adjacent "
            f"parts must agree where they meet. {_SOFT}"
        )
