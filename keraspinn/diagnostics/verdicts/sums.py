"""Quadrature error of integrals along a coordinate, in the trained fields."""

from keras import ops

from keraspinn.declaration.validation.shifted_arguments import FINER
from keraspinn.diagnostics.verdicts.extents import rms
from keraspinn.expressions import LineIntegral, Program
from keraspinn.expressions.image import with_sums


def missed_by_sums(model, batches, largest):
    """Return the change by seven times as many points, relative to the largest term.

    Training and correction use twenty quadrature points for each integral along a
    coordinate. A field that varies faster than these resolve solves another equation.
    Nested integrals are not compared.

    Args:
        model: The model, in double precision.
        batches: Dict from names of terms to batches.
        largest: Dict from pairs of a term and a number to the largest term's size.

    Returns:
        Dict from such pairs to numbers.
    """
    problem, changes = model.problem, {}
    for name, term in problem.terms.items():
        declared = [problem.equations[label] for label in term.labels]
        if name in problem.conditions:
            declared = problem.conditions[name].expressions
        for k, expression in enumerate(declared):
            if not _is_compared(expression) or term.regions:
                continue
            both = [
                with_sums((expression,), problem.coordinates, parts, problem.fields)[0]
                for parts in ((0.0, 1.0), FINER)
            ]
            size = problem.scales.sizes(term)[k]
            scaled = [problem.scales.apply(summed, size) for summed in both]
            program = Program(scaled, problem.coordinates)
            few, many = model._fields.at(program, batches[name])
            changes[name, k] = rms(ops.convert_to_numpy(many - few)) / largest[name, k]
    return changes


def _is_compared(expression):
    integrals = expression.atoms(LineIntegral)
    return bool(integrals) and not any(i.args[0].has(LineIntegral) for i in integrals)
