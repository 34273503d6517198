"""Damped least squares min_d |J d − r|² + μ |d|², by three equivalent methods.

    primal    (JᵀJ + μI) d = Jᵀr                   P × P, for P ≤ N
    kernel    d = Jᵀ z,  (JJᵀ + μI) z = r          N × N, for N < P (Woodbury)
    free      the first by conjugate gradients, from products with J and Jᵀ

N is the number of rows, P of parameters. The first two need 2 N P + 3 min(N, P)²
further numbers (two copies of J; the matrix, the damped matrix and its factor), about
5/4 N P min(N, P) operations for the symmetric matrix, and a third of min(N, P)³ for its
factor. The last needs P numbers per vector, and two passes through the network per
product.
"""

import itertools

import numpy as np
from keras import ops, random

from keraspinn import backend

# Range of μ relative to the mean square of J's columns. Below, the factorization is
# round-off; above, the line search has the effect of damping.
DAMPING_RANGE = 1e-13, 1.0
_ATTEMPTS = 8  # factorizations at most, each with more damping
_RAISE = 10.0  # factor of the damping from one attempt to the next
_TOLERANCE = 1e-8  # residual of conjugate gradients, relative to the right-hand side
# Column blocks of a symmetric product. Time for 3,800 × 2,000 numbers on one core:
# 0.65 s in one block, 0.49 in 2, 0.45 in 4, 0.44 in 8.
_BLOCKS = 4


def dense_solver(jacobian, damping, product=None):
    """Solve damped least squares with one matrix, in the smaller of two forms.

    Args:
        jacobian: J, `(N, P)`.
        damping: μ, a scalar. It is multiplied by ten, repeatedly, while round-off
            leaves the matrix not positive definite.
        product: `smaller_product(jacobian)`, if it is known.

    Returns:
        Function of rows r `(N,)` that returns d `(P,)`, and the μ used. d is not finite
        if J or r is not, or if every attempt failed.
    """
    product = smaller_product(jacobian) if product is None else product
    transposed = ops.transpose(jacobian)
    factor, damping = damped_factor(product, damping)
    if jacobian.shape[0] < jacobian.shape[1]:
        return lambda rows: ops.matmul(transposed, solved(factor, rows)), damping
    return lambda rows: solved(factor, ops.matmul(transposed, rows)), damping


def smaller_product(jacobian):
    """Return the lower triangle of JJᵀ or JᵀJ, whichever is smaller."""
    is_wide = jacobian.shape[0] < jacobian.shape[1]
    return lower_product(jacobian if is_wide else ops.transpose(jacobian))


def lower_product(matrix):
    """Return M Mᵀ with zeros in some unused blocks above the diagonal."""
    size, bands = matrix.shape[0], []
    edges = [size * block // _BLOCKS for block in range(_BLOCKS + 1)]
    for start, end in itertools.pairwise(edges):
        band = ops.matmul(matrix[start:end], ops.transpose(matrix[:end]))
        bands.append(ops.pad(band, [[0, 0], [0, size - end]]))
    return ops.concatenate(bands)


def damped_factor(matrix, damping):
    """Return the Cholesky factor of `matrix` + μI, and μ, raised until it exists."""
    damping = ops.convert_to_tensor(damping, matrix.dtype)
    identity = ops.eye(matrix.shape[0], dtype=matrix.dtype)

    def failed(attempt, damping, lower):
        return (attempt < _ATTEMPTS) & ~ops.isfinite(ops.sum(ops.diagonal(lower)))

    def raised(attempt, damping, lower):
        damping = _RAISE * damping
        return attempt + 1, damping, backend.cholesky(matrix + damping * identity)

    unknown = ops.full_like(matrix, float("nan"))  # so one factorization is compiled
    start = ops.convert_to_tensor(0), damping / _RAISE, unknown
    _, damping, lower = ops.while_loop(failed, raised, start)
    return lower, damping


def solved(factor, right):
    """Solve L Lᵀ z = `right`."""
    half = ops.solve_triangular(factor, right[:, None], lower=True)
    return ops.solve_triangular(ops.transpose(factor), half)[:, 0]


def free_solve(product, right, damping, count, sketch):
    """Compute (A + μI)⁻¹ b by preconditioned conjugate gradients.

    Args:
        product: Function of `(P,)` that returns A v, A symmetric positive semidefinite.
        right: b, `(P,)`.
        damping: μ, a scalar.
        count: Largest number of products.
        sketch: Approximation of A by `nystroem`.

    Returns:
        The solution, `(P,)`, or its approximation after `count` products.
    """
    transposed = ops.transpose(sketch)
    factor, _ = damped_factor(ops.matmul(transposed, sketch), damping)

    def precondition(v):  # μ (B Bᵀ + μI)⁻¹ v
        return v - ops.matmul(sketch, solved(factor, ops.matmul(transposed, v)))

    def going(step, x, residual, direction, size):
        small = ops.sum(residual * residual) <= _TOLERANCE**2 * ops.sum(right * right)
        return (step < count) & ~small

    def iterate(step, x, residual, direction, size):
        image = product(direction) + damping * direction
        length = size / ops.sum(direction * image)
        x = x + length * direction
        residual = residual - length * image
        image = precondition(residual)
        new = ops.sum(residual * image)
        return step + 1, x, residual, image + new / size * direction, new

    first = precondition(right)
    start = ops.convert_to_tensor(0), ops.zeros_like(right), right, first
    return ops.while_loop(going, iterate, (*start, ops.sum(right * first)))[1]


def nystroem(product, like, rank):
    """Return A's Nyström approximation B Bᵀ from products with random vectors.

    Args:
        product: Function of `(P,)` that returns A v, A symmetric positive semidefinite.
        like: A tensor `(P,)` of the size and type of v.
        rank: Number of products.

    Returns:
        B, `(P, rank)`, and an estimate of the trace of A.

    Reference:
        Frangella, Tropp & Udell, "Randomized Nyström preconditioning",
        arXiv 2110.02820. The random vectors are the same in each call.
    """
    dtype = ops.dtype(like)
    vectors = random.normal((rank, like.shape[0]), dtype=dtype, seed=0)
    images = ops.map(product, vectors)
    trace = positive_or_one(ops.sum(vectors * images) / rank)
    # Shift A slightly, so that it stays positive definite despite round-off.
    shift = float(np.finfo(dtype).eps) * trace
    images = images + shift * vectors
    core = ops.matmul(vectors, ops.transpose(images))
    factor, _ = damped_factor((core + ops.transpose(core)) / 2, shift)
    return ops.transpose(ops.solve_triangular(factor, images, lower=True)), trace


def positive_or_one(trace):
    """Return a trace, or one: a concave energy has JᵀJ = 0, and steps along −g."""
    return ops.where(trace > 0, trace, ops.ones_like(trace))
