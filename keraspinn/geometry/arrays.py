"""Array functions that accept both tensors and NumPy arrays."""

from types import ModuleType

import numpy as np
from keras import ops
from numpy.typing import ArrayLike

from keraspinn.common.typing import Tensor


def library(array: Tensor) -> ModuleType:
    """Return the module with `sqrt`, `where` and similar functions for an array.

    Args:
        array: A NumPy array, or a tensor.

    Returns:
        `numpy` for a NumPy array, else `keras.ops`. NumPy arrays stay float64 on
        every backend.

    Example:

    >>> library(np.ones(3)) is np, library(keras.ops.ones(3)) is keras.ops
    (True, True)
    """
    return np if isinstance(array, np.ndarray) else ops


def like(constant: ArrayLike, array: Tensor) -> Tensor:
    """Convert a constant to the type of an array.

    Args:
        constant: Numbers.
        array: A NumPy array, or a tensor.

    Returns:
        A NumPy array if `array` is one, else a tensor.

    Example:

    >>> like([1, 2], np.ones(2))
    array([1., 2.])
    """
    if isinstance(array, np.ndarray):
        return np.asarray(constant, array.dtype)
    if not ops.is_tensor(constant):  # or Python's numbers would become float32 first
        constant = np.asarray(constant)
    return ops.cast(constant, array.dtype)


def columns_of(points, columns):
    """Return some columns of points `(..., n, d)`, in the order of `columns`."""
    return library(points).stack([points[..., c] for c in columns], axis=-1)


def pick(table, uniform):
    """Look up rows of a table, one for each number uniform in [0, 1)."""
    lib, count = library(uniform), len(table)
    # In float32 a number below 1 times the count can round up to the count.
    rows = lib.minimum(uniform * count, count - 1)
    rows = rows.astype(int) if lib is np else ops.cast(rows, "int32")
    return lib.take(like(table, uniform), rows, axis=0)
