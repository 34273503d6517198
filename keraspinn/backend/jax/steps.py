"""JAX: parts of a training step that Keras lacks."""

from keraspinn.backend.scopes import select, substituted


def snapshot(variables):
    """Return the present values of Keras variables, unchanged by later assignments."""
    return [variable.value for variable in variables]


def apply_optimizer(optimizer, variables, gradients, state, taken=None):
    """Make a Keras optimizer's step, as a function of the training state.

    Args:
        optimizer: Keras optimizer.
        variables: List of the trained Keras variables.
        gradients: List of gradients.
        state: The training state, of which `"variables"` and `"optimizer"` are used.
        taken: Boolean scalar: whether to make the step, or leave everything as it is.
            It is made, if not given.

    Returns:
        The trained variables' values, and the optimizer's.
    """
    moved = [*variables, *optimizer.variables]
    before = [*state["variables"], *state["optimizer"]]
    # Like `optimizer.stateless_apply`, which needs all variables it was built for.
    with substituted(moved, before) as scope:
        optimizer.apply(gradients, variables)
        after = [scope.get_current_value(variable) for variable in moved]
    if taken is not None:
        after = select(taken, after, before)
    return after[: len(variables)], after[len(variables) :]
