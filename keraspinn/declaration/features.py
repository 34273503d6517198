"""Known functions that networks receive, as irregular as the fields of a problem."""

import sympy as sp

from keraspinn.declaration.kinks import kink_features
from keraspinn.declaration.singularities import corner_features
from keraspinn.declaration.steps import step_features


def features_of(problem, scales):
    """Return the features of a problem's networks, a list of expressions.

    Args:
        problem: The `Problem`.
        scales: `Scales` of some of its coordinates, in which the features are written.
    """
    symbols = tuple(sp.Symbol(symbol.name) for symbol in scales.coordinates)
    scaled = scales.in_scaled(symbols)
    functions = corner_features, kink_features, step_features
    features = (e for function in functions for e in function(problem, scales))
    return [feature.xreplace(scaled).evalf() for feature in features]
