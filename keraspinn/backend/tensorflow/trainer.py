"""TensorFlow: the functions that Keras's loops over batches call."""

import contextlib

from keraspinn.backend.tensorflow.loop import fused_loop


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

        Args:
            count: Function that returns the number of steps to run now.
            step: See `fused_loop`, as all that follow.
        """
        where = self.variable_dtype, self.jit_compile, self.distribute_strategy
        guarded = variables, watched, shape
        loop = fused_loop(step, finish, names, *where, *guarded)
        return lambda iterator: loop(count())

    def make_test_function(self, force=False):
        """Compile without XLA, which would take longer to compile than it saves."""
        with self._without_xla():
            return super().make_test_function(force)

    def make_predict_function(self, force=False):
        """Compile without XLA, as for evaluation."""
        with self._without_xla():
            return super().make_predict_function(force)

    @contextlib.contextmanager
    def _without_xla(self):
        self.jit_compile, kept = False, self.jit_compile
        try:
            yield
        finally:
            self.jit_compile = kept
