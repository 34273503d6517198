"""JAX: one function of many members at once."""

import jax

from keraspinn.backend.jax.sharding import shard, shared_by


def map_members(function, tensors, in_turn=False):
    """Apply `function` to each member's tensors, all members in one program.

    Args:
        function: Function of structures of tensors that returns one. Other tensors
            that it reads are the same for every member.
        tensors: Tuple of the function's arguments, each tensor with a first axis of
            the members.
        in_turn: Ignored: JAX maps every function.

    Returns:
        The function's results, each tensor with a first axis of the members.
    """
    tensors = shard(tensors)
    with shared_by(None):  # a member's tensors are on one device
        results = jax.vmap(function)(*tensors)
    return shard(results)
