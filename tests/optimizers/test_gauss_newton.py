"""Gauss–Newton on least squares whose answers are known."""

import types

import keras
import numpy as np
import pytest
from keras import ops

import tensors
from keraspinn.optimizers import GaussNewton, Objective, gauss_newton

FORMS = ("dense", "free")


class LeastSquares(Objective):
    """The squares of `function(θ)`, the same at all points."""

    renewed = ops.convert_to_tensor(False)

    def __init__(self, function):
        self._function = function

    def residuals(self, parameters):
        return self._function(parameters)

    def loss(self, parameters):
        return ops.sum(ops.square(self.residuals(parameters)))

    def value_and_gradient(self, parameters):
        return tensors.value_and_gradient(self.loss, parameters)

    def jacobian(self, parameters):
        return tensors.jacobian(self.residuals, parameters)


def linear(rows, columns, seed=0):
    """Return a well-posed linear problem and its solution."""
    rng = np.random.default_rng(seed)
    matrix = ops.convert_to_tensor(rng.standard_normal((rows, columns)))
    solution = rng.standard_normal(columns)
    right = ops.matmul(matrix, ops.convert_to_tensor(solution))
    return LeastSquares(lambda theta: ops.matmul(matrix, theta) - right), solution


def rosenbrock():
    """Return 10 (y − x²) and 1 − x: a curved valley."""
    return LeastSquares(
        lambda theta: ops.stack([10 * (theta[1] - theta[0] ** 2), 1 - theta[0]])
    )


def train(optimizer, objective, start, steps):
    """Return parameters, state and logs of each step, compiled by XLA."""
    parameters = ops.convert_to_tensor(np.asarray(start, "float64"))
    program = tensors.compiled(
        lambda theta, state: optimizer.step(objective, theta, state)
    )
    state, history = optimizer.init(parameters), []
    for _ in range(steps):
        parameters, state, logs = program(parameters, state)
        history.append({name: float(value) for name, value in logs.items()})
    return ops.convert_to_numpy(parameters), state, history


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [30, 10])
def test_one_step_solves_linear_least_squares(form, rows):
    objective, solution = linear(rows, 10)
    optimizer = GaussNewton(damping=1e-12, form=form, rank=5)
    end, _, history = train(optimizer, objective, np.zeros(10), 1)
    np.testing.assert_allclose(end, solution, atol=1e-5)
    assert history[0]["step_size"] == 1
    assert history[0]["gain_ratio"] == pytest.approx(1)


@pytest.mark.parametrize("shape", [(30, 20), (20, 30)])
def test_effective_rank(shape):
    rows, count = shape
    matrix = np.zeros(shape)
    np.fill_diagonal(matrix, [1.0] * 5 + [1e-8] * (min(shape) - 5))
    constant = np.zeros(rows)
    constant[:5] = 1.0
    objective = LeastSquares(
        lambda theta: (
            ops.matmul(ops.convert_to_tensor(matrix), theta[:, None])[:, 0] - constant
        )
    )
    damping = 0.1  # of the mean square of a column, 5 / count
    _, _, history = train(GaussNewton(damping=damping), objective, np.zeros(count), 1)
    expected = 5 / (1 + damping * 5 / count)
    assert history[0]["effective_rank"] == pytest.approx(expected)


@pytest.mark.parametrize("form", FORMS)
def test_converges_along_a_curved_valley(form):
    optimizer = GaussNewton(form=form, rank=1)
    end, _, history = train(optimizer, rosenbrock(), [-1.2, 1.0], 30)
    np.testing.assert_allclose(end, 1, atol=1e-10)
    losses = [logs["loss"] for logs in history]
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("form", FORMS)
def test_step_has_geodesic_acceleration(form):
    """Test θ + θ²/10 from 1: J = 1.2, φ = 1.1 / 1.2, r'' φ² / 2 J = 0.1 φ² / 1.2."""
    objective = LeastSquares(lambda theta: theta + theta**2 / 10)
    optimizer = GaussNewton(damping=1e-12, form=form, rank=1)
    end, _, _ = train(optimizer, objective, [1.0], 1)
    straight = 1.1 / 1.2
    np.testing.assert_allclose(end, 1 - straight - 0.1 * straight**2 / 1.2, rtol=1e-6)


def test_primal_and_kernel_forms_take_the_same_steps():
    def residuals(theta):
        return ops.concatenate([ops.sin(theta) - 0.3, theta[:3] * theta[3:] - 0.1])

    runs = [
        train(
            GaussNewton(form=form, momentum=0.5, rank=3),
            LeastSquares(residuals),
            np.linspace(0, 1, 6),
            4,
        )
        for form in FORMS
    ]
    np.testing.assert_allclose(runs[0][0], runs[1][0], rtol=1e-3)
    # The trace is that of the matrix in one, and estimated in the other.
    assert runs[0][2][0]["loss"] == runs[1][2][0]["loss"]


def test_keeps_parameters_in_the_null_space():
    objective = LeastSquares(lambda theta: ops.stack([theta[0] + theta[1] - 2.0] * 3))
    end, _, _ = train(GaussNewton(), objective, [0.0, 0.0, 5.0], 20)
    np.testing.assert_allclose(end, [1, 1, 5], atol=1e-9)


