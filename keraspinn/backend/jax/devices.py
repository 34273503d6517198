"""JAX: the devices and the precision of computations."""

import contextlib

import jax

from keraspinn.backend.compatibility import keep_float64

keep_float64(lambda: jax.config.jax_enable_x64)


def replica():
    """Return 0, the index of the only replica."""
    return 0


def replica_mean(tensors):
    """Return the tensors: there is one replica."""
    return tensors


def has_accelerator():
    """Return whether there is a GPU or TPU to compute on."""
    return jax.default_backend() != "cpu"


@contextlib.contextmanager
def double_precision():
    """Open a scope with float64, for a model of any type."""
    with jax.enable_x64(True), full_products():
        yield


def full_products():
    """Open a scope in which matrix products are not rounded to fewer digits.

    By default GPUs multiply float32 in about ten bits, too few for second derivatives.
    A precision set by the user stands.
    """
    if jax.config.jax_default_matmul_precision is not None:
        return contextlib.nullcontext()
    return jax.default_matmul_precision("highest")


def check_dtype(dtype):
    """Raise `ValueError` for a type that JAX would silently round to a smaller one.

    Args:
        dtype: Name of a floating-point type.
    """
    if dtype == "float64" and not jax.config.jax_enable_x64:
        raise ValueError(
            "JAX computes in float32 by default. Received: dtype="
            "'float64'. Set the environment variable JAX_ENABLE_X64=1, or write "
            '`jax.config.update("jax_enable_x64", True)` first of all.'
        )
