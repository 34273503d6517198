"""TensorFlow: one function of many members at once."""

import tensorflow as tf


def map_members(function, tensors, in_turn=False):
    """`function` of each member's tensors, all members in one program.

    Args:
        function: Function of structures of tensors that returns one. What else it
            reads is the same for every member.
        tensors: Tuple of the function's arguments, each tensor with a first axis of
            the members.
        in_turn: Whether to take one member after the other. TensorFlow maps neither
            what writes to variables, as Keras's optimizers do, nor, under XLA, loops
            that end earlier for one member than for another.

    Returns:
        What the function returns, each tensor with a first axis of the members.
    """
    if not in_turn:
        # Random bits it takes in a loop, and says so unless told not to.
        return tf.vectorized_map(lambda own: function(*own), tensors, warn=False)
    one = tf.function(function, autograph=False)
    specs = tf.nest.map_structure(
        lambda tensor: tf.TensorSpec(tensor.shape[1:], tensor.dtype), tensors
    )
    returned = one.get_concrete_function(*specs).structured_outputs
    signature = tf.nest.map_structure(
        lambda tensor: tf.TensorSpec(tensor.shape, tensor.dtype), returned
    )
    return tf.map_fn(
        lambda own: one(*own),
        tensors,
        parallel_iterations=1,
        fn_output_signature=signature,
    )
