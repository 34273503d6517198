import warnings

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

T = sp.Symbol("t")
U = sp.Function("u")(T)
RATE = kp.Parameter("rate", initial=1.0)
NEVER = sp.Heaviside(T - 2)
TIMES = np.linspace(0.05, 1, 30)
NOISE = 0.02


def draws(count):
    """Return noisy samples of e^(−2t), `(count, 30)`."""
    noise = np.random.default_rng(0).normal(size=(count, len(TIMES)))
    return np.exp(-2 * TIMES) + NOISE * noise


def fitted(samples):
    """Return least-squares rates by Newton's method in closed form, `(count,)`."""
    rate = np.full(len(samples), 2.0)
    for _ in range(20):
        exact = np.exp(-np.outer(rate, TIMES))
        slope = -TIMES * exact
        rate = rate + np.sum(slope * (samples - exact), -1) / np.sum(slope**2, -1)
    return rate


def trained(samples, times, weight):
    problem = kp.Problem(
        kp.geometry.Box(time={T: (0, 1)}),
        {"decay": U.diff(T) + RATE * U},
        {
            "initial": kp.Condition(sp.Eq(U, 1), on="initial"),
            "data": kp.Data(times[:, None], {U: samples}, weight=weight),
        },
    )
    model = kp.PINNModel(problem, kp.networks.MLP(6, 1), seed=0).astype("float64")
    model.compile(kp.optimizers.GaussNewton())
    model.fit(batch_size={"residual": 100}, steps_per_epoch=80, verbose=0)
    return model


@pytest.mark.slow
def test_deviation_is_that_of_least_squares_and_of_repeated_noise():
    samples = draws(200)
    model = trained(samples[0], TIMES, weight=1)
    rate = float(model.coefficients["rate"].numpy())
    rates = fitted(samples)
    assert rate == pytest.approx(rates[0], abs=2e-3)
    deviation = model.parameter_deviation()["rate"]
    exact = np.exp(-rate * TIMES)
    noise = np.linalg.norm(samples[0] - exact) / np.sqrt(len(TIMES) - 1)
    assert deviation == pytest.approx(noise / np.linalg.norm(TIMES * exact), rel=0.02)
    # One draw estimates its noise to √(1 / 2n), 13 %.
    assert deviation == pytest.approx(np.std(rates), rel=0.35)


@pytest.mark.slow
def test_systematic_residuals_of_a_late_clock_increase_the_deviation():
    model = trained(np.exp(-2 * (TIMES - 0.05)), TIMES, weight=1e-2)
    missed = abs(float(model.coefficients["rate"].numpy()) - 2)
    assert missed > 0.1
    assert missed < 2 * model.parameter_deviation()["rate"] < 2


def test_systematic_residuals_of_other_equations_do_not_count():
    deviations = []
    for shift in (0.0, 0.05):
        k, v = kp.Parameter("k", initial=2.0), sp.Function("v")(T)
        noise = 0.01 * np.random.default_rng(0).normal(size=(2, 30))
        problem = kp.Problem(
            kp.geometry.Box(time={T: (0, 1)}),
            {"u": U.diff(T) - k, "v": v.diff(T) - 3},
            {
                "initial": kp.Condition([U, v], on="initial"),
                "data": kp.Data(TIMES[:, None], {U: 2 * TIMES + noise[0]}),
                "others": kp.Data(TIMES[:, None], {v: 3 * TIMES + noise[1] + shift}),
            },
        )
        network = keras.Sequential([keras.layers.Dense(2)])
        model = kp.PINNModel(problem, network, seed=0)
        network.layers[0].set_weights([np.array([[2.0, 3.0]]), np.zeros(2)])
        deviations.append(model.parameter_deviation()["k"])
    assert deviations[1] == pytest.approx(deviations[0], rel=0.01)


@pytest.mark.slow
def test_equations_fitted_to_noise_warn_and_do_not_reduce_deviation():
    samples = draws(1)[0]
    model = trained(samples, TIMES, weight=100)
    with pytest.warns(UserWarning, match="not satisfied.*rate is .*less weight"):
        deviation = model.parameter_deviation()["rate"]
    exact = np.exp(-fitted(samples[None]) * TIMES)
    noise = np.linalg.norm(samples - exact) / np.sqrt(len(TIMES) - 1)
    assert deviation == pytest.approx(noise / np.linalg.norm(TIMES * exact), rel=0.1)


