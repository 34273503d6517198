"""Time windows trained one after another: resumed, saved, refused."""

import dataclasses
import importlib
import warnings

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.declaration.windows import (
    in_window_scales,
    restricted,
)

measure = importlib.import_module("keraspinn.diagnostics.verdicts.measure")
x, t = sp.symbols("x t")
u = sp.Function("u")(t)
SHORT = kp.recipes.TwoStage(adam_steps=200, steps=100, points=200)


class Quick(kp.recipes.Recipe):
    """Two eager steps of Adam."""

    def __init__(self, *callbacks):
        super().__init__([])
        self.callbacks = callbacks

    def train(self, model, **kwargs):
        model.compile(keras.optimizers.Adam(1e-3), run_eagerly=True)
        history = model.fit(
            steps_per_epoch=2, batch_size=8, callbacks=[*self.callbacks], verbose=0
        )
        return kp.recipes.Trained(model, [history])


class Easy(Quick):
    """The same, with a loss that `windows="auto"` accepts."""

    def train(self, model, **kwargs):
        trained = super().train(model, **kwargs)
        trained.history[-1].history["loss"] = [1e-9]
        return trained


class Losses(kp.recipes.Recipe):
    """No training, with a final loss that is a function of the window's length."""

    def __init__(self, loss):
        super().__init__([])
        self.loss, self.windows = loss, []

    def train(self, model, **kwargs):
        time = model.problem.domain
        start, end = time.lower[0], time.upper[0]
        self.windows.append((start, end))
        history = keras.callbacks.History()
        history.history = {"loss": [self.loss(end - start)]}
        return kp.recipes.Trained(model, [history])


class Killed(Exception):
    pass


class Kill(keras.callbacks.Callback):
    """Raise at the beginning of a training, counted from 1."""

    def __init__(self, number):
        super().__init__()
        self.left = number

    def on_train_begin(self, logs=None):
        self.left -= 1
        if not self.left:
            raise Killed


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
def test_decay_in_time_windows():
    model = kp.march(decay(), network(), windows=2, recipe=SHORT, verbose=0)
    points, values = model.problem.test_data(50)
    error = model.predict(points, verbose=0)[:, 0] - values["u"]
    assert np.linalg.norm(error) < 1e-3 * np.linalg.norm(values["u"])
    assert [row["end"] for row in model.march_history] == [2.0, 4.0]


def heated_rod(hot=1):
    x = sp.Symbol("x")
    w = sp.Function("w")(x, t)
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}, time={t: (0, 2)}),
        {"heat": sp.Eq(w.diff(t), w.diff(x, 2) / 20)},
        {
            "cold": kp.Condition(w, on="initial"),
            "hot": kp.Condition(sp.Eq(w, hot), on={x: 0}),
            "end": kp.Condition(w, on={x: 1}),
        },
    )


@pytest.mark.slow
def test_initial_value_that_contradicts_a_boundary_condition_in_time_windows():
    # Without the diffusing step as a feature of the first window, the error is 1e-2.
    recipe = kp.recipes.OneStage(steps=50, points=500)
    model = kp.march(heated_rod(), network(), windows=2, recipe=recipe, verbose=0)
    points = np.random.default_rng(0).uniform([0, 0.2], [1, 2], (500, 2))
    modes = np.arange(1, 100) * np.pi
    waves = np.sin(modes * points[:, :1]) * np.exp(-(modes**2) * points[:, 1:] / 20)
    exact = 1 - points[:, 0] - (2 * waves / modes).sum(axis=1)
    error = model.predict(points, verbose=0)[:, 0] - exact
    assert np.linalg.norm(error) < 2e-3 * np.linalg.norm(exact)


def test_the_first_time_window_of_a_built_pattern_has_features():
    pattern = network()
    pattern.build((None, 2))
    settings = {"windows": 2, "recipe": Easy(), "verbose": 0}
    model = kp.march(heated_rod(), pattern, **settings)
    first, second = (one._features for one in model.network.networks)
    assert len(first.expressions) == 1 and not second
    assert not model.problem.hard


def test_conditions_are_hard_where_no_time_window_has_features():
    late = sp.Piecewise((0, t < 1.5), (1, True))
    model = kp.march(heated_rod(late), network(), windows=2, recipe=Easy(), verbose=0)
    assert model.problem.hard


@pytest.mark.parametrize("loss, warns", [(1.0, True), (np.nan, True), (1e-3, False)])
def test_a_time_window_that_ends_at_a_large_loss_is_warned_of(loss, warns):
    recipe = Losses(lambda length: loss)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kp.march(decay(2), network(), windows=1, recipe=recipe, verbose=0)
    named = [str(w.message) for w in caught if "from 0 to 2 ends at" in str(w.message)]
    assert bool(named) == warns


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


