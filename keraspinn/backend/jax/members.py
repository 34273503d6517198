"""JAX: one function of many members at once."""

import jax

from keraspinn.backend.jax.sharding import shard, shared_by


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
    tensors = shard(tensors)
    with shared_by(None):  # what is a member's is on one device
        results = jax.vmap(function)(*tensors)
    return shard(results)
