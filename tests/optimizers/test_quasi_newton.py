import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

import tensors
from keraspinn import optimizers

FULL = (optimizers.BFGS, optimizers.SSBFGS, optimizers.SSBroyden)


def each(*methods):
    return pytest.mark.parametrize("method", methods, ids=lambda m: m.__name__)


each_full = each(*FULL)
each_method = each(*FULL, optimizers.LBFGS)


@each_full
@settings(max_examples=8)
@given(
    seed=st.integers(0, 2**31),
    condition=st.floats(1.0, 1e4),
    distance=st.floats(1e-3, 1e3),
)
def test_update_keeps_h_symmetric_positive_and_fulfils_the_secant_equation(
    method, seed, condition, distance, least_squares, linear, run
):
    rows, hessian = linear(6, condition, seed)
    start = distance * np.random.default_rng(seed + 1).normal(size=6)
    optimizer = method()
    objective = least_squares(rows)
    parameters, state, _ = run(optimizer, objective, start, 3, jit_compile=None)
    before = np.array(parameters)
    after, state, (log,) = run(optimizer, objective, before, 1, state, jit_compile=None)
    inverse = np.array(state["inverse_hessian"])
    np.testing.assert_array_equal(inverse, inverse.T)
    assert np.linalg.eigvalsh(inverse)[0] > 0
    moved = np.array(after) - before
    assert log["step_size"] > 0 and not log["restarted"]
    np.testing.assert_allclose(
        inverse @ hessian @ moved, moved, rtol=1e-6, atol=1e-7 * np.abs(moved).max()
    )
    np.testing.assert_allclose(
        state["direction"],
        -inverse @ np.array(state["gradient"]),
        rtol=1e-6,
        atol=1e-9 * np.abs(inverse).max() * log["gradient_norm"],
    )


def test_exact_curvature_ends_in_one_step(least_squares, linear, run):
    rows, hessian = linear(6)
    optimizer = optimizers.SSBroyden()
    start = np.arange(6.0)
    state = optimizer.init(ops.convert_to_tensor(start))
    state["inverse_hessian"] = ops.convert_to_tensor(np.linalg.inv(hessian))
    state["updates"] = ops.ones((), "int32")
    _, _, (log,) = run(optimizer, least_squares(rows), start, 1, state)
    assert log["step_size"] == 1.0
    assert log["loss"] < 1e-25


@pytest.mark.slow
@each_method
def test_rosenbrock(method, least_squares, rosenbrock, run):
    start = np.linspace(-1.0, 1.5, 10)
    parameters, _, logs = run(method(), least_squares(rosenbrock), start, 130)
    np.testing.assert_allclose(parameters, 1.0, atol=1e-9)
    losses = [log["loss"] for log in logs]
    assert losses == sorted(losses, reverse=True)
    count = next(i for i, loss in enumerate(losses) if loss < 1e-12) + 1
    assert count < 120
    assert sum(log["evaluations"] for log in logs[:count]) < 1.5 * count


@pytest.mark.slow
@each_method
def test_eager_graph_and_xla_agree(method, least_squares, rosenbrock, run):
    start = np.linspace(-1.0, 1.5, 5)
    ends = [
        run(method(), least_squares(rosenbrock), start, 12, jit_compile=jit_compile)
        for jit_compile in (None, False, True)
    ]
    for parameters, state, logs in ends[1:]:
        np.testing.assert_allclose(parameters, ends[0][0], rtol=1e-7)
        assert logs[-1]["evaluations"] == ends[0][2][-1]["evaluations"]
        for name, value in state.items():
            assert value.dtype == ends[0][1][name].dtype
            assert value.shape == ends[0][1][name].shape


@pytest.mark.slow
@each_method
def test_the_network_is_compiled_twice(method, least_squares, rosenbrock):
    objective, optimizer = least_squares(rosenbrock), method()
    parameters = ops.zeros((5,), "float64")
    step = tensors.compiled(lambda p, state: optimizer.step(objective, p, state), False)
    step(parameters, optimizer.init(parameters))
    assert objective.evaluations == 2


