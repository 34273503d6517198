"""Jacobian-vector products that can be nested, on JAX."""

import jax


def jvp(function, primals, tangents):
    """Return the value of a function and its derivative in a direction.

    Args:
        function: Function of a tensor that returns a dict of tensors.
        primals: Tensor, where to differentiate.
        tangents: Tensor, the direction.

    Returns:
        The function's dict, and one of the derivatives. They are zero where the
        function does not depend on its argument.
    """
    return jax.jvp(function, (primals,), (tangents,))
