"""Validation of a problem's arguments, each together with the others."""

import copy
import types
import warnings
from collections.abc import Mapping

import sympy as sp

from keraspinn.common.checks import check_known, check_type
from keraspinn.declaration import formulas
from keraspinn.declaration.conditions import Condition, Data, Reference
from keraspinn.declaration.integrals import resolve_parts
from keraspinn.declaration.regional import Equation
from keraspinn.declaration.scaling.energy_scales import energy_scales
from keraspinn.declaration.scaling.find import find_scales
from keraspinn.declaration.scaling.scales import Scales
from keraspinn.declaration.terms import ENERGY, RESIDUAL, check_points
from keraspinn.declaration.validation import discontinuities as jumps
from keraspinn.declaration.validation import periodicity, shifted_arguments
from keraspinn.declaration.validation.branches import check_branches
from keraspinn.declaration.validation.peaks import describe_peaks
from keraspinn.expressions import Field, fields_of, required_derivatives, validate
from keraspinn.expressions.image import plain_fields, with_images, with_sums
from keraspinn.expressions.line_integral import without_line_integrals


def validate_conditions(conditions):
    """Return conditions as a plain dict, empty for `None`, or raise `TypeError`."""
    conditions = {} if conditions is None else conditions
    expected = "{'wall': keraspinn.Condition(u, on='boundary')}"
    expected = f"a dict from names to Condition or Data, such as {expected}"
    check_type("conditions", conditions, Mapping, expected)
    for name, condition in conditions.items():
        kinds, expected = (Condition, Data), "a Condition or Data"
        check_type(f"conditions['{name}']", condition, kinds, expected)
    return dict(conditions)


def resolve_shifted_fields(*declared):
    """Return copies of dicts of conditions, with `At` nodes for shifted fields.

    An expression with an unshifted field determines the order of its arguments.

    Args:
        *declared: Dicts from names to `Equation`, `Condition` and `Data`.
    """
    expressions = [e for d in declared for c in d.values() for e in c.expressions]
    resolved = dict(zip(expressions, with_images(expressions), strict=True))
    copies = [{name: copy.copy(c) for name, c in d.items()} for d in declared]
    for condition in (c for d in copies for c in d.values()):
        condition.expressions = tuple(resolved[e] for e in condition.expressions)
    return copies


def validate_declaration(equations, conditions, domain, densities):
    """Check all expressions, one by one and together.

    Args:
        equations: Dict from names to `Equation`s.
        conditions: Dict from names to conditions.
        domain: The geometry.
        densities: Dict from `Region`s to the densities of an energy.

    Returns:
        List of the expressions, a text on faults that training does not correct, and
        one on poles.
    """
    coordinates = domain.coordinates
    items = {f"equation '{name}'": e for name, e in equations.items()}
    items |= {f"condition '{name}'": c for name, c in conditions.items()}
    parts = [(where, e, e.expressions, e.blocks(domain)) for where, e in items.items()]
    for region, density in densities.items():
        block = resolve_parts(region, domain)
        parts.append((f"the energy{region.suffix}", None, (density,), (block,)))
    plain = plain_fields([e for *_, group, _ in parts for e in group], coordinates)
    fields = tuple(field(*arguments) for field, arguments in plain.items())
    declared, unreliable, poles = [], [], []
    for where, item, group, blocks in parts:
        summed = with_sums(group, coordinates, fields=fields)
        normals = () if isinstance(item, (Equation, Data)) else domain.normal
        validate(summed, coordinates, normals, where, type(item) is Condition)
        for expression in summed:
            check_holds_a_field(expression, where)
        declared += summed
        outside = [without_line_integrals(e) for e in group]
        at = domain, blocks, where
        shifted_arguments.check_kernels(group, *at)
        shifted_arguments.check_tables(summed, *at)
        shifted_arguments.check_shifted_points(summed, *at)
        check_branches(outside, *at)
        periodicity.check_periodicity(outside, *at)
        faults, unbounded = describe_peaks(outside, domain, blocks)
        if isinstance(item, Condition) and not item.regions:
            faults += jumps.describe_lost_jump(item, outside, domain, blocks)
        if isinstance(item, Data):
            periodicity.check_periodic_data(item, domain, where)
        unreliable += [f"In {where}: {fault}" for fault in faults]
        poles += [f"In {where}: {pole}" for pole in unbounded]
    for names, joined in jumps.join_by_part(equations, domain):
        whole = Equation(joined), (joined,), domain, domain.blocks("interior")
        faults = jumps.describe_lost_jump(*whole)
        unreliable += [f"In equations {', '.join(names)}: {fault}" for fault in faults]
    together = "the equations and conditions together"
    validate(declared, coordinates, domain.normal, together, integrals=True)
    held = declared[len(equations) :]
    warn_of_no_conditions(declared[: len(equations)], held, domain)
    return declared, " ".join(unreliable), " ".join(poles)