@pytest.mark.slow
@each_method
def test_resampled_points_cost_an_evaluation_and_keep_h(
    method, least_squares, linear, run
):
    optimizer = method()
    rows, hessian = linear(6)
    parameters, state, _ = run(optimizer, least_squares(rows), np.arange(6.0), 4)
    others, _ = linear(6, target=np.linspace(0, 3, 6))
    renewed = least_squares(others, renewed=True)
    after, state, (log,) = run(optimizer, renewed, parameters, 1, state)
    loss, gradient = renewed.value_and_gradient(after)
    assert log["loss"] == pytest.approx(float(loss))
    np.testing.assert_allclose(state["gradient"], gradient, rtol=1e-9)
    assert log["evaluations"] >= 2 and not log["restarted"]
    if method is optimizers.LBFGS:
        moved, changed = state["steps"][-1], state["yields"][-1]
        np.testing.assert_allclose(changed, hessian @ np.array(moved), rtol=1e-9)
    else:
        moved = np.array(after - parameters)
        inverse = np.array(state["inverse_hessian"])
        np.testing.assert_allclose(inverse @ hessian @ moved, moved, rtol=1e-8)


@pytest.mark.slow
@each_method
def test_parameters_set_between_steps_are_noticed(method, least_squares, linear, run):
    optimizer = method()
    objective = least_squares(linear(6)[0])
    _, state, _ = run(optimizer, objective, np.arange(6.0), 4)
    elsewhere = 100 + np.arange(6.0)
    _, state, (log,) = run(optimizer, objective, elsewhere, 1, state)
    assert log["step_size"] > 0
    assert log["loss"] < float(objective.loss(ops.convert_to_tensor(elsewhere)))


@pytest.mark.slow
@each_method
def test_at_round_off_nothing_is_evaluated_until_points_are_resampled(
    method, least_squares, linear, run
):
    optimizer = method()
    # A loss of 1, beside which the remaining decrease is below round-off.
    rows = lambda p: ops.concatenate(  # noqa: E731
        [linear(4)[0](p), ops.ones((1,), "float64")]
    )
    parameters, state, logs = run(optimizer, least_squares(rows), np.ones(4), 60)
    assert logs[-1]["loss"] == pytest.approx(1.0, abs=1e-12)
    assert [log["evaluations"] for log in logs[-10:]] == [0] * 10
    assert [log["step_size"] for log in logs[-10:]] == [0] * 10
    if method is not optimizers.LBFGS:
        assert not np.allclose(state["inverse_hessian"], np.eye(4))
    others = least_squares(linear(4, target=3.0)[0], renewed=True)
    _, _, (log,) = run(optimizer, others, parameters, 1, state)
    assert log["step_size"] > 0


@pytest.mark.slow
@each_method
def test_steps_avoid_points_that_are_not_finite(method, least_squares, run):
    def rows(parameters):
        # A minimum at 0.9, and NaN beyond 1: the logarithm of a negative number.
        return ops.concatenate([parameters - 0.9, 1e-3 * ops.log(1 - parameters)])

    objective = least_squares(rows)
    parameters, _, logs = run(method(), objective, [-30.0, 0.5, -4.0], 40)
    np.testing.assert_allclose(parameters, 0.9, atol=1e-3)
    assert all(np.isfinite(log["loss"]) for log in logs)


