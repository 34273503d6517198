"""JAX: linear algebra that returns NaN where it fails."""

import jax


def cholesky(matrix):
    """Return the lower factor L of a symmetric matrix `(n, n)` = L Lᵀ.

    Args:
        matrix: The matrix, of which the lower triangle is read.

    Returns:
        L, with NaN on its diagonal if the matrix is not positive definite.
    """
    return jax.lax.linalg.cholesky(matrix, symmetrize_input=False)
