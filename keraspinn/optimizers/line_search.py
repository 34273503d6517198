"""How far to go along a direction: a search for the strong Wolfe conditions."""

import collections

import keras
import numpy as np
from keras import ops

Found = collections.namedtuple("Found", "step loss gradient evaluations")


def search(
    evaluate,
    position,
    active,
    first,
    sufficient_decrease=1e-4,
    curvature=0.9,
    max_evaluations=20,
):
    """A step that decreases the loss enough and leaves most of the slope behind.

    With φ(α) the loss at θ + α d, a step α is taken if

        φ(α) ≤ φ(0) + sufficient_decrease α φ'(0)   and   |φ'(α)| ≤ curvature |φ'(0)|.

    Between a left end that decreases enough and still slopes down, and a right end
    that does not, there is such a step. The search first moves to the right, to where
    the secant of the slopes is zero, until it has a right end, and then to the minimum
    of the cubic through both ends. Where the loss or its slope is not finite, the step
    is too long. If `max_evaluations` do not suffice, the best point seen is taken, and
    none if the loss is nowhere lower by more than its rounding.

    All this is one loop with one evaluation in its body, so that the network is
    compiled into it once.

    Args:
        evaluate: Function from parameters `(P,)` to the loss and its gradient.
        position: Tuple of the parameters θ, the direction d, the loss φ(0) and its
            gradient.
        active: Boolean scalar: without it nothing is evaluated and no step taken.
        first: The first step to try, a positive scalar.
        sufficient_decrease: Fraction of the decrease that the slope promises.
        curvature: Fraction of the slope that may remain.
        max_evaluations: Largest number of evaluations.

    Returns:
        A tuple `Found`: the step α, zero if none is taken; the loss and its gradient
        there; the number of evaluations.

    Reference:
        Nocedal & Wright, "Numerical optimization", section 3.5; Moré & Thuente, "Line
        search algorithms with guaranteed sufficient decrease", 1994.
    """
    parameters, direction, loss, gradient = position
    dtype = keras.backend.standardize_dtype(parameters.dtype)
    slope = ops.sum(gradient * direction)
    zero = ops.zeros_like(loss)
    nowhere = zero + np.inf
    # A loss that is lower by its rounding is not lower.
    lower = loss - 4 * float(np.finfo(dtype).eps) * ops.abs(loss)

    def unfinished(done, count, *_):
        return ops.logical_and(ops.logical_not(done), count < max_evaluations)

    def body(done, count, trial, left, right, best):
        value, change = evaluate(parameters + trial * direction)
        here = (trial, value, ops.sum(change * direction))
        finite = ops.logical_and(ops.isfinite(value), ops.isfinite(here[2]))
        enough = value <= loss + sufficient_decrease * trial * slope
        enough = ops.logical_and(finite, enough)
        flat = ops.abs(here[2]) <= curvature * ops.abs(slope)
        done = ops.logical_and(ops.logical_and(enough, flat), value < lower)
        better = ops.logical_or(done, ops.logical_and(finite, value < best[1]))
        best = _where(better, (trial, value, change), best)
        moves = ops.logical_and(enough, here[2] < 0)
        bracketed = ops.isfinite(right[0])
        trial = ops.where(
            ops.logical_or(bracketed, ops.logical_not(moves)),
            _between(_where(moves, here, left), _where(moves, right, here)),
            _beyond(left, here),
        )
        left, right = _where(moves, here, left), _where(moves, right, here)
        return done, count + 1, trial, left, right, best

    _, count, _, _, _, (step, value, change) = ops.while_loop(
        unfinished,
        body,
        (
            ops.logical_not(active),
            ops.zeros((), "int32"),
            first,
            (zero, loss, slope),
            (nowhere, nowhere, zero),
            (zero, lower, gradient),
        ),
    )
    value = ops.where(step > 0, value, loss)
    return Found(step, value, change, count)


def _where(condition, these, those):
    return tuple(
        ops.where(condition, this, that)
        for this, that in zip(these, those, strict=True)
    )


def _beyond(left, here):
    """The zero of the secant of the slopes: half to four times as far again."""
    gone = here[0] - left[0]
    ahead = gone * here[2] / (left[2] - here[2])
    # A slope that does not rise has no zero ahead.
    ahead = ops.where(left[2] < here[2], ahead, 4 * gone)
    return here[0] + ops.minimum(ops.maximum(ahead, gone / 2), 4 * gone)


def _between(left, right):
    """The minimum of the cubic through both ends, at least a tenth away from either."""
    width = right[0] - left[0]
    middle = left[2] + right[2] - 3 * (right[1] - left[1]) / width
    root = ops.sqrt(ops.maximum(middle * middle - left[2] * right[2], 0.0))
    share = (right[2] + root - middle) / (right[2] - left[2] + 2 * root)
    # Nothing to interpolate where the loss is not finite, or far too large.
    share = ops.where(ops.isfinite(share), share, 0.75)
    return right[0] - width * ops.minimum(ops.maximum(share, 0.1), 0.9)
