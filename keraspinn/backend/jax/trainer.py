"""JAX: the functions that Keras's loops over batches call."""

import contextlib

import jax
import jax.numpy as jnp
import keras
import numpy as np

from keraspinn.backend.jax.sharding import mesh_of, program
from keraspinn.backend.scopes import all_finite, assign, distinct, select, stateless


class StepFunctions:
    """A Keras model whose steps are methods of data, as on TensorFlow.

    Keras takes the variables' values away from a model, and hands them to functions
    `(state, iterator) → (results, state)`. The functions made here assign the values
    first, run the step as a program of them, and write its results: variables hold the
    present values whenever Python runs, also where a fit is interrupted.

    A model stays on the devices of the distribution under which it was made.

    Attributes:
        mesh: The devices, or `None` for one.
    """

    optimizer_writes = False  # it returns the new values

    replica_count = 1

    def __init__(self, *args, **kwargs):
        mesh = mesh_of(keras.distribution.distribution())
        super().__init__(*args, **kwargs)
        self._distribution, self.mesh = keras.distribution.distribution(), mesh

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

        The program is compiled once for all numbers of steps, and ends at a loss that
        is not finite.

        Args:
            count: Function that returns the number of steps to run now.
            step: Function without arguments that makes one training step and returns a
                dict from `names`, `"loss"` among them, to tensors of `shape`.
            finish: Function of the dict of means of these over the loop and the number
                of steps, that returns the logs. Part of the same program.
            names: Names of the tensors that `step` returns.
            variables: List of Keras variables that are put back as they were before a
                step whose loss is not finite: all that `step` writes to. The steps
                before the bad one are run again.
            watched: Those of them that must be finite after the last step.
            shape: The tensors' shape.
        """
        dtype, written = self.variable_dtype, len(variables)
        everything = distinct([*variables, *self.variables, *self.metrics_variables])
        step, finish = stateless(step, everything), stateless(finish, everything)
        kept = [n for n, v in enumerate(everything) for w in watched if v is w]

        def run(values, count):
            before, others = values[:written], values[written:]

            def going(carry):
                i, _, totals = carry
                return jnp.logical_and(i < count, jnp.isfinite(totals["loss"]).all())

            def body(carry):
                i, now, totals = carry
                losses, after = step([*now, *others])
                totals = {name: totals[name] + losses[name] for name in names}
                return i + 1, after[:written], totals

            zeros = {name: jnp.zeros(shape, dtype) for name in names}
            start = jnp.int32(0), before, zeros
            done, after, totals = jax.lax.while_loop(going, body, start)
            good = jnp.isfinite(totals["loss"]).all()
            after = select(good, after, before)
            means = {name: totals[name] / done.astype(dtype) for name in names}
            # The last update may have overflowed, and no step follows it.
            if last := [after[n] for n in kept if after[n].dtype == dtype]:
                means["loss"] = jnp.where(all_finite(last), means["loss"], jnp.nan)
            logs, after = finish([*after, *others], means, done.astype(dtype))
            return (logs, good, done), after

        compiled = program(run, self.mesh)

        def advance(count):
            result, values = compiled([v.value for v in everything], jnp.int32(count))
            assign(everything, values)
            return result

        def loop(iterator):
            logs, good, done = advance(count())
            if not good and done > 1:
                advance(int(done) - 1)
            return logs

        return self._with_state(loop)

    def make_train_function(self, force=False):
        """Make a function that runs steps one by one, each a program."""
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

        def several(iterator):
            results = [run(iterator)]
            with contextlib.suppress(StopIteration):
                for _ in range(self.steps_per_execution - 1):
                    results.append(run(iterator))
            if joined and len(results) > 1:
                return keras.tree.map_structure(lambda *p: np.concatenate(p), *results)
            return results[-1]

        return self._with_state(several)

    def _with_state(self, function):
        """Return a function of Keras's state, of two to four parts, and an iterator."""

        def stateful(state, iterator):
            groups = [self.trainable_variables, self.non_trainable_variables]
            if len(state) == 4:
                groups.append(self.optimizer.variables)
            if len(state) > 2:
                groups.append(self.metrics_variables)
            for variables, values in zip(groups, state, strict=True):
                assign(variables, values)
            return function(iterator), tuple([v.value for v in g] for g in groups)

        return stateful
