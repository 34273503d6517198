"""JAX: one function of many members at once."""

import jax


def map_members(function, tensors, in_turn=False):
    """`function` of each member's tensors, all members in one program.

    Args:
        function: Function of structures of tensors that returns one. What else it
            reads is the same for every member.
        tensors: Tuple of the function's arguments, each tensor with a first axis of
            the members.
        in_turn: Without meaning here: JAX maps every function.

    Returns:
        What the function returns, each tensor with a first axis of the members.
    """
    del in_turn
    return jax.vmap(function)(*tensors)
