"""TensorFlow: gradients, the fused loop, and random numbers without state."""

import tensorflow as tf

from keraspinn.backend.replicas import all_finite, copies, on_replicas


def value_and_gradients(function, variables, count=1):
    """The sum of `function(n)` over n < count, and its gradients by Keras variables.

    One part is differentiated after the other, in the memory that one takes. A
    variable that the value does not depend on has a gradient of zeros.

    Args:
        function: Function of an integer that returns a scalar.
        variables: The variables.
        count: Number of parts.
    """
    if count == 1:
        return _value_and_gradients(function, variables, 0)

    def add(number, value, gradients):
        v, g = _value_and_gradients(function, variables, number)
        return number + 1, value + v, [a + b for a, b in zip(gradients, g, strict=True)]

    zeros = [tf.zeros_like(variable.value) for variable in variables]
    start = tf.constant(0), tf.zeros((), variables[0].dtype), zeros
    _, value, gradients = tf.while_loop(
        lambda number, *_: number < count, add, start, parallel_iterations=1
    )
    return value, gradients


def _value_and_gradients(function, variables, number):
    tensors = [variable.value for variable in variables]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(tensors)
        value = function(number)
    gradients = tape.gradient(
        value, tensors, unconnected_gradients=tf.UnconnectedGradients.ZERO
    )
    return value, gradients


def hessian_products(function, variables):
    """Products of a Hessian with vectors, compiled.

    Reverse over reverse: the first gradient is taken once for all vectors, and the
    second is a batch of them. Measured on two cores at 50 × 5 units, that is faster
    than forward over reverse, and XLA compiles longer than it saves.

    Args:
        function: Function of tensors in any structure that returns a scalar.
        variables: Keras variables to differentiate by; vectors hold their entries
            one after another.

    Returns:
        Function of `(inputs, vectors)`, the latter `(K, P)`, that returns `(K, P)`.
    """

    def flat(tensors):
        return tf.concat([tf.reshape(tensor, [-1]) for tensor in tensors], axis=0)

    def products(inputs, vectors):
        tensors = [variable.value for variable in variables]
        with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
            tape.watch(tensors)
            slope = flat(value_and_gradients(lambda _: function(inputs), variables)[1])

        def product(vector):
            return flat(
                tape.gradient(
                    slope,
                    tensors,
                    output_gradients=vector,
                    unconnected_gradients=tf.UnconnectedGradients.ZERO,
                )
            )

        if vectors.shape[0] == 1:
            return product(vectors[0])[None]
        return tf.vectorized_map(product, vectors)

    program = tf.function(products, autograph=False)
    dtype = variables[0].dtype
    return lambda inputs, vectors: program(inputs, tf.cast(vectors, dtype)).numpy()


def uniform(shape, seed, stream, dtype):
    """Numbers uniform in [0, 1), a pure function of the two integers.

    Made here from random bits: Philox gives the same bits eagerly, in a graph and
    under XLA, whose own conversions to floating point differ. What TensorFlow would
    pick under XLA on a CPU by itself is also eight times slower.
    """
    seed = tf.stack([tf.cast(seed, tf.int64), tf.cast(stream, tf.int64)])
    dtype = tf.as_dtype(dtype)
    bits, kept = (tf.uint64, 53) if dtype == tf.float64 else (tf.uint32, 24)
    random = tf.random.stateless_uniform(
        shape, seed, minval=None, maxval=None, dtype=bits, alg="philox"
    )
    shift = tf.constant(bits.size * 8 - kept, bits)
    return tf.cast(tf.bitwise.right_shift(random, shift), dtype) * 2.0**-kept


def compiled(function, jit_compile=False):
    """`function` of tensors as a TensorFlow graph, compiled by XLA if asked."""
    return tf.function(
        function, jit_compile=jit_compile, autograph=False, reduce_retracing=True
    )


