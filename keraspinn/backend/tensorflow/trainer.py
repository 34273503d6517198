"""TensorFlow: the functions that Keras's loops over batches call."""

import functools

import tensorflow as tf

from keraspinn.backend.scopes import all_finite, setting
from keraspinn.backend.tensorflow.replicas import on_replicas, snapshot


class StepFunctions:
    """A Keras model whose steps may run on the replicas of a `tf.distribute` strategy.

    Keras calls functions `iterator → results`, which read and write variables.
    """

    optimizer_writes = True  # to its variables, in every step

    @property
    def replica_count(self):
        """Number of devices that share a batch."""
        return self.distribute_strategy.num_replicas_in_sync

    def replica_scope(self):
        """Open the scope in which to make variables that replicas share."""
        return self.distribute_strategy.scope()

    def check_devices(self):
        """Do nothing: a strategy's variables tell Keras their devices."""

    def loop_function(self, count, step, finish, names, variables, watched, shape):
        """Make Keras's training function, which runs many steps as one program.

        The program is compiled once for all numbers of steps, and ends at a loss that
        is not finite.

        Args:
            count: Function that returns the number of steps to run now.
            step: Function without arguments that makes one training step and returns a
                dict from `names`, `"loss"` among them, to tensors of `shape`.
            finish: Function of the dict of means of these over the loop and the number
                of steps, that returns the logs. Part of the same program.
            names: Names of the tensors that `step` returns.
            variables: Keras variables that are put back as they were before a step
                whose loss is not finite. Steps must be pure functions of them: they
                are copied once a program, and the steps before the bad one are run
                again.
            watched: Those of them that must be finite after the last step.
            shape: The tensors' shape.
        """
        dtype, strategy = self.variable_dtype, self.distribute_strategy

        def run(number):
            before = snapshot(variables)

            def going(i, totals):
                return tf.logical_and(i < number, all_finite([totals["loss"]]))

            def body(i, totals):
                values = on_replicas(strategy, step)
                return i + 1, {name: totals[name] + values[name] for name in names}

            zeros = {name: tf.zeros(shape, dtype) for name in names}
            done, totals = tf.while_loop(going, body, (tf.constant(0), zeros))
            good = all_finite([totals["loss"]])
            for variable, value in zip(variables, before, strict=True):
                variable.assign(tf.where(good, variable.value, value))
            steps = tf.cast(done, dtype)
            means = {name: totals[name] / steps for name in names}
            if watched:  # the last update may have overflowed, and no step follows it
                kept = [v.value for v in watched if v.dtype == dtype]
                lost = tf.constant(float("nan"), dtype)
                means["loss"] = tf.where(all_finite(kept), means["loss"], lost)
            return on_replicas(strategy, finish, means, steps), good, done

        program = tf.function(run, jit_compile=self.jit_compile, autograph=False)

        def loop(iterator):
            logs, good, done = program(tf.constant(count(), tf.int32))
            if variables and not good and done > 1:
                program(done - 1)
            return logs

        return loop

    def make_test_function(self, force=False):
        """Compile without XLA, which would take longer to compile than it saves."""
        with self._without_xla():
            return super().make_test_function(force)

    def make_predict_function(self, force=False):
        """Compile without XLA, as for evaluation."""
        with self._without_xla():
            return super().make_predict_function(force)

    def _without_xla(self):
        write = functools.partial(setattr, self, "jit_compile")
        return setting(lambda: self.jit_compile, write, False)