def test_momentum_agrees_with_spring():
    """Test φ ← m φ + Jᵀ (JJᵀ + μI)⁻¹ (r − m J φ), with other rows in each step."""
    rng = np.random.default_rng(1)
    optimizer, m = GaussNewton(momentum=0.7), 0.7
    theta, direction = np.zeros(6), np.zeros(6)
    parameters = ops.convert_to_tensor(theta)
    state = optimizer.init(parameters)
    for _ in range(3):
        jacobian, right = rng.standard_normal((2, 6)), rng.standard_normal(2)
        mu = float(state["damping"]) * np.sum(jacobian**2) / 6
        inner = jacobian @ jacobian.T + mu * np.eye(2)
        rest = jacobian @ theta - right - m * jacobian @ direction
        direction = m * direction + jacobian.T @ np.linalg.solve(inner, rest)
        matrix = ops.convert_to_tensor(jacobian)
        objective = LeastSquares(
            lambda theta, matrix=matrix, right=right: ops.matmul(matrix, theta) - right
        )
        parameters, state, logs = optimizer.step(objective, parameters, state)
        assert logs["step_size"] == 1
        theta = theta - direction
        np.testing.assert_allclose(parameters, theta, rtol=1e-6, atol=1e-9)


def test_damping_follows_the_gain_ratio():
    objective, _ = linear(20, 4)
    _, state, history = train(GaussNewton(), objective, np.zeros(4), 1)
    assert float(state["damping"]) < 1e-3  # all came
    upward = LeastSquares(objective.residuals)
    upward.fresh = lambda: LeastSquares(lambda theta: 1 + ops.exp(10 * ops.abs(theta)))
    end, state, history = train(GaussNewton(), upward, np.zeros(4), 1)
    assert float(state["damping"]) > 1e-3
    assert history[0]["step_size"] == 0
    np.testing.assert_array_equal(end, 0)
    np.testing.assert_array_equal(state["direction"], 0)


def test_gain_ratio_is_evaluated_on_other_points():
    """Test a loss with its minimum at 3 on the points, and at 1 on fresh points."""
    objective = LeastSquares(lambda theta: theta - 3.0)
    objective.fresh = lambda: LeastSquares(lambda theta: theta - 1.0)
    end, _, history = train(GaussNewton(damping=1e-10), objective, [0.0], 1)
    assert history[0]["step_size"] == 0.25
    np.testing.assert_allclose(end, 0.75)


@pytest.mark.parametrize("form", FORMS)
def test_no_step_where_the_residual_is_nan(form):
    objective = LeastSquares(lambda theta: ops.log(theta - 1))
    start = np.array([0.5, 2.0, 3.0])
    end, state, history = train(GaussNewton(form=form, rank=2), objective, start, 2)
    np.testing.assert_array_equal(end, start)
    assert np.isnan(history[0]["loss"])
    assert all(np.isfinite(value).all() for value in state.values())


def test_a_step_into_nan_is_halved():
    """Halve a step that leaves the domain of the logarithm."""
    objective = LeastSquares(lambda theta: ops.log(theta) + 3)
    end, _, history = train(GaussNewton(damping=1e-10), objective, [1.0], 20)
    assert history[0]["step_size"] < 1
    np.testing.assert_allclose(end, np.exp(-3), rtol=1e-8)


def test_matrices_beyond_the_memory_limit_are_not_built():
    objective, solution = linear(30, 20)
    objective.jacobian = None
    optimizer = GaussNewton(memory_limit=10_000, damping=1e-12)
    end, _, _ = train(optimizer, objective, np.zeros(20), 1)
    np.testing.assert_allclose(end, solution, atol=1e-6)


@pytest.mark.parametrize(
    ("rows", "parameters", "fits"), [(49_152, 2_846, True), (64, 20_000, False)]
)
def test_memory_limit_of_an_energy(rows, parameters, fits, monkeypatch):
    """Count JᵀJ, and rows at about as many points as there are parameters."""
    monkeypatch.setattr(gauss_newton, "energy_step", lambda *arguments: arguments[-1])
    objective = types.SimpleNamespace(
        is_energy=True, residuals=lambda _: np.zeros(rows)
    )
    assert GaussNewton().step(objective, np.zeros(parameters), {}) == fits


@pytest.mark.parametrize(
    "arguments",
    [
        {"damping": 0},
        {"damping": float("nan")},
        {"momentum": 1.0},
        {"form": "sparse"},
        {"damping": "x"},
        {"damping": True},
        {"momentum": "x"},
    ],
)
def test_rejects_arguments_out_of_range(arguments):
    (name,) = arguments
    with pytest.raises(ValueError, match=name):
        GaussNewton(**arguments)


def test_config_round_trip():
    arguments = {"damping": 0.1, "momentum": 0.9, "form": "free", "halvings": 3}
    arguments |= {"products": 7, "rank": 2, "resample_every": 5, "name": "mine"}
    config = GaussNewton(**arguments).get_config()
    assert arguments.items() <= config.items()
    again = keras.optimizers.deserialize(
        keras.optimizers.serialize(GaussNewton(**arguments))
    )
    assert type(again) is GaussNewton and again.get_config() == config