def decay_model(rate, unit, data, network=None):
    """Return a model of u' = −k u in a unit of time, by default with a new network."""
    keras.utils.set_random_seed(0)
    k, end = kp.Parameter("k", initial=rate / unit), unit
    decay = {"decay": U.diff(T) + k * U}
    start = {"initial": kp.Condition(sp.Eq(U, 1), on="initial")}
    box = kp.geometry.Box(time={T: (0, end)})
    problem = kp.Problem(box, decay, start | data)
    return kp.PINNModel(problem, network or kp.networks.MLP(6, 1), seed=0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The equations are bent")
def test_deviation_is_independent_of_the_unit_of_time():
    deviations = []
    for unit in (1.0, 1e12):
        samples = {"data": kp.Data(unit * TIMES[:, None], {U: 1 + 0.1 * draws(1)[0]})}
        deviations.append(
            decay_model(0.1, unit, samples).parameter_deviation()["k"] * unit
        )
    assert deviations[1] == pytest.approx(deviations[0], rel=1e-3)


def warned_by(model):
    """Return warnings about the deviations, and the deviations."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        deviations = model.parameter_deviation()
    user_warnings = [w for w in caught if w.category is UserWarning]
    assert all(w.filename == __file__ for w in user_warnings)
    return deviations, [str(w.message) for w in user_warnings]


ONE = {"data": kp.Data([[0.5]], {U: [1.0]})}


def test_too_few_rows_warn():
    deviations, (text,) = warned_by(decay_model(0.0, 1.0, ONE))
    assert deviations == {"k": np.inf}
    assert "deviation of k is infinite: too few rows of Data ('data' has 1)" in text
    assert "Add rows" in text


@pytest.mark.slow
def test_a_product_is_not_identified_by_few_rows():
    """Only R / K is determined by heads of groundwater, K h'' = -R."""
    conductivity, recharge = kp.Parameter("K", 1.0), kp.Parameter("R", 1.0)
    x = np.linspace(0, 1, 6)[1:-1]
    problem = kp.Problem(
        kp.geometry.Box(time={T: (0, 1)}),
        {"flow": conductivity * U.diff(T, 2) + recharge},
        {
            "left": kp.Condition(U, on={T: 0}),
            "right": kp.Condition(U, on={T: 1}),
            "wells": kp.Data(x[:, None], {U: 0.85 * x * (1 - x)}),
        },
    )
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(problem, kp.networks.MLP(8, 1), seed=0).astype("float64")
    model.compile(kp.optimizers.SSBroyden())
    model.fit(steps_per_epoch=300, verbose=0)
    deviations, (text,) = warned_by(model)
    assert deviations == {"K": np.inf, "R": np.inf}
    assert "do not determine K and R" in text


@pytest.mark.slow
def test_rows_are_too_few_if_a_field_can_interpolate_them():
    source = sp.Function("f")(T)
    problem = kp.Problem(
        kp.geometry.Box(time={T: (0, 1)}),
        {"decay": sp.Eq(U.diff(T) + RATE * U, source)},
        {f"d{n}": kp.Data([[n / 4]], {U: [1.0]}) for n in range(4)},
    )
    network = kp.networks.MLP(6, 1, outputs=2)
    deviations, (text,) = warned_by(kp.PINNModel(problem, network, seed=0))
    assert deviations == {"rate": np.inf}
    assert "of Data ('d0' has 1, 'd1' has 1, 'd2' has 1, 'd3' has 1), not" in text


@pytest.mark.slow
def test_exact_data_have_no_deviation():
    ones = {"data": kp.Data(TIMES[:, None], {U: np.ones(30)})}
    constant = keras.layers.Dense(1, "linear", True, "zeros", "ones")
    exact = decay_model(0.0, 1.0, ones, keras.Sequential([constant]))
    assert 0 < exact.parameter_deviation()["k"] < 1e-9
    noisy = 1 + 0.1 * np.random.default_rng(0).normal(size=30)
    together = {"data": kp.Data(TIMES[:, None], {U: noisy})}
    apart = {
        f"data_{n}": kp.Data([[time]], {U: [value]})
        for n, (time, value) in enumerate(zip(TIMES, noisy, strict=True))
    }
    with pytest.warns(UserWarning, match="not satisfied"):
        deviations = [
            decay_model(0.0, 1.0, data).parameter_deviation()["k"]
            for data in (together, apart)
        ]
    assert deviations[1] == pytest.approx(deviations[0], rel=0.3)


@pytest.mark.slow
@pytest.mark.parametrize("together", [sp.Mul, sp.Add], ids=["product", "sum"])
def test_unidentifiable_combinations_warn(together):
    a, b = kp.Parameter("a", initial=1.0), kp.Parameter("b", initial=5.0)
    c = kp.Parameter("c", initial=1.0)
    noisy = 1 + 0.1 * np.random.default_rng(0).normal(size=30)
    problem = kp.Problem(
        kp.geometry.Box(time={T: (0, 1)}),
        {"decay": U.diff(T) + together(a, b) * U + c * sp.sin(9 * T)},
        {"data": kp.Data(TIMES[:, None], {U: noisy})},
    )
    deviations, texts = warned_by(kp.PINNModel(problem, kp.networks.MLP(6, 1), seed=0))
    assert deviations["a"] == deviations["b"] == np.inf and 0 < deviations["c"] < 10
    (text,) = (text for text in texts if "not determine" in text)
    assert "not determine a and b: " in text and "one parameter" in text
    assert not any("a is" in text or "b is" in text for text in texts)


@pytest.mark.slow
def test_parameter_without_effect_warns():
    idle = kp.Parameter("idle", initial=1.0)
    problem = kp.Problem(
        kp.geometry.Box(time={T: (0, 1)}),
        {"decay": U.diff(T) + RATE * U + idle * NEVER * U},
        {"data": kp.Data(TIMES[:, None], {U: draws(1)[0]})},
    )
    deviations, (text, *_) = warned_by(
        kp.PINNModel(problem, kp.networks.MLP(6, 1), seed=0)
    )
    assert deviations["idle"] == np.inf and deviations["rate"] < np.inf
    assert "not determine idle: " in text


@pytest.mark.slow
@pytest.mark.parametrize("stopped", [False, True])
def test_ensemble_has_deviations_of_its_members(stopped):
    noisy = {"data": kp.Data(TIMES[:, None], {U: draws(1)[0]})}
    problem = decay_model(0.5, 1.0, noisy).problem
    ensemble = kp.Ensemble(problem, kp.networks.MLP(6, 1), size=3, seed=0)
    ensemble._members.going.assign([True, not stopped, True])
    deviations, _ = warned_by(ensemble)
    expected = [warned_by(ensemble.member(number))[0]["k"] for number in range(3)]
    if stopped:
        expected[1] = np.nan
    assert deviations["k"].shape == ensemble.coefficients["k"].shape
    np.testing.assert_allclose(deviations["k"], expected, rtol=1e-6)
    assert len(set(deviations["k"])) == 3


@pytest.mark.slow
def test_ensemble_warns_once_for_all_members():
    problem = decay_model(0.0, 1.0, ONE).problem
    ensemble = kp.Ensemble(problem, kp.networks.MLP(6, 1), size=2, seed=0)
    deviations, (text,) = warned_by(ensemble)
    assert deviations["k"].tolist() == [np.inf, np.inf]
    assert text.startswith("Members 0, 1: The deviation of k is infinite")


def test_rejects_models_without_deviation():
    model = kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(4, 1))
    with pytest.raises(ValueError, match="needs an unknown keraspinn.Parameter"):
        model.parameter_deviation()
    problem = kp.Problem(
        kp.geometry.Box(time={T: (0, 1)}),
        {"decay": U.diff(T) + RATE * U},
        {"initial": kp.Condition(sp.Eq(U, 1), on="initial")},
    )
    model = kp.PINNModel(problem, keras.Sequential([keras.layers.Dense(1)]))
    with pytest.raises(ValueError, match="and Data as a condition"):
        model.parameter_deviation()


@pytest.mark.slow
def test_coefficients_beside_a_single_mode_are_not_identified():
    """a u'' + b u = f with u = sin t measured: the columns differ by errors alone."""
    a, b = kp.Parameter("a", initial=1.0), kp.Parameter("b", initial=2.0)
    mode = np.sin(3 * TIMES)
    problem = kp.Problem(
        kp.geometry.Box(time={T: (0, 1)}),
        {"mode": sp.Eq(a * U.diff(T, 2) + b * U, -7 * sp.sin(3 * T))},
        {"data": kp.Data(TIMES[:, None], {U: mode})},
    )
    model = kp.PINNModel(problem, kp.networks.MLP(6, 1), seed=0).astype("float64")
    model.compile(kp.optimizers.GaussNewton())
    model.fit(batch_size={"residual": 100}, steps_per_epoch=60, verbose=0)
    with pytest.warns(UserWarning, match="do not determine a and b"):
        assert model.parameter_deviation() == {"a": np.inf, "b": np.inf}
    verdict = kp.diagnostics.verdict(model)
    assert not verdict.trusted and "a and b" in verdict.undetermined
