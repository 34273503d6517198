"""Weighting rules, which adapt the loss weights λ during training.

The losses of a problem's terms compete for the same network, and some have far larger
gradients. In every training step a rule receives the gradients and losses of all terms,
and returns a weight for each condition's loss. `GradientRatio`, the paper's, compares
the gradients of one step; another rule may keep running means. Numbers that a rule
keeps are its *state*, a dict of tensors that each update receives and returns. It is
saved and resumed with the training.

To add one, copy `gradient_ratio.py`: a frozen dataclass with `update`. A rule with a
state defines `init`, or `begin` if the state depends on more than the weights.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from keraspinn.common import Configured, Random, State, Tensor


class TrainingSetup(NamedTuple):
    """The training that a weighting rule is about to adapt; see `WeightingRule.begin`.

    Args:
        terms: Names of all terms, `"residual"` first.
        weights: Dict from condition names to the initial weights, scalars. Conditions
            that the fields satisfy by construction have no weight.
        dtype: Name of the floating-point type of losses, gradients and weights.
        uniform: Function of a shape, and perhaps of a number that tells one call from
            another, that returns a tensor uniform in [0, 1). It follows from the seed.

    Example:

    >>> weights = {"boundary": keras.ops.ones(())}
    >>> setup = keraspinn.weighting.TrainingSetup(
    ...     ("residual", "boundary"), weights, "float32", keras.random.uniform
    ... )
    >>> setup.dtype
    'float32'
    """

    terms: tuple[str, ...]
    weights: dict[str, Tensor]
    dtype: str
    uniform: Random


class WeightingRule(Configured):
    """A rule from gradients and losses to loss weights; the contract of every rule.

    Subclasses are immutable and hashable, such as frozen dataclasses: a rule is part
    of the compiled program. A saved model has its rule, and the rule's state, if its
    class is registered with `keras.saving.register_keras_serializable`.

    Raises:
        NotImplementedError: By `update`, if a class lacks it.

    Example:

    >>> class Halve(keraspinn.weighting.WeightingRule):
    ...     "Halves every weight, and counts the updates."
    ...     def init(self, weights):
    ...         return {"count": keras.ops.zeros(())}
    ...     def update(self, gradients, losses, state):
    ...         weights = {name: w / 2 for name, w in state["weights"].items()}
    ...         return weights, {"count": state["count"] + 1}
    """

    def begin(self, setup: TrainingSetup) -> State:
        """Return the rule's first state, a dict from names to tensors.

        A rule whose state depends on the weights alone defines `init` instead.

        Args:
            setup: The terms' names, the initial weights, the floating-point type and
                random numbers.
        """
        return self.init(setup.weights)

    def init(self, weights: dict[str, Tensor]) -> State:
        """Return the rule's first state, a dict from names to tensors.

        Args:
            weights: Dict from condition names to the initial weights, scalars.
        """
        return {}

    def update(
        self,
        gradients: dict[str, dict[str, Tensor]],
        losses: dict[str, Tensor],
        state: dict[str, Any],
    ) -> tuple[dict[str, Tensor], State]:
        """Return new weights, and the rule's new state.

        Args:
            gradients: Dict from term names, `"residual"` among them, to dicts from
                variables' paths to gradients of the unweighted losses.
            losses: Dict from term names to the unweighted losses, scalars.
            state: The state that `begin` or the update before returned, with three
                more entries: `"weights"`, the present weights by condition;
                `"iteration"`, an integer scalar counted from 0; and `"uniform"`, as in
                `TrainingSetup`, with other numbers in each step.

        Returns:
            Dict from condition names to the new weights, and the new state without
            those three entries.
        """
        raise NotImplementedError

    def check(self, paths: Sequence[str]) -> None:
        """Raise `ValueError` if the rule does not fit a network.

        Args:
            paths: The paths of the network's trainable variables.
        """


@dataclasses.dataclass(frozen=True)
class FunctionRule(WeightingRule):
    """A plain function of `(gradients, weights, iteration)` as a rule.

    Args:
        function: Hashable function that returns the new weights by condition.

    Example:

    >>> def constant(gradients, weights, iteration):
    ...     return weights
    >>> rule = keraspinn.weighting.FunctionRule(constant)
    """

    function: Callable[..., dict[str, Tensor]]

    def update(self, gradients, losses, state):
        return self.function(gradients, state["weights"], state["iteration"]), {}
