"""Fields that are determined up to a constant or a function of time, as a pressure."""

import sympy as sp
from sympy.core.function import AppliedUndef

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
    expressions = [e for term in terms for e in term.expressions]
    derivatives = set().union(*(e.atoms(sp.Derivative) for e in expressions))
    hidden = dict.fromkeys(derivatives, sp.S.One)
    bare = {
        field.func.__name__
        for expression in expressions
        for field in expression.xreplace(hidden).atoms(AppliedUndef)
    }
    evolving = {d.expr.func.__name__ for d in derivatives if {*d.variables} <= {time}}
    shifts = {}
    for field in problem.fields:
        name = field.func.__name__
        if name not in bare | evolving:
            is_constant = time not in field.args
            shifts[name] = CONSTANT if is_constant else f"a function of {time}"
    return shifts
