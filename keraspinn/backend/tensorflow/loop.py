"""TensorFlow: many steps as one program."""

import tensorflow as tf

from keraspinn.backend.scopes import all_finite
from keraspinn.backend.tensorflow.replicas import on_replicas, snapshot


def fused_loop(
    step, finish, names, dtype, jit_compile, strategy, variables, watched, shape
):
    """Compile many training steps as one program, which ends at a non-finite loss.

    Args:
        step: Function without arguments that makes one training step and returns a
            dict from `names`, `"loss"` among them, to tensors of `shape`.
        finish: Function of the dict of means of these over the loop and the number
            of steps, that returns the logs. Part of the same program.
        names: Names of the tensors that `step` returns.
        dtype: Their floating-point type.
        jit_compile: Whether XLA compiles the program.
        strategy: The `tf.distribute.Strategy` on whose replicas every step runs.
        variables: Keras variables that are put back as they were before a step whose
            loss is not finite. Steps must be pure functions of them: they are copied
            once a program, and the steps before the bad one are run again.
        watched: Those of them that must be finite after the last step.
        shape: The tensors' shape.

    Returns:
        Function of a number of steps that returns the logs, compiled once for all
        numbers.
    """

    def finite(tensor):
        return tf.reduce_all(tf.math.is_finite(tensor))

    def run(count):
        before = snapshot(variables)

        def going(i, totals):
            return tf.logical_and(i < count, finite(totals["loss"]))

        def body(i, totals):
            values = on_replicas(strategy, step)
            return i + 1, {name: totals[name] + values[name] for name in names}

        zeros = {name: tf.zeros(shape, dtype) for name in names}
        done, totals = tf.while_loop(going, body, (tf.constant(0), zeros))
        good = finite(totals["loss"])
        for variable, value in zip(variables, before, strict=True):
            variable.assign(tf.where(good, variable.value, value))
        steps = tf.cast(done, dtype)
        means = {name: totals[name] / steps for name in names}
        if watched:  # the last update may have overflowed, and no step follows it
            kept = [v.value for v in watched if v.dtype == dtype]
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
