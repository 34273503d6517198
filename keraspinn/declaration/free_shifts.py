"""Fields that are determined up to a constant or a function of time, as a pressure."""

import sympy as sp

from keraspinn.declaration.scaling.offsets import bare_fields
from keraspinn.declaration.terms import expressions_of

CONSTANT = "a constant"


def free_shifts(problem):
    """Return fields that occur in derivatives alone, and what may be added to each.

    Args:
        problem: The `Problem`.

    Returns:
        Dict from names of fields to the words "a constant" or, in a problem with time,
        "a function of t". A field with a derivative by time needs an initial value.
    """
    time = problem.domain.time_coordinate
    terms = *problem.terms.values(), *problem.conditions.values()
    expressions = expressions_of(terms)
    derivatives = set().union(*(e.atoms(sp.Derivative) for e in expressions))
    evolving = {d.expr.func.__name__ for d in derivatives if {*d.variables} <= {time}}
    fixed = evolving.union(bare_fields(expressions))
    return {
        field.func.__name__: f"a function of {time}" if time in field.args else CONSTANT
        for field in problem.fields
        if field.func.__name__ not in fixed
    }