def validate_scales(scales, domain, terms, names):
    """Return the `Scales` that the argument `scales` asks for."""
    if scales is None:
        return Scales.standardized(domain)
    find = energy_scales if terms[RESIDUAL].is_energy else find_scales
    scales = {} if scales == "auto" else scales
    if isinstance(scales, Mapping):
        magnitudes = {
            field if isinstance(field, str) else formulas.expression_name(field): size
            for field, size in scales.items()
        }
        check_known("scales", magnitudes, names, "fields of the problem")
        return find(domain, terms, names, magnitudes)
    check_type("scales", scales, Scales, "keraspinn.Scales")
    if tuple(scales.coordinates) != tuple(domain.coordinates):
        raise ValueError(
            f"`scales` must have the coordinates {list(domain.coordinates)}, in this "
            f"order. Received: {list(scales.coordinates)}"
        )
    counts = {name: len(term.expressions) for name, term in terms.items()}
    unknown = sorted({*scales.fields, *scales.offsets} - set(names))
    unknown += [n for n, sizes in scales.terms.items() if len(sizes) != counts.get(n)]
    if unknown:
        raise ValueError(
            f"`scales` must name the fields {names} only, and each term with one scale "
            f"for each of its expressions: {counts}. Received also: {unknown}"
        )
    return scales


def validate_reference(reference, declared, domain):
    """Return the reference, with SymPy numbers for Python's."""
    if reference is None:
        return None
    if isinstance(reference, Reference):
        check_points("the reference", reference.points, domain)
        expressions, names, exact = reference.expressions, reference.names, {}
    else:
        expected = "a dict from fields to exact solutions, or a keraspinn.Reference"
        check_type("reference", reference, Mapping, expected, is_filled=True)
        exact = {
            key: sp.Number(value) if isinstance(value, (int, float)) else value
            for key, value in reference.items()
        }
        reference, expressions = types.MappingProxyType(exact), tuple(exact)
        names = [*map(formulas.expression_name, expressions)]
    coordinates, where = domain.coordinates, "the reference"
    validate(expressions, coordinates, where=where)
    validate([*expressions, *declared], coordinates, domain.normal, where, True)
    kind = "fields of the equations and conditions"
    check_known("reference", fields_of(expressions), fields_of(declared), kind)
    if duplicates := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(
            f"Two references have the same name: {duplicates}. Rename the field, or "
            "give names: keraspinn.Reference(points, values, names={...})."
        )
    for key, expression in exact.items():
        validate([expression], coordinates, where=f"the reference of {key}")
        if fields_of([expression]) or formulas.collect_parameters([expression]):
            raise ValueError(
                f"The reference of {key} must be known: an expression in the "
                f"coordinates alone. Received: {expression}"
            )
    interior = list(exact.values()), domain, domain.blocks("interior"), where
    shifted_arguments.check_tables(*interior)
    shifted_arguments.check_shifted_points(*interior)
    check_branches(*interior)
    return reference


