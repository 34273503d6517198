"""Damped least squares: three ways to one solution."""

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keras import ops

import tensors
from keraspinn import backend
from keraspinn.optimizers.linear_solves import dense_solver, free_solve, nystroem


def reference(jacobian, rows, damping):
    """Solve by the singular values of [J; √μ I], without squaring."""
    count = jacobian.shape[1]
    tall = np.vstack([jacobian, np.sqrt(damping) * np.eye(count)])
    return np.linalg.lstsq(tall, np.concatenate([rows, np.zeros(count)]))[0]


def system(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rows, columns)), rng.standard_normal(rows)


def solve_dense(jacobian, rows, damping):
    solve, used = dense_solver(jacobian, damping)
    return solve(rows), used


def free(jacobian, rows, damping, count=200, rank=5):
    matrix = ops.convert_to_tensor(jacobian)
    transposed = ops.transpose(matrix)

    def product(v):
        return ops.matmul(transposed, ops.matmul(matrix, v))

    right = ops.matmul(transposed, ops.convert_to_tensor(rows))
    sketch, trace = nystroem(product, right, rank)
    return free_solve(product, right, damping, count, sketch), trace


@pytest.mark.parametrize("shape", [(30, 7), (7, 30), (8, 8), (5, 1), (1, 5)])
@pytest.mark.parametrize("damping", [1e-6, 1e-2, 10.0])
def test_every_form_solves_the_damped_least_squares(shape, damping):
    jacobian, rows = system(*shape)
    expected = reference(jacobian, rows, damping)
    dense, used = solve_dense(
        ops.convert_to_tensor(jacobian), ops.convert_to_tensor(rows), damping
    )
    np.testing.assert_allclose(dense, expected, rtol=1e-7, atol=1e-8)
    assert float(used) == pytest.approx(damping, rel=1e-12)
    solution, _ = free(jacobian, rows, damping, rank=min(5, *shape))
    np.testing.assert_allclose(solution, expected, rtol=1e-6, atol=1e-6)


# 300 is factored in blocks, the larger of which in smaller ones.
@pytest.mark.slow
@pytest.mark.parametrize("shape", [(400, 300), (300, 400)])
def test_large_systems_are_solved_by_blocks(shape):
    jacobian, rows = system(*shape)
    solve = tensors.compiled(lambda j, r: solve_dense(j, r, 1e-3)[0])
    solution = solve(ops.convert_to_tensor(jacobian), ops.convert_to_tensor(rows))
    np.testing.assert_allclose(solution, reference(jacobian, rows, 1e-3), rtol=1e-8)


def test_a_large_matrix_that_is_not_definite_gives_nan():
    matrix = np.eye(300)
    matrix[290, 290] = -1.0
    factor = tensors.compiled(backend.cholesky)(ops.convert_to_tensor(matrix))
    assert np.isnan(np.diagonal(factor)).any()


@given(
    arrays.arrays("float64", (4, 3), elements=st.floats(-10, 10)),
    arrays.arrays("float64", (4,), elements=st.floats(-10, 10)),
    st.floats(1e-4, 1e2),
)
def test_primal_and_kernel_forms_agree(jacobian, rows, damping):
    """Add a row of zeros, which changes only the form."""
    wide = np.hstack([jacobian, np.zeros((4, 2))])
    primal, _ = solve_dense(*map(ops.convert_to_tensor, (jacobian, rows)), damping)
    kernel, _ = solve_dense(*map(ops.convert_to_tensor, (wide, rows)), damping)
    scale = 1e-9 * (1 + np.abs(primal).max()) * max(1, 1 / damping)
    np.testing.assert_allclose(kernel[:3], primal, atol=scale)
    np.testing.assert_array_equal(kernel[3:], 0)


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("shape", [(30, 20), (20, 30)])
def test_damping_is_raised_where_the_matrix_is_singular(shape, jit_compile):
    jacobian, rows = system(*shape)
    jacobian = 1e8 * jacobian[:, :2] @ system(2, shape[1])[0]
    program = tensors.compiled(solve_dense, jit_compile)
    solution, used = program(*map(ops.convert_to_tensor, (jacobian, rows, 1e-3)))
    assert np.isfinite(solution).all()
    assert 5e-3 < float(used) < 1e5


def test_nonfinite_systems_have_nonfinite_solutions():
    jacobian, rows = system(6, 3)
    jacobian[2, 1] = np.nan
    arguments = map(ops.convert_to_tensor, (jacobian, rows, 1e-3))
    solution, _ = tensors.compiled(solve_dense)(*arguments)
    assert np.isnan(solution).all()


def test_preconditioner_saves_products():
    """Test a matrix with ten large singular values, by a sketch of twelve."""
    rng = np.random.default_rng(0)
    left, _ = np.linalg.qr(rng.standard_normal((80, 60)))
    right, _ = np.linalg.qr(rng.standard_normal((60, 60)))
    sizes = np.concatenate([np.geomspace(1e4, 1e2, 10), np.full(50, 1e-2)])
    jacobian, rows = left * sizes @ right.T, rng.standard_normal(80)
    expected = reference(jacobian, rows, 1e-3)

    def error(rank):
        solution, trace = free(jacobian, rows, 1e-3, count=8, rank=rank)
        if rank > 1:  # a single vector gives a noisy estimate
            assert float(trace) == pytest.approx(np.sum(sizes**2), rel=0.8)
        return np.linalg.norm(solution - expected) / np.linalg.norm(expected)

    assert error(12) < 1e-4 < 1e-1 < error(1)


def test_exact_initial_solution_ends_the_iteration():
    solution, _ = free(np.eye(4), np.zeros(4), 1e-3)
    np.testing.assert_array_equal(solution, 0)
