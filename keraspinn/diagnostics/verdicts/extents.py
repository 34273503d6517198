"""How large a field, or a term, is that an error is measured by."""

import numpy as np
import sympy as sp
from keras import ops

from keraspinn.declaration.scaling.monomials import monomials
from keraspinn.declaration.scaling.offsets import holds_field
from keraspinn.expressions import Program, fields_of

# A field that stands on an offset is as large as its range, some three standard
# deviations: an error of 1 % of 300 K is all that a room's temperature does. One that
# is a constant has no range, and counts as this part of its size, or as what it is
# expected to vary if that is less; or wholly, if an equation holds it by itself, as
# q = k u' does a flux, and so knows its zero.
DEVIATIONS, CONSTANT, EVEN = 3.0, 1e-3, 1e-2


def extent(values, has_zero, expected):
    """What the error of a field with these values is relative to."""
    size = rms(values)
    reach = DEVIATIONS * float(np.std(values))
    if has_zero and reach < EVEN * size:
        return size
    constant = min(CONSTANT * size, expected)
    return min(size, reach if reach > EVEN * constant else constant)


def has_zero(problem, name):
    """Whether an equation knows a field's zero: q = k u' does, not u'' = u - 293."""
    for equation in problem.equations.values():
        source = monomials(equation, problem.coordinates).get(frozenset())
        if holds_field(name, equation) and (source is None or not source.is_number):
            return True
    return False


def largest_terms(model, batches, declared, zeros):
    """The root mean square of each expression's largest term.

    Args:
        model: The `PINNModel`, in double precision.
        batches: Dict from term names to batches.
        declared: The `Scales` in which every term has a size.
        zeros: Names of the fields that a coarse solution has as zero.

    Returns:
        Dict from pairs of a term's name and an expression's number.
    """
    problem, largest = model.problem, {}
    for name, term in problem.terms.items():
        batch = batches[name]
        for k, size in enumerate(problem.scales.sizes(term)):
            scaled, zero = problem.scales.apply(term.pointwise[k], size), 0.0
            if batch.targets is not None:  # both are measured from the same offset
                zero, scaled = scaled.as_coeff_Add()
            pieces = sp.Add.make_args(scaled)
            program = Program(pieces, problem.coordinates)
            found = []
            fields = fields_of([term.expressions[k]])
            homes = [{*problem.field_terms[field]} for field in fields]
            inside = [batches[n] for n in set.intersection(*homes) - {name}]
            for where in (batch, *inside):
                # A normal's components are numbers of size one.
                normals = where.normals if where is batch else None
                if term.holds_normals and normals is None:
                    normals = ops.ones_like(where.points)
                places = where.points, where.coordinates, normals
                found += model._fields.evaluate(program, *places)
            if batch.targets is not None:
                found.append(batch.targets[..., k] / size - float(zero))
            largest[name, k] = max(rms(ops.convert_to_numpy(f)) for f in found)
            alone = term.is_equation and len(pieces) == 1
            if alone or zeros:
                expected = declared.sizes(term)[k] / size
                share = 1.0 if alone else CONSTANT
                largest[name, k] = max(largest[name, k], share * expected)
    return largest


def rms(values):
    """The root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))
