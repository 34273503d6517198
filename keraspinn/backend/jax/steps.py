"""JAX: parts of a training step that Keras lacks, and the loop of many steps."""

import jax
import jax.numpy as jnp

from keraspinn.backend import scopes
from keraspinn.backend.jax.sharding import program
from keraspinn.backend.scopes import assign, distinct, select, stateless, substituted


def snapshot(variables):
    """Return the present values of Keras variables, unchanged by later assignments."""
    return [variable.value for variable in variables]


def apply_optimizer(optimizer, variables, gradients, state, taken=None):
    """Make a Keras optimizer's step, as a function of the training state.

    Args:
        optimizer: Keras optimizer.
        variables: List of the trained Keras variables.
        gradients: List of gradients.
        state: The training state, of which `"variables"` and `"optimizer"` are used.
        taken: Boolean scalar: whether to make the step, or leave everything as it is.
            It is made, if not given.

    Returns:
        The trained variables' values, and the optimizer's.
    """
    moved = [*variables, *optimizer.variables]
    before = [*state["variables"], *state["optimizer"]]
    # Like `optimizer.stateless_apply`, which needs all variables it was built for.
    with substituted(moved, before) as scope:
        optimizer.apply(gradients, variables)
        after = [scope.get_current_value(variable) for variable in moved]
    if taken is not None:
        after = select(taken, after, before)
    return after[: len(variables)], after[len(variables) :]


def fused_loop(step, finish, names, dtype, variables, watched, read, shape, mesh):
    """Compile many training steps as one program, which ends at a non-finite loss.

    Args:
        step: Function without arguments that makes one training step and returns a
            dict from `names`, `"loss"` among them, to tensors of `shape`.
        finish: Function of the dict of means of these over the loop and the number
            of steps, that returns the logs. Part of the same program.
        names: Names of the tensors that `step` returns.
        dtype: Their floating-point type.
        variables: Keras variables that are put back as they were before a step whose
            loss is not finite: all that `step` writes to. The steps before the bad one
            are run again.
        watched: Those of them that must be finite after the last step.
        read: Keras variables besides that `step` reads, or `finish` reads or writes.
        shape: The tensors' shape.
        mesh: The devices that share the work, if not one alone does it.

    Returns:
        Function of a number of steps that returns the logs, compiled once for all
        numbers.
    """
    variables = list(variables)
    everything = distinct([*variables, *read])
    written = len(variables)
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
        last = [after[n] for n in kept if after[n].dtype == dtype]
        if last:  # the last update may have overflowed, and no step follows it
            means["loss"] = jnp.where(scopes.all_finite(last), means["loss"], jnp.nan)
        logs, after = finish([*after, *others], means, done.astype(dtype))
        return logs, after, good, done

    compiled = program(run, mesh)

    def advance(count):
        logs, values, good, done = compiled(snapshot(everything), jnp.int32(count))
        assign(everything, values)
        return logs, good, done

    def call(count):
        logs, good, done = advance(count)
        if not good and done > 1:
            advance(int(done) - 1)
        return logs

    return call
