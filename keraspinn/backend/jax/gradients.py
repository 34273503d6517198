"""JAX: gradients, products with a Hessian, and compilation."""

import jax
import jax.numpy as jnp
import numpy as np

from keraspinn.backend.jax.devices import full_products
from keraspinn.backend.scopes import distinct, stateless


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

    def part(values, number):
        value, others = function(values, number)
        return value, list(others)

    def one(number):
        value, others = jax.value_and_grad(part, has_aux=True)(list(values), number)
        return value[0], value[1], others

    if count == 1:
        return one(0)
    shapes = jax.eval_shape(one, 0)
    zeros = jax.tree.map(lambda shape: jnp.zeros(shape.shape, shape.dtype), shapes)
    return jax.lax.fori_loop(
        0, count, lambda number, sums: jax.tree.map(jnp.add, sums, one(number)), zeros
    )


def hessian_products(function, variables, read=()):
    """Compile products of a Hessian with vectors.

    Forward over reverse: JAX maps it over the vectors in one pass.

    Args:
        function: Function of tensors in any structure that returns a scalar.
        variables: Keras variables to differentiate by; vectors hold their entries
            one after another.
        read: Other Keras variables that `function` reads.

    Returns:
        Function of `(inputs, vectors)`, the latter `(K, P)`, that returns `(K, P)`.
    """
    every_variable = distinct([*variables, *read])
    count, dtype = len(variables), variables[0].dtype
    sizes = np.cumsum([int(np.prod(v.shape)) for v in variables])[:-1]
    pure = stateless(function, every_variable)

    @jax.jit
    def products(values, inputs, vectors):
        def gradient(trained):
            return jax.grad(lambda t: pure([*t, *values[count:]], inputs)[0])(trained)

        def product(vector):
            parts = jnp.split(vector, sizes)
            tangents = [
                part.reshape(value.shape)
                for part, value in zip(parts, values[:count], strict=True)
            ]
            rows = jax.jvp(gradient, (values[:count],), (tangents,))[1]
            return jnp.concatenate([row.reshape(-1) for row in rows])

        return jax.vmap(product)(vectors)

    def call(inputs, vectors):
        values = [variable.value for variable in every_variable]
        with full_products():
            return np.array(products(values, inputs, jnp.asarray(vectors, dtype)))

    return call


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
