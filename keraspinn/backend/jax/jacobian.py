"""JAX: the Jacobian of values that belong to points, one by one."""

import jax
import jax.numpy as jnp


def jacobian(function, tensors, points):
    """Return the derivatives of all values at all points by all entries of `tensors`.

    A value depends on one point alone, so one gradient for each is enough: that of a
    single point, mapped over all of them.

    Args:
        function: Function of the list of tensors and of points `(N, d)` that returns
            a list of tensors `(N,)`, whose entry n depends on point n alone.
        tensors: List of tensors.
        points: Tensor `(N, d)`, or a nested structure of tensors `(N, ...)`.

    Returns:
        List of tensors `(N, P)`, one for each that the function returns, with the
        entries of `tensors` one after another.
    """

    def rows(point):
        alone = jax.tree.map(lambda part: part[None], point)
        values, pull = jax.vjp(
            lambda tensors: [value[0] for value in function(tensors, alone)],
            list(tensors),
        )
        zeros = [jnp.zeros_like(value) for value in values]
        ones = [jnp.ones_like(value) for value in values]
        return [
            _flat(pull([*zeros[:n], one, *zeros[n + 1 :]])[0])
            for n, one in enumerate(ones)
        ]

    return jax.vmap(rows)(points)


def _flat(gradients):
    return jnp.concatenate([gradient.reshape(-1) for gradient in gradients])
