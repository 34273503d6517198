"""JAX: derivatives of functions of tensors, and compilation."""

import jax
import jax.numpy as jnp

from keraspinn.backend.jax.devices import full_products
from keraspinn.backend.scopes import distinct, joined, stateless


def value_and_gradients(function, values, count=1):
    """Return the sum of `function(values, n)` over n < count, and its gradients.

    Parts are differentiated one after the other, in the memory of one.

    Args:
        function: Function of a list of tensors and an integer that returns a scalar
            and a list of scalars to add up besides.
        values: List of tensors to differentiate by.
        count: Number of parts.

    Returns:
        The scalar, the list of scalars, and the list of gradients.
    """

    def one(number):
        gradient = jax.value_and_grad(function, has_aux=True)
        (value, others), gradients = gradient(list(values), number)
        return value, list(others), gradients

    if count == 1:
        return one(0)
    zeros = jax.tree.map(jnp.zeros_like, jax.eval_shape(one, 0))
    return jax.lax.fori_loop(
        0, count, lambda number, sums: jax.tree.map(jnp.add, sums, one(number)), zeros
    )


def compiled(function, read=()):
    """Compile a function of tensors as one program.

    Args:
        function: Function of tensors.
        read: The Keras variables that it reads.
    """
    read = distinct(read)
    pure = stateless(function, read)
    program = jax.jit(lambda values, *arguments: pure(values, *arguments)[0])

    def call(*arguments):
        with full_products():
            return program([v.value for v in read], *arguments)

    return call


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

        def values(tensors):
            return [value[0] for value in function(tensors, alone)]

        return [joined(gradients) for gradients in jax.jacrev(values)(list(tensors))]

    return jax.vmap(rows)(points)


def jvp(function, primals, tangents):
    """Return the value of a function and its derivative in a direction.

    Args:
        function: Function of a tensor that returns a structure of tensors.
        primals: Tensor, where to differentiate.
        tangents: Tensor, the direction.

    Returns:
        The function's result, and the derivatives of it. They are zero where the
        function does not depend on its argument.
    """
    return jax.jvp(function, (primals,), (tangents,))
