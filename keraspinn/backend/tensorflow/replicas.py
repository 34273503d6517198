"""TensorFlow: training steps on several devices, and steps that are not taken."""

import contextlib

import tensorflow as tf

from keraspinn.backend.scopes import select, setting


def replica():
    """Return the index of the running replica, 0 if it is the only one."""
    context = tf.distribute.get_replica_context()
    return 0 if context is None else context.replica_id_in_sync_group


def replica_mean(tensors):
    """Return the mean over replicas of each tensor of a nested structure."""
    context = tf.distribute.get_replica_context()
    if context is None or context.num_replicas_in_sync == 1:
        return tensors
    return context.all_reduce(tf.distribute.ReduceOp.MEAN, tensors)


def shard(tensors, axis=0):
    """Return the tensors: a replica shares its points with no other."""
    return tensors


def replicate(tensors):
    """Return the tensors, of which a replica has all."""
    return tensors


def shard_count():
    """Return the number of devices that share the tensors of `shard`."""
    return 1


def snapshot(variables):
    """Return the present values of Keras variables, unchanged by later assignments."""
    return [tf.identity(variable.value) for variable in variables]


def apply_optimizer(optimizer, variables, gradients, before, taken=None):
    """Make a Keras optimizer's step, as a function of the values before it.

    On TensorFlow, Keras's optimizers write to their variables, which hold the values
    when a step begins; they are read again after it.

    Args:
        optimizer: Keras optimizer.
        variables: List of the trained Keras variables.
        gradients: List of gradients, already averaged over the replicas.
        before: Values of the variables and of the optimizer's, one list.
        taken: Boolean scalar, the same on all replicas: whether to make the step, or
            leave everything as it is. It is made, if not given.

    Returns:
        The values after the step, a list like `before`.
    """
    context = tf.distribute.get_replica_context()
    is_alone = context is None or context.num_replicas_in_sync == 1
    if is_alone:
        optimizer.apply(gradients, variables)
    else:
        _apply_on_replicas(context, optimizer, variables, gradients, taken)
    after = snapshot([*variables, *optimizer.variables])
    return select(taken, after, before) if is_alone and taken is not None else after


def _apply_on_replicas(context, optimizer, variables, gradients, taken):
    """Make the step where several replicas hold the state in their variables."""
    # Keras clips gradients, then adds up those of all replicas. If one replica brings
    # the whole gradient, and the others zeros, both are right.
    first = tf.equal(context.replica_id_in_sync_group, 0)
    gradients = [tf.where(first, g, tf.zeros_like(g)) for g in gradients]

    def apply(gradients):
        optimizer.apply(gradients, variables)

    def run(strategy, gradients):
        strategy.run(apply, args=(gradients,))
        return tf.constant(0)

    def on_all_replicas(strategy, condition, gradients):
        # Replicas may not meet inside a branch; a branch may hold their meeting.
        here = strategy.experimental_local_results(condition)[0]
        tf.cond(here, lambda: run(strategy, gradients), lambda: tf.constant(0))

    context.merge_call(on_all_replicas, args=(taken, gradients))


def on_replicas(strategy, function, *arguments):
    """Run a function on every replica; return the result of the first, as of all."""
    return tf.nest.map_structure(
        lambda result: strategy.experimental_local_results(result)[0],
        strategy.run(function, args=arguments),
    )


def undistributed():
    """Open a scope without effect: replicas take batches as Keras distributes them."""
    return contextlib.nullcontext()


def has_accelerator():
    """Return whether there is a GPU or TPU to compute on."""
    return any(map(tf.config.list_logical_devices, ("GPU", "TPU")))


def check_dtype(dtype):
    """Do nothing: TensorFlow computes in every floating-point type."""


def double_precision():
    """Open a scope with float64, which TensorFlow always has."""
    return full_products()


def full_products():
    """Open a scope in which matrix products are not rounded to fewer digits.

    By default GPUs multiply float32 in about ten bits, too few for second derivatives.
    The setting is TensorFlow's for all threads.
    """
    config = tf.config.experimental
    is_rounded = config.tensor_float_32_execution_enabled
    return setting(is_rounded, config.enable_tensor_float_32_execution, False)
