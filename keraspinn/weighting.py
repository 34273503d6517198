"""Rules that turn gradients into loss weights: pure functions, no state."""

import dataclasses
import math

from keras import ops


@dataclasses.dataclass(frozen=True)
class GradientRatio:
    """The paper's rule: weights from the ratio of back-propagated gradients.

    Every `update_freq` iterations each condition's weight λ becomes
    `(1 − α) λ + α λ̂`, with

        weighted:  λ̂ = max|∇L_r| / mean|λ ∇L_i|
        literal:   λ̂ = max|∇L_r| / mean|∇L_i|

    over all parameters of the network. An estimate λ̂ that is not a positive finite
    number, as a vanishing or non-finite gradient makes it, leaves λ as it was.

    Args:
        alpha: Weight α of the new estimate, in (0, 1].
        update_freq: Iterations from one update to the next.
        rule: `"weighted"` or `"literal"`.

    Call arguments:
        gradients: Dict from term names, `"residual"` among them, to lists of
            gradients of the unweighted losses.
        weights: Dict from condition names to the present weights, scalars.
        iteration: Integer scalar, counted from 0.

    Returns:
        Dict from condition names to the new weights.

    Example:

    >>> rule = keraspinn.weighting.GradientRatio(alpha=1.0, update_freq=1)
    >>> inside, walls = keras.ops.array([4.0, -8.0]), keras.ops.array([1.0, 3.0])
    >>> gradients = {"residual": [inside], "walls": [walls]}
    >>> float(rule(gradients, {"walls": 1.0}, iteration=0)["walls"])
    4.0
    """

    alpha: float = 0.9
    update_freq: int = 10
    rule: str = "weighted"

    def __call__(self, gradients, weights, iteration):
        def update():
            largest = _max_abs(gradients["residual"])
            return {
                name: self._moved(weight, largest, gradients[name])
                for name, weight in weights.items()
            }

        if self.update_freq == 1:
            return update()
        due = ops.equal(ops.mod(iteration, self.update_freq), 0)
        return ops.cond(due, update, lambda: dict(weights))

    def _moved(self, weight, largest, gradients):
        average = _mean_abs(gradients)
        if self.rule == "weighted":
            average = ops.abs(weight) * average
        estimate = largest / average
        usable = ops.logical_and(ops.isfinite(estimate), estimate > 0)
        moved = (1.0 - self.alpha) * weight + self.alpha * estimate
        return ops.where(usable, moved, weight)


def _max_abs(gradients):
    largest = [ops.max(ops.abs(gradient)) for gradient in gradients]
    return ops.max(ops.stack(largest))


def _mean_abs(gradients):
    total = sum(ops.sum(ops.abs(gradient)) for gradient in gradients)
    return total / sum(math.prod(gradient.shape) for gradient in gradients)
