"""One training step of every member of an ensemble: a function from state to state."""

import dataclasses

import keras
from keras import ops

from keraspinn import backend
from keraspinn.backend.scopes import assign, select, substituted
from keraspinn.training.second_order import SecondOrderStep
from keraspinn.training.step import marked


@dataclasses.dataclass(frozen=True)
class MemberSteps:
    """A step of one member, mapped over all of them.

    The state is that of `Step`, with the members along the first axis of every tensor.

    Args:
        step: The `Step` of one member.
        fixed: Keras variables of one member that are not trained.
        optimizer_writes: Whether the optimizer writes to its variables, not to
            substituted values.
    """

    step: object
    fixed: tuple
    optimizer_writes: bool

    def __call__(self, state, fixed, seeds, iteration, going, given=None):
        """Make one step of the members that have not stopped.

        Args:
            state: The state, as above.
            fixed: A tensor for each of the `fixed` variables.
            seeds: Tensor `(size,)` of the members' seeds.
            iteration: Number of steps taken before by those that have not stopped.
            going: Tensor `(size,)`, whether a member has not stopped.
            given: Batches by term name, the same for all.

        Returns:
            The state; the losses by name, `(size,)`, zero where no step was taken; and
            whether a step was taken, after which all variables are finite.
        """

        def of_member(state, fixed, seed):
            step = self.of_member(seed)
            with substituted(self.fixed, fixed):
                return (step if is_whole else step.gradient)(state, iteration, given)

        is_whole = isinstance(self.step, SecondOrderStep)
        tensors = state, list(fixed), seeds
        result = backend.map_members(of_member, tensors, in_turn=is_whole)
        new, losses = result if is_whole else self._moved(state, *result)
        taken = going & ops.isfinite(losses["loss"])
        for value in new["variables"]:
            axes = tuple(range(1, len(value.shape)))
            taken = taken & ops.all(ops.isfinite(value), axis=axes)
        zeros = keras.tree.map_structure(ops.zeros_like, losses)
        return select(taken, new, state), select(taken, losses, zeros), taken

    def of_member(self, seed):
        """Return the `Step` of the member with a seed."""
        return dataclasses.replace(self.step, seed=seed)

    def _moved(self, state, new, total, losses, finite):
        """Apply the members' gradients by Keras's optimizer, one after another."""

        def moved(total, variables, optimizer):
            if self.optimizer_writes:
                held = [*self.step.variables, *self.step.optimizer.variables]
                assign(held, [*variables, *optimizer])
            before = {"variables": variables, "optimizer": optimizer}
            return self.step.moved(total, before)

        parts = total, state["variables"], state["optimizer"]
        new |= backend.map_members(moved, parts, in_turn=True)
        return new, marked(losses, finite)
