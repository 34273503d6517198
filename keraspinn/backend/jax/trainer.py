"""JAX: the functions that Keras's loops over batches call."""

import contextlib

import keras
import numpy as np

from keraspinn.backend.jax.sharding import mesh_of, program
from keraspinn.backend.jax.steps import fused_loop
from keraspinn.backend.scopes import assign, distinct, stateless


class StepFunctions:
    """A Keras model whose steps are methods of data, as on TensorFlow.

    Keras takes the variables' values away from a model, and hands them to functions
    `(state, iterator) → (results, state)`. The functions made here assign the values
    first, run the step as a program of them, and write its results: variables hold the
    present values whenever Python runs, also where a fit is interrupted.

    A model stays on the devices of the distribution under which it was made.
    """

    optimizer_writes = False  # it returns the new values

    replica_count = 1
    _distribution = None

    def __init__(self, *args, **kwargs):
        mesh_of(keras.distribution.distribution())
        super().__init__(*args, **kwargs)
        self._distribution = keras.distribution.distribution()

    @property
    def mesh(self):
        """The devices, or `None` for one."""
        return mesh_of(self._distribution)

    def replica_scope(self):
        """Open the scope in which to make variables that devices share."""
        if self._distribution is None:
            return contextlib.nullcontext()
        return self._distribution.scope()

    def check_devices(self):
        """Raise `ValueError` if the distribution has other devices than the model."""
        mesh = mesh_of(keras.distribution.distribution())
        if mesh is not None and mesh != self.mesh:
            there = "one device" if self.mesh is None else f"{self.mesh.size} devices"
            raise ValueError(
                "A model stays on the devices it was made on. Received: a model on "
                f"{there}, and a distribution of {mesh.size}. Call "
                "keras.distribution.set_distribution before the network, the model and "
                "the optimizer are made"
            )

    def jax_state_sync(self):
        """Do nothing: the variables hold their present values already."""

    def loop_function(self, count, step, finish, names, variables, watched, shape):
        """Make Keras's training function, which runs many steps as one program.

        Args:
            count: Function that returns the number of steps to run now.
            step: See `fused_loop`, as all that follow.
        """
        read = [*self.variables, *self.metrics_variables]
        guarded = self.variable_dtype, variables, watched
        loop = fused_loop(step, finish, names, *guarded, read, shape, self.mesh)

        def function(state, iterator):
            self._attach(state)
            logs = loop(count())
            return logs, self._values(state)

        return function

    def make_train_function(self, force=False):
        """Make a function that runs steps one by one, each a program."""
        if self.train_function is None or force:
            trained = [*self.optimizer.variables, *self.trainer.state.variables]
            self.train_function = self._function(self.train_step, trained)
        return self.train_function

    def make_test_function(self, force=False):
        """Make a function of single steps, as `make_train_function` does."""
        if self.test_function is None or force:
            self.test_function = self._function(self.test_step)
        return self.test_function

    def make_predict_function(self, force=False):
        """Make a function of single steps, as `make_train_function` does."""
        if self.predict_function is None or force:
            self.predict_function = self._function(self.predict_step, joined=True)
        return self.predict_function

    def _function(self, step, variables=(), joined=False):
        read = distinct([*self.variables, *self.metrics_variables, *variables])
        one = stateless(step, read)
        if not self.run_eagerly:
            one = program(one, self.mesh)

        def run(iterator):
            result, after = one([v.value for v in read], next(iterator))
            assign(read, after)
            return result

        def function(state, iterator):
            self._attach(state)
            results = [run(iterator)]
            with contextlib.suppress(StopIteration):
                for _ in range(self.steps_per_execution - 1):
                    results.append(run(iterator))
            if joined and len(results) > 1:
                result = keras.tree.map_structure(
                    lambda *parts: np.concatenate(parts), *results
                )
            else:
                result = results[-1]
            return result, self._values(state)

        return function

    def _groups(self, state):
        """Return the variables of Keras's state, which has two to four parts."""
        groups = [self.trainable_variables, self.non_trainable_variables]
        if len(state) == 4:
            groups.append(self.optimizer.variables)
        return groups if len(state) == 2 else [*groups, self.metrics_variables]

    def _attach(self, state):
        for variables, values in zip(self._groups(state), state, strict=True):
            assign(variables, values)

    def _values(self, state):
        return tuple([v.value for v in group] for group in self._groups(state))
