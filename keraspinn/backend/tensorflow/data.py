"""TensorFlow: pipelines of arrays, and empty ones."""

import tensorflow as tf


def tick_dataset(replicas=1):
    """Return an endless dataset of ticks, for steps that draw all their points.

    A batch of it is an int32 for each replica.
    """
    ticks = tf.zeros(replicas, tf.int32)
    return _without_autotune(tf.data.Dataset.from_tensors(ticks).repeat())


def array_dataset(arrays, batch_size, replicas=1):
    """Return a nested structure of float64 arrays as a dataset of batches, in order.

    Replicas share each batch; Keras needs shares of one size in the first.
    """
    arrays = tf.nest.map_structure(lambda array: tf.cast(array, "float64"), arrays)
    count = tf.nest.flatten(arrays)[0].shape[0]
    batch_size = max(min(batch_size, count) // replicas, 1) * replicas
    dataset = tf.data.Dataset.from_tensor_slices(arrays).batch(batch_size)
    return _without_autotune(dataset)


def _without_autotune(dataset):
    # Autotune's thread outlives the iterator, and would hold up the end of `fit`.
    options = tf.data.Options()
    options.autotune.enabled = False
    # Workers hold the same arrays: each takes its share of every batch.
    policy = tf.data.experimental.AutoShardPolicy.DATA
    options.experimental_distribute.auto_shard_policy = policy
    return dataset.with_options(options)
