"""Scales of published problems, compared with their solutions."""

import numpy as np
import pytest

from examples.public_examples import PUBLISHED, problem_of
from keraspinn.declaration.conditions import Reference
from keraspinn.declaration.probe_points import evaluate_at, probe_points

FACTOR = 3.0  # a scale that is wrong by less costs nothing in training
POINTS = 2000  # per part of a domain, at which closed forms are evaluated
LARGEST_GRID = 3  # coordinates for which a grid is evaluated too


def largest_values(problem):
    """Return the largest absolute value of each field of the reference, by name."""
    reference, domain = problem.reference, problem.domain
    if reference is None:
        return {}
    if isinstance(reference, Reference):
        pairs = zip(reference.expressions, reference.targets.T, strict=True)
    else:
        points = probe_points(domain, domain.blocks("interior"), POINTS)
        if domain.dimension <= LARGEST_GRID:
            points = np.concatenate([points, domain.grid(21)])
        values = evaluate_at(list(reference.values()), domain.coordinates, points)
        pairs = zip(reference, values, strict=True)
    return {
        field.func.__name__: float(
            np.nanmax(abs(values - problem.scales.offset(field.func.__name__)))
        )
        for field, values in pairs
        if field in problem.fields
    }


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scales_of_published_problems_are_right_to_a_factor_of_three():
    ratios = {}
    for declare, row in PUBLISHED.items():
        problem = problem_of(declare)
        for name, largest in largest_values(problem).items():
            ratios[row, name] = problem.scales.field(name) / largest
    wrong = {k: r for k, r in ratios.items() if not 1 / FACTOR <= r <= FACTOR}
    assert len(ratios) >= 90, "fields of known magnitude"
    assert len(ratios) - len(wrong) >= 86, wrong
