"""Losses in float64 by finite differences, against which contestants are checked."""

import itertools

import numpy as np
from work import is_gated, network

# Points of the stencil, in steps, and the step.
_OFFSETS = np.arange(-4, 5)
_STEP = 0.02


def losses(work, model, parameters, points):
    """Return the loss of each term at points, by nine-point differences.

    Args:
        work: The `Work`.
        model: Name of the model, M1 to M4.
        parameters: List of kernels and biases.
        points: Dict from term names to points `(N, d)`.

    Returns:
        Dict from term names to losses.
    """
    parameters = [tuple(np.asarray(p, "float64") for p in pair) for pair in parameters]

    def function(x):
        standard = (x - work.mean) / work.deviation
        return network(parameters, is_gated(model), standard, np.tanh)

    values = {}
    for name, term in work.terms.items():
        x = points[name].astype("float64")
        known = {
            index: _derivative(function, x, index)
            for index in {index for _, index in term.derivatives}
        }
        derivatives = {
            (field, index): known[index][:, field] for field, index in term.derivatives
        }
        values[name] = float(term.loss(np, list(x.T), derivatives))
    return values


def _derivative(function, x, index):
    stencils = [_stencil(order) for order in index]
    total = 0.0
    for offsets in itertools.product(*(stencil.items() for stencil in stencils)):
        shift = [_STEP * offset for offset, _ in offsets]
        total = total + np.prod([w for _, w in offsets]) * function(x + shift)
    return total


def _stencil(order):
    """Return the weights of a central difference by offset."""
    if order == 0:
        return {0: 1.0}
    powers = np.vander(_OFFSETS * _STEP, increasing=True).T
    moments = np.zeros(len(_OFFSETS))
    moments[order] = np.prod(np.arange(1, order + 1))
    weights = np.linalg.solve(powers, moments)
    return dict(zip(_OFFSETS.tolist(), weights.tolist(), strict=True))


def largest_disagreement(values, expected):
    """Return the largest relative error of values, over the names in `expected`."""
    return max((abs(values[name] / expected[name] - 1) for name in expected), default=0)
