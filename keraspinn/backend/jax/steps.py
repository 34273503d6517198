"""JAX: parts of a training step that Keras lacks."""

from keraspinn.backend.scopes import select, stateless


def snapshot(variables):
    """Return the present values of Keras variables, unchanged by later assignments."""
    return [variable.value for variable in variables]


def apply_optimizer(optimizer, variables, gradients, before, taken=None):
    """Make a Keras optimizer's step, as a function of the values before it.

    Args:
        optimizer: Keras optimizer.
        variables: List of the trained Keras variables.
        gradients: List of gradients.
        before: Values of the variables and of the optimizer's, one list.
        taken: Boolean scalar: whether to make the step, or leave everything as it is.
            It is made, if not given.

    Returns:
        The values after the step, a list like `before`.
    """
    # Like `optimizer.stateless_apply`, which needs all variables it was built for.
    apply = stateless(optimizer.apply, [*variables, *optimizer.variables])
    _, after = apply(before, gradients, variables)
    return after if taken is None else select(taken, after, before)