@pytest.mark.parametrize(
    ("windows", "killed"),
    [(3, 2), (10, 7), ("auto", 3)],  # the lengths of ten differ by round-off
)
@pytest.mark.slow
def test_killed_march_resumes_bit_exact(tmp_path, windows, killed):
    path, settings = tmp_path / "march.keras", {"windows": windows, "verbose": 0}
    uninterrupted = kp.march(decay(1.0), network(), recipe=Easy(), **settings)
    with pytest.raises(Killed):
        recipe = Easy(Kill(killed))
        kp.march(decay(1.0), network(), recipe=recipe, path=path, **settings)
    assert len(kp.load_model(path).network.history) == killed - 1
    resumed = kp.march(decay(1.0), network(), recipe=Easy(), path=path, **settings)
    assert resumed.march_history == uninterrupted.march_history
    for expected, actual in zip(
        uninterrupted.get_weights(), resumed.get_weights(), strict=True
    ):
        np.testing.assert_array_equal(expected, actual)


@pytest.mark.slow
def test_time_window_is_halved_for_a_large_loss_and_lengthened_for_a_small_one():
    recipe = Losses(lambda length: 1e-3 if length > 0.3 else 1e-9)
    model = kp.march(decay(1.0), network(), windows="auto", recipe=recipe, verbose=0)
    lengths = np.diff(recipe.windows, axis=1)[:, 0]
    np.testing.assert_allclose(lengths, [0.1, 0.2, 0.4, 0.2, 0.2, 0.2, 0.1])
    assert model.march_history[-1]["end"] == 1.0


@pytest.mark.slow
def test_time_window_between_the_two_losses_keeps_its_length():
    recipe = Losses(lambda length: 1e-7)
    model = kp.march(decay(), network(), windows="auto", recipe=recipe, verbose=0)
    assert len(model.march_history) == 10


@pytest.mark.slow
def test_largest_loss_of_a_time_window_is_an_argument():
    recipe, settings = Losses(lambda length: 1e-5), {"windows": "auto", "verbose": 0}
    model = kp.march(decay(), network(), recipe=recipe, largest_loss=2e-5, **settings)
    assert len(model.march_history) == 10
    with pytest.raises(ValueError, match="above 5e-06, however short"):
        kp.march(decay(), network(), recipe=recipe, largest_loss=5e-6, **settings)


@pytest.mark.slow
def test_large_or_nan_loss_ends_the_march_with_a_message():
    for loss in (1e-3, np.nan):
        recipe = Losses(lambda length, loss=loss: loss)
        with pytest.raises(ValueError, match="however short"):
            kp.march(decay(), network(), windows="auto", recipe=recipe, verbose=0)


@pytest.fixture(scope="module")
def marched():
    return kp.march(decay(), network(), windows=4, recipe=Quick(), verbose=0)


@pytest.mark.slow
def test_the_model_of_all_windows_is_saved_and_loaded(marched, tmp_path):
    marched.save(path := tmp_path / "model.keras")
    points = np.linspace(0, 4, 9)[:, None]
    loaded = kp.load_model(path)
    np.testing.assert_array_equal(
        loaded.predict(points, verbose=0), marched.predict(points, verbose=0)
    )
    assert loaded.network.history == marched.march_history


@pytest.mark.slow
def test_the_model_of_all_windows_is_evaluated(marched):
    points = np.linspace(0, 4, 9)[:, None]
    values = marched.predict(points, verbose=0)
    truth = {"u": 2 * np.ravel(values)}
    error = marched.evaluate(points, truth, return_dict=True, verbose=0)
    assert error["u_relative_l2"] == pytest.approx(0.5)


@pytest.mark.slow
def test_expressions_and_integrals_of_all_windows(marched):
    points = np.linspace(0, 4, 4_001)[:, None]
    values = marched.predict_expression(u, points)
    quotient = np.gradient(values, points[:, 0])
    slopes = marched.predict_expression(u.diff(t), points)
    assert np.median(abs(slopes - quotient)) < 1e-3
    integral = marched.integrate(u)
    assert integral == pytest.approx(np.trapezoid(values, points[:, 0]), abs=1e-3)


@pytest.mark.slow
def test_all_windows_are_plotted(marched):
    assert kp.plot.solution(marched).axes


