"""Line search for the strong Wolfe conditions."""

from collections import namedtuple

import numpy as np
from keras import ops

from keraspinn.backend.scopes import select

SearchResult = namedtuple("SearchResult", "step loss gradient evaluations")


def search(
    evaluate, position, active, first, sufficient_decrease, curvature, max_evaluations
):
    """Find a step that decreases the loss and the gradient along a direction.

    With φ(α) the loss at θ + α d, a step α is accepted if

        φ(α) ≤ φ(0) + sufficient_decrease α φ'(0)   and   |φ'(α)| ≤ curvature |φ'(0)|.

    Such a step exists between a left end with sufficient decrease and φ' < 0, and a
    right end without. The search moves to the right, to zeros of the secant of φ',
    until it has a right end, and then to the minimum of the cubic through both ends. A
    step is too long if φ or φ' is not finite. After `max_evaluations` the best point is
    accepted, or none if the loss is nowhere lower by more than round-off.

    The search is one loop with one evaluation in its body, so that the network is
    compiled once.

    Args:
        evaluate: Function from parameters `(P,)` to the loss and its gradient.
        position: Tuple of the parameters θ, the direction d, the loss φ(0) and its
            gradient.
        active: Boolean scalar; if false, nothing is evaluated and the step is zero.
        first: First step to try, a positive scalar.
        sufficient_decrease: Fraction of the linear model's decrease.
        curvature: Fraction of the initial gradient along the line.
        max_evaluations: Largest number of evaluations.

    Returns:
        A `SearchResult`: the step α, zero if none is accepted; the loss and its
        gradient there; the number of evaluations.

    Reference:
        Nocedal & Wright, "Numerical optimization", section 3.5; Moré & Thuente, "Line
        search algorithms with guaranteed sufficient decrease", 1994.
    """
    parameters, direction, loss, gradient = position
    derivative = ops.sum(gradient * direction)
    zero = ops.zeros_like(loss)
    nowhere = zero + np.inf
    # A decrease within round-off does not count.
    lower = loss - 4 * float(np.finfo(ops.dtype(loss)).eps) * ops.abs(loss)

    def unfinished(done, count, *_):
        return ~done & (count < max_evaluations)

    def body(done, count, trial, left, right, best):
        value, change = evaluate(parameters + trial * direction)
        here = (trial, value, ops.sum(change * direction))
        finite = ops.isfinite(value) & ops.isfinite(here[2])
        enough = finite & (value <= loss + sufficient_decrease * trial * derivative)
        flat = ops.abs(here[2]) <= curvature * ops.abs(derivative)
        done = enough & flat & (value < lower)
        better = done | (finite & (value < best[1]))
        best = select(better, (trial, value, change), best)
        moves = enough & (here[2] < 0)
        ends = select(moves, here, left), select(moves, right, here)
        bracketed = ops.isfinite(right[0]) | ~moves
        trial = ops.where(bracketed, _between(*ends), _beyond(left, here))
        return done, count + 1, trial, *ends, best

    left, right = (zero, loss, derivative), (nowhere, nowhere, zero)
    best = zero, lower, gradient
    start = ops.logical_not(active), ops.zeros((), "int32"), first, left, right, best
    _, count, *_, (step, value, change) = ops.while_loop(unfinished, body, start)
    return SearchResult(step, ops.where(step > 0, value, loss), change, count)


def _beyond(left, here):
    """Return the zero of the secant of φ', within half to four times the last step."""
    gone = here[0] - left[0]
    ahead = gone * here[2] / (left[2] - here[2])
    # A secant that does not rise has no zero ahead.
    ahead = ops.where(left[2] < here[2], ahead, 4 * gone)
    return here[0] + ops.minimum(ops.maximum(ahead, gone / 2), 4 * gone)


def _between(left, right):
    """Return the minimum of the cubic through both ends, a tenth or more inside."""
    width = right[0] - left[0]
    middle = left[2] + right[2] - 3 * (right[1] - left[1]) / width
    root = ops.sqrt(ops.maximum(middle * middle - left[2] * right[2], 0.0))
    share = (right[2] + root - middle) / (right[2] - left[2] + 2 * root)
    # No interpolation if the loss is not finite, or far too large.
    share = ops.where(ops.isfinite(share), share, 0.75)
    return right[0] - width * ops.minimum(ops.maximum(share, 0.1), 0.9)