def fused_loop(step, finish, names, dtype, jit_compile, strategy=None, variables=()):
    """Many training steps as one program, which ends early at a loss not finite.

    Args:
        step: Function without arguments that makes one training step and returns a
            dict from `names`, `"loss"` among them, to scalars.
        finish: Function of the dict of means of these over the loop and the number
            of steps, that returns the logs. Part of the same program.
        names: Names of the scalars that `step` returns.
        dtype: Their floating-point type.
        jit_compile: Whether XLA compiles the program.
        strategy: The `tf.distribute.Strategy` on whose replicas every step runs.
        variables: Keras variables that are put back as they were before a step whose
            loss is not finite. Steps must be pure functions of them: they are copied
            once a program, and the steps before the bad one are run again.

    Returns:
        Function of a number of steps that returns the logs, compiled once for all
        numbers.
    """
    strategy = strategy or tf.distribute.get_strategy()

    def run(count):
        before = copies(variables)

        def going(i, totals):
            return tf.logical_and(i < count, tf.math.is_finite(totals["loss"]))

        def body(i, totals):
            values = on_replicas(strategy, step)
            return i + 1, {name: totals[name] + values[name] for name in names}

        zeros = {name: tf.zeros((), dtype) for name in names}
        done, totals = tf.while_loop(going, body, (tf.constant(0), zeros))
        good = tf.math.is_finite(totals["loss"])
        for variable, value in zip(variables, before, strict=True):
            variable.assign(tf.where(good, variable.value, value))
        steps = tf.cast(done, dtype)
        means = {name: totals[name] / steps for name in names}
        if variables:  # the last update may have overflowed, and no step follows it
            kept = [v.value for v in variables if v.dtype == dtype]
            lost = tf.constant(float("nan"), dtype)
            means["loss"] = tf.where(all_finite(kept), means["loss"], lost)
        return on_replicas(strategy, finish, means, steps), good, done

    program = tf.function(run, jit_compile=jit_compile, autograph=False)

    def call(count):
        logs, good, done = program(tf.constant(count, tf.int32))
        if variables and not good and done > 1:
            program(done - 1)
        return logs

    return call


def tick_dataset(replicas=1):
    """An endless dataset of nothing, for training steps that draw their own points.

    A batch of it is an int32 for each replica.
    """
    ticks = tf.zeros(replicas, tf.int32)
    return _without_autotune(tf.data.Dataset.from_tensors(ticks).repeat())


def array_dataset(arrays, batch_size, dtype, replicas=1):
    """A nested structure of arrays as a dataset of batches, in order.

    Replicas share each batch; Keras needs shares of one size in the first.
    """
    arrays = tf.nest.map_structure(lambda array: tf.cast(array, dtype), arrays)
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


class EventWriter:
    """Writes scalars and histograms to the files that TensorBoard reads.

    `tf.summary.scalar` and `histogram` need the package `tensorboard`, and raw data;
    this needs neither.

    Args:
        directory: Where to put the file.
    """

    def __init__(self, directory):
        self._writer = tf.summary.create_file_writer(str(directory))

    def scalar(self, name, value, step):
        """Write a number."""
        self._write("scalars", name, tf.constant(value, tf.float32), step)

    def histogram(self, name, edges, counts, step):
        """Write a histogram: the edges of K bins, K + 1 numbers, and their counts."""
        columns = [tf.cast(c, tf.float64) for c in (edges[:-1], edges[1:], counts)]
        self._write("histograms", name, tf.stack(columns, axis=-1), step)

    def flush(self):
        """Make what was written readable."""
        self._writer.flush()

    def close(self):
        """Write no more."""
        self._writer.close()

    def _write(self, plugin, name, value, step):
        metadata = tf.compat.v1.SummaryMetadata()
        metadata.plugin_data.plugin_name = plugin
        # Keras's TensorBoard callback may leave a condition on recording in force.
        with self._writer.as_default(), tf.summary.record_if(True):
            tf.summary.write(name, value, step=step, metadata=metadata)
