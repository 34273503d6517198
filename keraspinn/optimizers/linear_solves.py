"""Damped least squares min_d |J d − r|² + μ |d|², three ways to the same d.

    primal    (JᵀJ + μI) d = Jᵀr                   P × P, for P ≤ N
    kernel    d = Jᵀ z,  (JJᵀ + μI) z = r          N × N, for N < P (Woodbury)
    free      the first by conjugate gradients, from products with J and Jᵀ alone

N is the number of rows, P of parameters. The first two take 2 N P + 3 min(N, P)²
numbers besides what there is (J as it is made and as it is used; the matrix, the
damped matrix and its factor), some 5/4 N P min(N, P) operations for the matrix, which
is symmetric, and a third of min(N, P)³ for its factor; the last takes P numbers a
vector and two passes through the network a product.
"""

import itertools

import keras
import numpy as np
from keras import ops

from keraspinn import backend

_ATTEMPTS = 8
_RAISE = 10.0
_TOLERANCE = 1e-8
# Blocks of columns of a symmetric product. Of 3,800 × 2,000 numbers on one core: 0.65 s
# in one, 0.49 in 2, 0.45 in 4, 0.44 in 8.
_BLOCKS = 4


def dense_numbers(rows, parameters):
    """How many numbers the primal or the kernel form takes, whichever takes fewer."""
    return 2 * rows * parameters + 3 * min(rows, parameters) ** 2


def dense_solver(jacobian, damping):
    """Damped least squares with one matrix, in primal or kernel form by its shape.

    Args:
        jacobian: J, `(N, P)`.
        damping: μ, a scalar. Where rounding leaves the matrix not positive definite,
            ten times as much is tried, and so on.

    Returns:
        Function of rows r `(N,)` that returns d `(P,)`, and the μ that it takes. d is
        not finite if J or r is not, or if no μ helped.
    """
    transposed = ops.transpose(jacobian)
    if jacobian.shape[0] < jacobian.shape[1]:
        factor, damping = _damped_factor(_lower_product(jacobian), damping)
        return lambda rows: ops.matmul(transposed, _solve(factor, rows)), damping
    factor, damping = _damped_factor(_lower_product(transposed), damping)
    return lambda rows: _solve(factor, ops.matmul(transposed, rows)), damping


def _lower_product(matrix):
    """M Mᵀ, in which some blocks above the diagonal are zeros: nobody reads them."""
    size, bands = matrix.shape[0], []
    edges = [size * block // _BLOCKS for block in range(_BLOCKS + 1)]
    for start, end in itertools.pairwise(edges):
        band = ops.matmul(matrix[start:end], ops.transpose(matrix[:end]))
        bands.append(ops.pad(band, [[0, 0], [0, size - end]]))
    return ops.concatenate(bands)


def _damped_factor(matrix, damping):
    """The Cholesky factor of `matrix` + μI, and μ, raised until there is one."""
    damping = ops.convert_to_tensor(damping, matrix.dtype)
    identity = ops.eye(matrix.shape[0], dtype=matrix.dtype)

    def factor(damping):
        return backend.cholesky(matrix + damping * identity)

    def failed(attempt, damping, lower):
        good = ops.isfinite(ops.sum(ops.diagonal(lower)))
        return ops.logical_and(attempt < _ATTEMPTS, ops.logical_not(good))

    def raised(attempt, damping, lower):
        damping = _RAISE * damping
        return attempt + 1, damping, factor(damping)

    unknown = ops.full_like(matrix, float("nan"))  # so that one factor is compiled
    start = ops.convert_to_tensor(0), damping / _RAISE, unknown
    _, damping, lower = ops.while_loop(failed, raised, start)
    return lower, damping


def _solve(factor, right):
    """z with L Lᵀ z = `right`."""
    half = ops.solve_triangular(factor, right[:, None], lower=True)
    return ops.solve_triangular(ops.transpose(factor), half)[:, 0]


def free_solve(product, right, damping, count, sketch):
    """(A + μI)⁻¹ b by preconditioned conjugate gradients.

    Args:
        product: Function of `(P,)` that returns A v, A symmetric and not indefinite.
        right: b, `(P,)`.
        damping: μ, a scalar.
        count: Largest number of products.
        sketch: A's approximation, as `nystroem` returns it.

    Returns:
        The solution, `(P,)`, or as close as `count` products come.
    """
    precondition = _nystroem_inverse(sketch, damping)

    def going(step, x, residual, direction, size):
        small = ops.sum(residual * residual) <= _TOLERANCE**2 * ops.sum(right * right)
        return ops.logical_and(step < count, ops.logical_not(small))

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
    """A's Nyström approximation B Bᵀ from its products with random vectors.

    Args:
        product: Function of `(P,)` that returns A v, A symmetric and not indefinite.
        like: A tensor `(P,)`, which says how many and of which type.
        rank: Number of products.

    Returns:
        B, `(P, rank)`, and an estimate of the trace of A.

    Reference:
        Frangella, Tropp & Udell, "Randomized Nyström preconditioning",
        arXiv 2110.02820. Vectors are the same in each call: what they meet is not.
    """
    dtype = keras.backend.standardize_dtype(like.dtype)
    vectors = keras.random.normal((rank, like.shape[0]), dtype=dtype, seed=0)
    images = ops.map(product, vectors)
    trace = ops.sum(vectors * images) / rank
    # A little more than A is sketched, so that rounding leaves it positive definite.
    shift = float(np.finfo(dtype).eps) * trace
    images = images + shift * vectors
    core = ops.matmul(vectors, ops.transpose(images))
    factor, _ = _damped_factor((core + ops.transpose(core)) / 2, shift)
    return ops.transpose(ops.solve_triangular(factor, images, lower=True)), trace


def _nystroem_inverse(sketch, damping):
    """v ↦ μ (B Bᵀ + μI)⁻¹ v."""
    transposed = ops.transpose(sketch)
    factor, _ = _damped_factor(ops.matmul(transposed, sketch), damping)

    def inverse(v):
        return v - ops.matmul(sketch, _solve(factor, ops.matmul(transposed, v)))

    return inverse
