"""Validation of a problem's arguments, each together with the others."""

import types
from collections.abc import Mapping

import sympy as sp

from keraspinn.declaration.conditions import Condition, Data, Reference
from keraspinn.declaration.integrals import resolve_parts
from keraspinn.declaration.regional import Equation
from keraspinn.declaration.scaling.energy_scales import energy_scales
from keraspinn.declaration.scaling.find import find_scales
from keraspinn.declaration.scaling.scales import Scales
from keraspinn.declaration.terms import check_points
from keraspinn.declaration.validation.branches import check_branches
from keraspinn.declaration.validation.discontinuities import describe_lost_jump
from keraspinn.declaration.validation.equations import (
    RESIDUAL,
    check_holds_a_field,
    collect_parameters,
    expression_name,
    warn_of_no_conditions,
)
from keraspinn.declaration.validation.peaks import describe_peaks
from keraspinn.declaration.validation.periodicity import (
    check_periodic_data,
    check_periodicity,
)
from keraspinn.declaration.validation.shifted_arguments import (
    check_kernels,
    check_shifted_points,
    check_tables,
)
from keraspinn.expressions import NormalComponent, fields_of, validate
from keraspinn.expressions.image import plain_fields, with_sums
from keraspinn.expressions.line_integral import LineIntegral


def validate_conditions(conditions):
    """Return conditions as a plain dict, or raise `TypeError`."""
    if not isinstance(conditions, Mapping):
        raise TypeError(
            "`conditions` must be a dict from names to Condition or Data. Received: an "
            f"object of type {type(conditions).__name__}"
        )
    for name, condition in conditions.items():
        if not isinstance(condition, (Condition, Data)):
            raise TypeError(
                f"`conditions`['{name}'] must be a Condition or Data. Received: "
                f"{condition!r} of type {type(condition).__name__}"
            )
    return dict(conditions)


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
    for where, item, group, _ in parts:
        summed = with_sums(group, coordinates, fields=fields)
        normals = () if isinstance(item, (Equation, Data)) else domain.normal
        validate(summed, coordinates, normals, where, type(item) is Condition)
        for expression in summed:
            check_holds_a_field(expression, where)
        declared += summed
    together = "the equations and conditions together"
    validate(declared, coordinates, domain.normal, together, integrals=True)
    for where, item, group, blocks in parts:
        summed = with_sums(group, coordinates, fields=fields)
        outside = [e.replace(LineIntegral, lambda *_: sp.S.Zero) for e in group]
        at = domain, blocks, where
        check_kernels(group, *at)
        check_tables(summed, *at)
        check_shifted_points(summed, *at)
        check_branches(outside, *at)
        check_periodicity(outside, *at)
        faults, unbounded = describe_peaks(outside, domain, blocks)
        if isinstance(item, Condition) and not item.regions:
            faults += describe_lost_jump(item, outside, domain, blocks)
        if isinstance(item, Data):
            check_periodic_data(item, domain, where)
        unreliable += [f"In {where}: {fault}" for fault in faults]
        poles += [f"In {where}: {pole}" for pole in unbounded]
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
            field if isinstance(field, str) else expression_name(field): size
            for field, size in scales.items()
        }
        return find(domain, terms, names, magnitudes)
    if not isinstance(scales, Scales):
        raise TypeError(f"`scales` must be keraspinn.Scales. Received: {scales!r}")
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
    elif isinstance(reference, Mapping) and reference:
        exact = {
            key: sp.Number(value) if isinstance(value, (int, float)) else value
            for key, value in reference.items()
        }
        reference, expressions = types.MappingProxyType(exact), tuple(exact)
        names = [*map(expression_name, expressions)]
    else:
        raise TypeError(
            "`reference` must be a dict from fields to their exact solutions, or a "
            f"keraspinn.Reference. Received: {reference!r}"
        )
    normals = {n for e in declared for n in e.atoms(NormalComponent)}
    coordinates = domain.coordinates
    validate(expressions, coordinates, where="the reference")
    validate([*expressions, *declared], coordinates, normals, "the reference", True)
    if unknown := sorted(set(fields_of(expressions)) - set(fields_of(declared))):
        raise ValueError(
            f"The reference compares {unknown}, which no equation or condition "
            f"mentions. The problem's fields are {list(fields_of(declared))}."
        )
    if duplicates := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(
            f"Two references have the same name: {duplicates}. Rename the field, or "
            "give names: keraspinn.Reference(points, values, names={...})."
        )
    for key, expression in exact.items():
        validate([expression], coordinates, where=f"the reference of {key}")
        if fields_of([expression]) or collect_parameters([expression]):
            raise ValueError(
                f"The reference of {key} must be known: an expression in the "
                f"coordinates alone. Received: {expression}"
            )
    for check in (check_tables, check_shifted_points, check_branches):
        check(list(exact.values()), domain, domain.blocks("interior"), "the reference")
    return reference
