import dataclasses
import math
from collections.abc import Collection

import keras
from keras import ops

from keraspinn.common.checks import check_choice, check_count, real_number
from keraspinn.weighting.base import WeightingRule

LAYERS = ("pooled", "averaged", "largest")
RULES = ("weighted", "literal")


@keras.saving.register_keras_serializable("keraspinn")
@dataclasses.dataclass(frozen=True)
class GradientRatio(WeightingRule):
    """The paper's rule: weights from the ratio of back-propagated gradients.

    Every `update_freq` iterations each condition's weight λ becomes
    `(1 − α) λ + α λ̂`, with

        weighted:  λ̂ = max|∇L_r| / mean|λ ∇L_i|
        literal:   λ̂ = max|∇L_r| / mean|∇L_i|

    over the parameters of the network. An estimate λ̂ that is not a positive finite
    number, as a vanishing or non-finite gradient makes it, leaves λ as it was.

    Args:
        alpha: Weight α of the new estimate, in (0, 1].
        update_freq: Iterations from one update to the next.
        rule: `"weighted"` or `"literal"`.
        exclude: Parameters to leave out: those whose path holds one of these texts.
        layers: `"pooled"` takes the mean over all parameters; `"averaged"` the mean
            of each variable's mean; `"largest"` the largest of the ratios that each
            variable gives by itself.

    A weight that starts at zero stays zero under the weighted rule.

    Raises:
        ValueError: If an argument is out of range; by `check`, if `exclude` leaves
            none of a network's variables or names none.

    Example:

    >>> rule = keraspinn.weighting.GradientRatio(alpha=0.5, update_freq=1)
    >>> gradients = {
    ...     "residual": {"kernel": keras.ops.array([1.0, -8.0])},
    ...     "boundary": {"kernel": keras.ops.array([0.5, 0.5])},
    ... }
    >>> state = {"weights": {"boundary": 2.0}, "iteration": 0}
    >>> weights, _ = rule.update(gradients, {}, state)
    >>> float(weights["boundary"])
    5.0

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", Algorithm 1.
    """

    alpha: float = 0.1
    update_freq: int = 10
    rule: str = "weighted"
    exclude: Collection[str] = ()
    layers: str = "pooled"

    def __post_init__(self):
        alpha = real_number(self.alpha)
        if not 0 < alpha <= 1:
            raise ValueError(f"`alpha` must be in (0, 1]. Received: {self.alpha!r}")
        update_freq = check_count("update_freq", self.update_freq)
        check_choice("rule", self.rule, RULES)
        check_choice("layers", self.layers, LAYERS)
        listed = isinstance(self.exclude, (list, tuple, set, frozenset))
        if not listed or not all(isinstance(text, str) for text in self.exclude):
            raise ValueError(
                '`exclude` must be a list of texts, such as ("bias",). Received: '
                f"{self.exclude!r}"
            )
        exclude = tuple(self.exclude)
        vars(self).update(alpha=alpha, update_freq=update_freq, exclude=exclude)

    def update(self, gradients, losses, state):
        weights = state["weights"]

        def moved():
            residual = self._magnitudes(gradients["residual"])
            return {
                name: self._moved(weight, residual, self._magnitudes(gradients[name]))
                for name, weight in weights.items()
            }

        due = ops.equal(ops.mod(state["iteration"], self.update_freq), 0)
        return ops.cond(due, moved, lambda: dict(weights)), {}

    def check(self, paths):
        """Raises `ValueError` if a text of `exclude` is in none of variables' paths."""
        for text in self.exclude:
            if not any(text in path for path in paths):
                raise ValueError(
                    f"`exclude` names {text!r}, which no variable's path holds. The "
                    f"paths are {list(paths)}."
                )
        if all(any(text in path for text in self.exclude) for path in paths):
            raise ValueError(f"`exclude` leaves no variable. Received: {self.exclude}")

    def _magnitudes(self, gradients):
        paths = [p for p in gradients if not any(text in p for text in self.exclude)]
        return [ops.abs(gradients[path]) for path in paths]

    def _moved(self, weight, residual, condition):
        estimate = self._ratio(residual, condition)
        if self.rule == "weighted":
            estimate = estimate / ops.abs(weight)
        usable = ops.logical_and(ops.isfinite(estimate), estimate > 0)
        moved = (1.0 - self.alpha) * weight + self.alpha * estimate
        return ops.where(usable, moved, weight)

    def _ratio(self, residual, condition):
        """max|∇L_r| / mean|∇L_i|."""
        largest = ops.stack([ops.max(magnitude) for magnitude in residual])
        if self.layers == "pooled":
            total = sum(ops.sum(magnitude) for magnitude in condition)
            count = sum(math.prod(magnitude.shape) for magnitude in condition)
            return ops.max(largest) * count / total
        means = ops.stack([ops.mean(magnitude) for magnitude in condition])
        if self.layers == "averaged":
            return ops.max(largest) / ops.mean(means)
        # A variable that the condition does not depend on has no say.
        return ops.max(ops.where(means > 0, largest / means, ops.zeros_like(means)))