@pytest.mark.slow
@each(optimizers.SSBroyden, optimizers.LBFGS)  # one of each memory: it compiles long
def test_nonfinite_losses_keep_parameters_and_memory(
    method, least_squares, linear, run
):
    optimizer = method()
    rows, _ = linear(3)
    parameters, state, _ = run(optimizer, least_squares(rows), np.ones(3), 3)
    broken = least_squares(lambda p: p * np.nan, renewed=True)
    after, lost, (log,) = run(optimizer, broken, parameters, 1, state)
    np.testing.assert_array_equal(after, parameters)
    assert np.isnan(log["loss"]) and log["step_size"] == 0
    for name in optimizer.memory(parameters):
        np.testing.assert_array_equal(lost[name], state[name])
    renewed = least_squares(rows, renewed=True)
    _, _, (log,) = run(optimizer, renewed, after, 1, lost)
    assert log["step_size"] > 0


@each_full
def test_h_is_reset_if_it_gives_an_ascent_direction(method, least_squares, linear, run):
    optimizer = method()
    objective = least_squares(linear(4)[0])
    start = np.ones(4)
    state = optimizer.init(ops.convert_to_tensor(start))
    state["inverse_hessian"] = -state["inverse_hessian"]
    state["updates"] = ops.ones((), "int32")
    _, state, (log,) = run(optimizer, objective, start, 1, state)
    assert log["restarted"] and log["step_size"] == 0
    np.testing.assert_array_equal(state["inverse_hessian"], np.eye(4))
    assert int(state["updates"]) == 0


def test_gradient_replaces_a_failed_inverse_hessian(least_squares, linear, run):
    optimizer = optimizers.SSBroyden(max_evaluations=3)
    objective = least_squares(linear(4)[0])
    start = np.ones(4)
    state = optimizer.init(ops.convert_to_tensor(start))
    state["inverse_hessian"] = 1e12 * state["inverse_hessian"]
    state["updates"] = ops.ones((), "int32")
    _, state, logs = run(optimizer, objective, start, 2, state)
    assert [log["restarted"] for log in logs] == [0, 1]
    assert logs[0]["step_size"] == 0 < logs[1]["step_size"]
    np.testing.assert_array_equal(state["inverse_hessian"], np.eye(4))


def test_lbfgs_with_memory_for_all_steps_equals_bfgs(least_squares, linear, run):
    rows, _ = linear(5)
    optimizer = optimizers.LBFGS(memory_size=4)
    _, state, _ = run(optimizer, least_squares(rows), np.arange(5.0), 3)
    steps, yields = (np.array(state[name]) for name in ("steps", "yields"))
    np.testing.assert_array_equal(steps[0], 0.0)  # no fourth pair yet
    inverse = np.eye(5) * (steps[-1] @ yields[-1]) / (yields[-1] @ yields[-1])
    for s, y in zip(steps[1:], yields[1:], strict=True):
        turn = np.eye(5) - np.outer(s, y) / (s @ y)
        inverse = turn @ inverse @ turn.T + np.outer(s, s) / (s @ y)
    expected = -inverse @ np.array(state["gradient"])
    np.testing.assert_allclose(state["direction"], expected, rtol=1e-9)


@pytest.mark.slow
@each_method
def test_resume_is_bit_exact(method, least_squares, rosenbrock, run):
    optimizer, objective = method(), least_squares(rosenbrock)
    uninterrupted, _, _ = run(optimizer, objective, np.zeros(4), 9, jit_compile=True)
    half, state, _ = run(optimizer, objective, np.zeros(4), 5, jit_compile=True)
    again, _, _ = run(method(), objective, half, 4, state, jit_compile=True)
    np.testing.assert_array_equal(again, uninterrupted)


@each_method
def test_a_step_is_vectorized(method, least_squares, rosenbrock):
    import jax

    optimizer, objective = method(), least_squares(rosenbrock)
    one = ops.linspace(0.0, 1.5, 6, dtype="float64")  # not to the local minimum
    parameters = ops.stack([one, one / 2])
    state = jax.vmap(optimizer.init)(parameters)
    step = jax.jit(jax.vmap(lambda p, state: optimizer.step(objective, p, state)))
    for _ in range(150):
        parameters, state, _ = step(parameters, state)
    np.testing.assert_allclose(parameters, 1.0, atol=1e-9)
