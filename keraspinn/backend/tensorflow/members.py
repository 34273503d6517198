"""TensorFlow: one function of many members at once."""

import tensorflow as tf


def map_members(function, tensors, in_turn=False):
    """Apply `function` to each member's tensors, all members in one program.

    Args:
        function: Function of structures of tensors that returns one. Other tensors
            that it reads are the same for every member.
        tensors: Tuple of the function's arguments, each tensor with a first axis of
            the members.
        in_turn: Whether to take one member after the other. TensorFlow can map neither
            functions that write to variables, as Keras's optimizers do, nor, under
            XLA, loops of different lengths.

    Returns:
        The function's results, each tensor with a first axis of the members.
    """
    if not in_turn:
        # It loops over random bits, and would warn of that.
        return tf.vectorized_map(lambda member: function(*member), tensors, warn=False)
    one = tf.function(function, autograph=False)
    spec = tf.nest.map_structure(lambda t: tf.TensorSpec(t.shape[1:], t.dtype), tensors)
    returned = one.get_concrete_function(*spec).structured_outputs
    return tf.map_fn(
        lambda member: one(*member),
        tensors,
        parallel_iterations=1,
        fn_output_signature=tf.nest.map_structure(tf.TensorSpec.from_tensor, returned),
    )
