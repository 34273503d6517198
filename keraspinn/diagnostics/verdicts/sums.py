"""Whether the sums that stand for integrals follow the fields that were found."""

import numpy as np
from keras import ops

from keraspinn.declaration.validation.shifted_arguments import FINER
from keraspinn.expressions import Program
from keraspinn.expressions.image import with_sums
from keraspinn.expressions.line_integral import LineIntegral


def missed_by_sums(model, batches, largest):
    """What seven times as many places change, relative to the largest term.

    An equation is trained, and a correction of it estimated, with twenty places in each
    integral along a coordinate: a field that varies faster than these show solves
    another equation. Integrals within integrals are not looked at.

    Args:
        model: The model, in double precision.
        batches: Dict from names of terms to batches.
        largest: Dict from pairs of a term and a number to the largest term's size.

    Returns:
        Dict from such pairs to numbers.
    """
    problem, found = model.problem, {}
    said = {
        name: tuple(problem.equations[label] for label in term.labels)
        for name, term in problem.terms.items()
    }
    said |= {name: own.expressions for name, own in problem.conditions.items()}
    for name, term in problem.terms.items():
        for k, expression in enumerate(said[name]):
            if not _is_looked_at(expression) or term.regions:
                continue
            both = [
                with_sums((expression,), problem.coordinates, parts, problem.fields)[0]
                for parts in ((0.0, 1.0), FINER)
            ]
            size = problem.scales.sizes(term)[k]
            scaled = [problem.scales.apply(own, size) for own in both]
            batch = batches[name]
            few, many = model._fields.evaluate(
                Program(scaled, problem.coordinates),
                batch.points,
                batch.coordinates,
                batch.normals,
            )
            missed = ops.convert_to_numpy(many - few)
            found[name, k] = float(np.sqrt(np.mean(missed**2)) / largest[name, k])
    return found


def _is_looked_at(expression):
    every = expression.atoms(LineIntegral)
    return bool(every) and not any(own.args[0].has(LineIntegral) for own in every)