@pytest.mark.slow
def test_verdict_reports_the_accumulation_of_errors(marched, monkeypatch):
    monkeypatch.setattr(measure, "integrated_fields", lambda *_: None)
    verdict = kp.diagnostics.verdict(marched, points=200)
    assert len(verdict.windows) == 4
    assert max(verdict.windows) >= verdict.errors["u"]
    # Derived quantities accumulate errors as fields do.
    monkeypatch.setattr(measure, "UNEXPLAINED", 0.0)
    monkeypatch.setattr(measure, "LEAST_EXPLAINED", 1e6)
    monkeypatch.setattr(measure, "regrown", lambda *_: {})
    scaled = kp.diagnostics.verdict(marched, points=200, quantities={"u": u})
    assert 0.5 < scaled.quantities["u"] / scaled.errors["u"] < 2
    assert scaled.errors["u"] < 1e-5 * verdict.errors["u"]
    exact = dataclasses.replace(verdict, errors={"u": 0.1}, windows=(1e-2, 0.3))
    assert "from 1 % in the first to 30 % in the last" in str(exact)


@pytest.mark.slow
def test_file_of_other_time_windows_is_refused(marched, tmp_path):
    marched.save(path := tmp_path / "march.keras")
    with pytest.raises(ValueError, match="other windows"):
        kp.march(decay(), network(), windows=3, path=path)


@pytest.mark.parametrize("windows", [0, -1, 2.5, [0, 5], [0, 3, 2, 4], [1, 4], "all"])
def test_time_windows_beyond_the_time_are_refused(windows):
    with pytest.raises((ValueError, TypeError), match="edges"):
        kp.march(decay(), network(), windows=windows)


def test_a_network_without_an_output_for_each_field_is_refused():
    # One output for two fields would train, and both would be wrong.
    v = sp.Function("v")(t)
    oscillator = kp.Problem(
        kp.geometry.Box(time={t: (0, 1)}),
        {"rate": u.diff(t) - v, "force": v.diff(t) + u},
        {"initial": kp.Condition([sp.Eq(u, 1), v], on="initial")},
    )
    with pytest.raises(ValueError, match=r"each field .*outputs=2"):
        kp.march(oscillator, kp.networks.MLP(20, 2), verbose=0)


def test_a_steady_problem_is_refused():
    with pytest.raises(ValueError, match="steady"):
        kp.march(kp.problems.poisson(), network())


@pytest.mark.parametrize(
    "condition",
    [
        kp.Condition(u, on={t: 4}),
        kp.Condition(u - u.subs(t, 4), on="initial"),
        kp.Condition(sp.Eq(kp.integral(u), 1)),
    ],
)
def test_a_condition_at_a_later_time_is_refused(condition):
    # The first window would take its continuation to that time, and later ones none.
    problem = kp.Problem(
        kp.geometry.Box(time={t: (0, 4)}),
        {"forced": sp.Eq(u.diff(t), -u + sp.sin(sp.pi * t / 2))},
        {"periodic": condition},
    )
    with pytest.raises(ValueError, match="'periodic'.* relates t = 4"):
        kp.march(problem, network())


def test_windows_take_a_sampler():
    sampler = kp.sampling.ResidualBased(every=1)
    (stage,) = kp.recipes.OneStage(sampler=sampler).stages
    assert stage.fit["x"] is sampler
    with pytest.raises(TypeError, match=r"stages.*recipes\.Stage"):
        kp.recipes.Recipe(["adam"])


@pytest.mark.parametrize("recipe", ["fast", kp.recipes.Stage(None)])
def test_a_recipe_of_another_type_is_refused(recipe):
    with pytest.raises(TypeError, match="recipe"):
        kp.march(decay(), network(), recipe=recipe)


def test_periodic_time_is_refused():
    with pytest.raises(ValueError, match="coordinates of space"):
        kp.geometry.Box(time={t: (0, 4)}, periodic=[t])


def test_a_slow_reaction_is_scaled_by_its_rate_in_a_short_window():
    a, b = (sp.Function(name)(t) for name in "ab")
    fast = sp.Eq(b.diff(t), a - 1000 * b)
    problem = kp.Problem(
        kp.geometry.Box(time={t: (0, 10)}),
        {"slow": sp.Eq(a.diff(t), -a / 10), "fast": fast},
        {"initial": kp.Condition([sp.Eq(a, 1), b], on="initial")},
    )
    window = restricted(problem, 1.0, 1.001)
    scaled, changes = in_window_scales(problem, window)
    slow, fast = scaled.scales.terms["residual"]
    assert 0.1 <= slow <= 10 and fast == window.scales.terms["residual"][1]
    assert changes[0] < 0.01 * window.scales.field("a")
    assert changes[1] == window.scales.field("b")


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
