"""JAX: what it computes on, and in which precision."""

import contextlib

import jax

from keraspinn.backend.compatibility import keep_float64

keep_float64(lambda: jax.config.jax_enable_x64)


def replica():
    """Index of the replica that runs: there is one."""
    return 0


def replica_mean(tensors):
    """The mean over replicas of each tensor of a nested structure."""
    return tensors


def has_accelerator():
    """Whether there is a GPU or TPU to compute on."""
    return jax.default_backend() != "cpu"


@contextlib.contextmanager
def double_precision():
    """A scope in which float64 is to be had, whatever the model computes in."""
    with jax.enable_x64(True), full_products():
        yield


def full_products():
    """A scope in which matrix products are not rounded to fewer digits.

    GPUs multiply float32 in some ten bits unless told otherwise, which second
    derivatives do not bear. What the user has told JAX stands.
    """
    if jax.config.jax_default_matmul_precision is not None:
        return contextlib.nullcontext()
    return jax.default_matmul_precision("highest")


def check_dtype(dtype):
    """Raises `ValueError` for a type that JAX would silently round to a smaller one.

    Args:
        dtype: Name of a floating-point type.
    """
    if dtype == "float64" and not jax.config.jax_enable_x64:
        raise ValueError(
            "JAX computes in float32 unless told otherwise. Received: dtype="
            "'float64'. Set the environment variable JAX_ENABLE_X64=1, or write "
            '`jax.config.update("jax_enable_x64", True)` first of all.'
        )
