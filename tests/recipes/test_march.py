"""Time windows trained one after another: resumed, saved, refused."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

x, t = sp.symbols("x t")
u = sp.Function("u")(t)
SHORT = kp.recipes.TwoStage(adam_steps=200, steps=100, points=200)
FEW_STEPS = kp.recipes.TwoStage(adam_steps=5, steps=5, points=50)


def decay(end=4.0):
    return kp.Problem(
        kp.geometry.Box(time={t: (0, end)}),
        {"decay": sp.Eq(u.diff(t), -u)},
        {"initial": kp.Condition(sp.Eq(u, 1), on="initial")},
        reference={u: sp.exp(-t)},
    )


def network():
    keras.utils.set_random_seed(0)
    return kp.networks.MLP(units=8, depth=2)


@pytest.mark.slow
def test_decay_in_windows():
    model = kp.march(decay(), network(), windows=2, recipe=SHORT, verbose=0)
    points, values = model.problem.test_data(50)
    error = model.predict(points, verbose=0)[:, 0] - values["u"]
    assert np.linalg.norm(error) < 1e-3 * np.linalg.norm(values["u"])
    assert [row["end"] for row in model.march_history] == [2.0, 4.0]


@pytest.mark.slow
def test_second_order_in_time_with_a_jump_of_velocity():
    """A ball that falls, hits the ground and keeps half of its velocity."""
    v = sp.Function("v")(t)
    problem = kp.Problem(
        kp.geometry.Box(time={t: (0, 2)}),
        {"position": sp.Eq(u.diff(t), v), "velocity": sp.Eq(v.diff(t), -2)},
        {"initial": kp.Condition([sp.Eq(u, 1), sp.Eq(v, 0)], on="initial")},
    )
    pattern = kp.networks.MLP(units=8, depth=2, outputs=2)
    model = kp.march(
        problem,
        pattern,
        windows=2,
        recipe=SHORT,
        hard=False,
        jumps={1.0: {v: (-0.5, 0.0)}},
        verbose=0,
    )
    position, velocity = model.predict(np.array([[1.5]]), verbose=0)[0]
    assert position == pytest.approx(0.25, abs=0.02)
    assert velocity == pytest.approx(0.0, abs=0.02)


def test_a_march_that_was_interrupted_resumes_to_the_same_numbers(tmp_path):
    path = tmp_path / "march.keras"
    whole = kp.march(decay(), network(), windows=2, recipe=FEW_STEPS, verbose=0)

    class Stop(Exception):
        pass

    class Interrupted(kp.recipes.TwoStage):
        runs = 0

        def train(self, model, **kwargs):
            self.runs += 1
            if self.runs == 2:
                raise Stop
            return super().train(model, **kwargs)

    with pytest.raises(Stop):
        recipe = Interrupted(adam_steps=5, steps=5, points=50)
        kp.march(decay(), network(), windows=2, recipe=recipe, path=path, verbose=0)
    resumed = kp.march(
        decay(), network(), windows=2, recipe=FEW_STEPS, path=path, verbose=0
    )
    for one, other in zip(whole.get_weights(), resumed.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_model_of_all_windows_is_saved_and_loaded(tmp_path):
    model = kp.march(decay(), network(), windows=2, recipe=FEW_STEPS, verbose=0)
    model.save(path := tmp_path / "model.keras")
    points = np.linspace(0, 4, 9)[:, None]
    loaded = kp.load_model(path)
    np.testing.assert_array_equal(
        loaded.predict(points, verbose=0), model.predict(points, verbose=0)
    )


def test_a_file_of_other_windows_is_refused(tmp_path):
    path = tmp_path / "march.keras"
    kp.march(decay(), network(), windows=2, recipe=FEW_STEPS, path=path, verbose=0)
    with pytest.raises(ValueError, match="other windows"):
        kp.march(decay(), network(), windows=3, recipe=FEW_STEPS, path=path, verbose=0)


@pytest.mark.parametrize("windows", [0, -1, 2.5, [0, 5], [0, 3, 2, 4], [1, 4], "all"])
def test_windows_that_do_not_fit_the_time_are_refused(windows):
    with pytest.raises((ValueError, TypeError), match="edges"):
        kp.march(decay(), network(), windows=windows)


def test_a_steady_problem_is_refused():
    with pytest.raises(ValueError, match="steady"):
        kp.march(kp.problems.poisson(), network())


def test_unknown_parameters_are_refused():
    rate = kp.Parameter("rate", 1.0)
    problem = kp.Problem(
        kp.geometry.Box(time={t: (0, 4)}),
        {"decay": sp.Eq(u.diff(t), -rate * u)},
        {
            "initial": kp.Condition(sp.Eq(u, 1), on="initial"),
            "data": kp.Data([[1.0], [2.0]], {u: [0.4, 0.1]}),
        },
    )
    with pytest.raises(ValueError, match="unknown parameters"):
        kp.march(problem, network())


def test_a_jump_between_edges_is_refused():
    with pytest.raises(ValueError, match="inner edge"):
        kp.march(decay(), network(), windows=2, jumps={1.3: {u: (1, 1)}})