def check_term_names(equations, conditions, parameters):
    """Raise `ValueError` for two terms or two columns of the logs with one name."""
    logs = ["loss", *(f"{n}_loss" for n in (RESIDUAL, *(equations or [ENERGY])))]
    logs += [f"{name}_{kind}" for name in conditions for kind in ("loss", "weight")]
    logs += [parameter.name for parameter in parameters]
    if duplicates := sorted({name for name in logs if logs.count(name) > 1}):
        raise ValueError(
            f"Two columns of the logs would have the same name: {duplicates}. Rename "
            "the equation, the condition or the parameter: each has a name of its own, "
            f"and '{RESIDUAL}' is the equations' loss term."
        )


def check_holds_a_field(expression, where):
    """Raise `ValueError` for an expression without fields."""
    if not fields_of([expression]):
        raise ValueError(
            f"In {where}: there is no field in {expression} = 0. Write an equation in "
            "the fields. (SymPy makes the derivative of u(x) by any other symbol zero, "
            "and that of a function without arguments, sympy.Function('u').diff(x), "
            "one: apply it to the coordinates first.)"
        )


def warn_of_no_conditions(equations, conditions, domain):
    """Warn of fields of differential equations without any condition.

    This is no error: the network's architecture may satisfy conditions.

    Args:
        equations: Iterable of expressions.
        conditions: Iterable of the conditions' expressions. A condition on one field
            counts for all fields that share equations with it, such as a pressure.
        domain: The geometry. If all its sides are periodic, it has no boundary, and a
            field that occurs without a derivative, as in u'' - u = f, needs no
            condition.
    """
    groups = [{*fields_of([e])} for e in equations]
    determined = {*fields_of(conditions)}
    for _ in groups:  # the longest chain of equations that share fields
        determined.update(*(fields for fields in groups if fields & determined))
    free = set().union(*groups) - determined
    needed = required_derivatives(equations, domain.coordinates)
    if not domain.boundary and domain.initial is None:
        free = {n for n in free if not any(sum(d) == 0 for d in needed.get(n, ()))}
    if names := sorted(n for n in free if any(map(any, needed.get(n, ())))):
        warnings.warn(
            "The problem is underdetermined: it has no conditions for "
            f"{', '.join(names)}, and infinitely many fields solve its equations. "
            "Declare boundary and initial conditions, conditions={'wall': "
            "keraspinn.Condition(...)}, or measurements, keraspinn.Data(...), unless "
            "the network's architecture satisfies them, as periodic layers do.",
            stacklevel=4,
        )


def order_fields(requested, expressions, coordinates):
    """Return the fields as applied functions, in the order of the network's outputs.

    Args:
        requested: The argument `fields` of a `Problem`.
        expressions: All equations and conditions.
        coordinates: The domain's symbols.

    Raises:
        ValueError: If others are requested, or no field depends on a coordinate.
    """
    atoms = set().union(*(e.atoms(Field) for e in expressions))
    applied = {field.func.__name__: field for field in atoms}
    names = fields_of(expressions)
    for symbol in coordinates:
        if not any(symbol in field.args for field in applied.values()):
            field, arguments = applied[names[0]], ", ".join(map(str, coordinates))
            raise ValueError(
                f"No field depends on {symbol}, a coordinate of the domain. Received "
                f"{field}, which lacks {symbol}. Write {field.func}({arguments}). A "
                "field may depend on fewer coordinates where another depends on all."
            )
    if requested is None:
        return tuple(applied[name] for name in names)
    requested = requested if isinstance(requested, (list, tuple)) else [requested]
    order = [str(getattr(field, "func", None)) for field in requested]
    if sorted(order) != list(names):
        raise ValueError(
            f"`fields` must list each field of the equations once: {list(names)}. "
            f"Received: {list(requested)}"
        )
    return tuple(applied[name] for name in order)
