"""Weighting rules: how the loss weights λ follow the training.

The losses of a problem's terms pull at the same network, and some pull harder. A rule
looks at the gradients and losses of the terms, which the training step takes anyway,
and says what each condition's loss should count. `GradientRatio`, the paper's, compares
gradients of one moment and remembers nothing but the weights; another may keep running
means. What a rule remembers is its *state*, a dict of tensors that goes in and comes
out of every update, saved and resumed with the training.

To add one, copy `gradient_ratio.py`.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from keraspinn.common.configs import described
from keraspinn.common.typing import State, Tensor


class WeightingRule:
    """Turns gradients and losses into loss weights; the contract of every rule.

    Subclasses are immutable and hashable, such as frozen dataclasses: a rule is part
    of what is compiled. A saved model has its rule, and what that remembers, if its
    class is registered with `keras.saving.register_keras_serializable`.

    Raises:
        NotImplementedError: By `update`, if a class lacks it.

    Example:

    >>> class Halve(keraspinn.weighting.WeightingRule):
    ...     "Every weight half of what it was, and how often that was done."
    ...     def init(self, weights):
    ...         return {"count": keras.ops.zeros(())}
    ...     def update(self, gradients, losses, state):
    ...         weights = {name: w / 2 for name, w in state["weights"].items()}
    ...         return weights, {"count": state["count"] + 1}
    """

    def init(self, weights: dict[str, Tensor]) -> State:
        """What the rule remembers when training starts, a dict from names to tensors.

        Args:
            weights: Dict from condition names to the weights that training starts
                with, scalars.
        """
        return {}

    def update(
        self,
        gradients: dict[str, dict[str, Tensor]],
        losses: dict[str, Tensor],
        state: dict[str, Any],
    ) -> tuple[dict[str, Tensor], State]:
        """New weights, and what the rule remembers.

        Args:
            gradients: Dict from term names, `"residual"` among them, to dicts from
                variables' paths to gradients of the unweighted losses.
            losses: Dict from term names to the unweighted losses, scalars.
            state: What `init` or the update before returned, and besides `"weights"`,
                the present weights by condition, and `"iteration"`, an integer scalar
                counted from 0.

        Returns:
            Dict from condition names to the new weights, and the rule's own entries of
            the new state.
        """
        raise NotImplementedError

    def check(self, paths: Sequence[str]) -> None:
        """Raise `ValueError` if the rule does not fit a network.

        Args:
            paths: The paths of the network's trainable variables.
        """

    def get_config(self):
        """The constructor's arguments: a dataclass's fields."""
        return dataclasses.asdict(self) if dataclasses.is_dataclass(self) else {}

    @classmethod
    def from_config(cls, config):
        """A rule from what `get_config` returned."""
        return cls(**config)

    def __eq__(self, other):
        return type(self) is type(other) and self.get_config() == other.get_config()

    def __hash__(self):
        return hash((type(self), repr(self.get_config())))

    def __repr__(self):
        return described(self)


class FunctionRule(WeightingRule):
    """A plain function of `(gradients, weights, iteration)` as a rule.

    Args:
        function: Hashable function that returns the new weights by condition.

    Example:

    >>> def constant(gradients, weights, iteration):
    ...     return weights
    >>> rule = keraspinn.weighting.FunctionRule(constant)
    """

    def __init__(self, function: Callable[..., dict[str, Tensor]]) -> None:
        self.function = function

    def update(self, gradients, losses, state):
        return self.function(gradients, state["weights"], state["iteration"]), {}

    def __eq__(self, other):
        return isinstance(other, FunctionRule) and self.function == other.function

    def __hash__(self):
        return hash(self.function)

    def __repr__(self):
        return repr(self.function)
