"""Magnitudes of fields and terms that errors are relative to."""

import numpy as np
import sympy as sp
from keras import ops
from numpy.polynomial import chebyshev

from keraspinn.declaration.scaling import offsets
from keraspinn.declaration.scaling.linearization import rms
from keraspinn.declaration.scaling.monomials import monomials
from keraspinn.expressions import Program, fields_of

# Standard deviations that are the range of a field with an offset: 1 % of 300 K is as
# much as a room's temperature varies.
DEVIATIONS = 3.0
# Part of its magnitude, or of its expected variation, that is a constant field's range.
# A field whose zero an equation contains, as q = k u' does a flux, counts wholly.
CONSTANT = 1e-3
# Range relative to the magnitude, below which a field is constant.
EVEN = 1e-2
# Degree of the polynomials that stand for functions of time, and points for each.
DEGREE = 12
POINTS_PER_DEGREE = 10


def extent(values, has_zero, expected):
    """Return the magnitude that the error of a field is relative to."""
    size = rms(values)
    reach = DEVIATIONS * float(np.std(values))
    if has_zero and reach < EVEN * size:
        return size
    constant = min(CONSTANT * size, expected)
    return min(size, reach if reach > EVEN * constant else constant)


def has_zero(problem, name):
    """Return whether a field's zero matters: in q = k u', not in u'' = u - 293."""
    for equation in problem.equations.values():
        source = monomials(equation, problem.coordinates).get(frozenset())
        is_bare = name in offsets.bare_fields([equation])
        if is_bare and (source is None or not source.is_number):
            return True
    return False


def largest_terms(model, batches, declared, zeros):
    """Return the root mean square of the largest term, for all but energies.

    It is at least a thousandth of the least term with derivatives, if these were as
    large as the fields' deviations: those of a linear or constant field are zero.

    Args:
        model: The `PINNModel`, in double precision.
        batches: Dict from term names to batches.
        declared: The `Scales` in which every term has a size.
        zeros: Names of the fields that are zero in a coarse solution.

    Returns:
        Dict from pairs of a term's name and an expression's number.
    """
    problem, largest = model.problem, {}
    deviations = _deviations(model, batches)
    terms = {n: term for n, term in problem.terms.items() if not term.is_energy}
    for name, term in terms.items():
        batch = batches[name]
        for k, size in enumerate(problem.scales.sizes(term)):
            scaled, zero = problem.scales.apply(term.pointwise[k], size), 0.0
            if batch.targets is not None:  # both are measured from the same offset
                zero, scaled = scaled.as_coeff_Add()
            pieces = sp.Add.make_args(scaled)
            rates = [_rate(p, deviations) for p in pieces if p.has(sp.Derivative)]
            rates = [] if None in rates else rates
            program = Program([*rates, *pieces], problem.coordinates)
            values, least = [], []
            fields = fields_of([term.expressions[k]])
            homes = [{*problem.field_terms[field]} for field in fields]
            inside = [batches[n] for n in set.intersection(*homes) - {name}]
            for where in (batch, *inside):
                if term.holds_normals and where.normals is None:  # numbers of size one
                    where = where._replace(normals=ops.ones_like(where.points))
                computed = model._fields.at(program, where)
                values += computed[len(rates) :]
                least += computed[: len(rates)]
            if batch.targets is not None:
                values.append(batch.targets[..., k] / size - float(zero))
            sizes = [rms(ops.convert_to_numpy(v)) for v in [*values, *least]]
            floor = min((s for s in sizes[len(values) :] if s > 0), default=0.0)
            largest[name, k] = max(*sizes[: len(values)], floor)
            alone = term.is_equation and len(pieces) == 1
            if alone or zeros:
                expected = declared.sizes(term)[k] / size
                share = 1.0 if alone else CONSTANT
                largest[name, k] = max(largest[name, k], share * expected)
    return largest


def _deviations(model, batches):
    """Return a dict from scaled fields to a part of their standard deviations.

    That of a constant field is a part of its magnitude.
    """
    problem, deviations = model.problem, {}
    for field in problem.fields:
        where = batches[next(iter(problem.field_terms[field.func.__name__]))]
        (values,) = model._fields.at(Program([field], problem.coordinates), where)
        values, name = ops.convert_to_numpy(values), field.func.__name__
        level = problem.scales.offset(name) / problem.scales.field(name)
        deviation = max(float(np.std(values)), CONSTANT * rms(values + level))
        if 0 < deviation < np.inf:
            deviations[field] = sp.Float(CONSTANT * deviation)
    return deviations


def _rate(piece, deviations):
    """Return a derivative's factor times its field's deviation, or `None`."""
    factor, node = piece.as_independent(sp.Derivative, as_Add=False)
    if isinstance(node, sp.Derivative) and node.expr in deviations:
        return factor * deviations[node.expr]
    return None


def without_largest(values, share):
    """Return values without a share of them, those of the largest magnitude."""
    if not np.isfinite(values).all():
        return values
    return values[np.argsort(abs(values))[: len(values) - int(share * len(values))]]


def without_levels(problem, batches, fields):
    """Return values of fields without parts that equations and conditions leave free.

    The level of a pressure is one. Errors and sizes of such fields do not count it.

    Args:
        problem: The `Problem`.
        batches: Dict from term names to batches.
        fields: Values of each field, or their Jacobians, where each lives; a list of
            arrays `(N, ...)`.
    """
    shifts, time = offsets.free_shifts(problem), problem.domain.time_coordinate
    homes = problem.field_terms.values()
    results = []
    for name, names, values in zip(problem.field_names, homes, fields, strict=True):
        if name in shifts:
            functions = np.ones((len(values), 1))
            if shifts[name] != offsets.CONSTANT:
                column = problem.coordinates.index(time)
                points = ops.concatenate([batches[n].points for n in names])
                times = ops.convert_to_numpy(points)[:, column]
                degree = min(DEGREE, len(values) // POINTS_PER_DEGREE)
                functions = chebyshev.chebvander(times, degree)
            basis = np.linalg.qr(functions)[0]
            values = values - basis @ (basis.T @ values)
        results.append(values)
    return results
