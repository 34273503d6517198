"""Initial conditions that hold in a part of the domain."""

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import probe_points
from keraspinn.declaration.terms import count_conditions, expressions_of, is_on

# Share of a part without a condition, up to which it is a corner left out on purpose.
SMALLEST_SHARE = 0.05


def initial_parts_without_conditions(domain, terms):
    """Return the parts of the initial time on which a condition is missing.

    Conditions may hold in a part of it.

    Returns:
        List of tuples of a part, the share of it without a condition, and a point
        there, in the user's units.
    """
    time = domain.time_coordinate
    if time is None or time in domain.periodic or domain.dimension == 1:
        return []
    (block,), missing = domain.blocks("initial"), []
    points = probe_points(domain, (block,)) - domain.centre
    count = count_conditions(domain, terms, points)
    for expressions, is_here in equations_at(domain, terms, points):
        bare = points[is_here & (count < np.max(count[is_here]))]
        derivatives = set().union(*(e.atoms(sp.Derivative) for e in expressions))
        evolve = any(time in derivative.variables for derivative in derivatives)
        if evolve and len(bare) > SMALLEST_SHARE * len(points):
            missing.append((block[0], len(bare) / len(points), domain.centre + bare[0]))
    return missing


def equations_at(domain, terms, points):
    """Yield tuples of the expressions that hold together, and the mask of points."""
    equations = [term for term in terms.values() if term.is_equation]
    # The interior's hold on its boundary, too; a user's part may lack `contains`.
    whole = domain.blocks("interior")
    holds = [t.blocks == whole or is_on(domain, t.blocks[0], points) for t in equations]
    holds = np.stack([np.broadcast_to(h, len(points)) for h in holds], axis=1)
    for row in np.unique(holds, axis=0):
        together = tuple(expressions_of(equations[i] for i in np.flatnonzero(row)))
        if together:
            yield together, (holds == row).all(axis=1)
