import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

T = sp.Symbol("t")
U = sp.Function("u")(T)
RATE = kp.Parameter("rate", initial=1.0)
TIMES = np.linspace(0.05, 1, 30)
NOISE = 0.02


def draws(count):
    """Noisy samples of e^(−2t), `(count, 30)`."""
    noise = np.random.default_rng(0).normal(size=(count, len(TIMES)))
    return np.exp(-2 * TIMES) + NOISE * noise


def fitted(samples):
    """The rate of least squares by Newton's steps in closed form, `(count,)`."""
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
            "start": kp.Condition(sp.Eq(U, 1), on="initial"),
            "data": kp.Data(times[:, None], {U: samples}, weight=weight),
        },
    )
    model = kp.PINNModel(problem, kp.networks.MLP(6, 1), seed=0).astype("float64")
    model.compile(kp.optimizers.GaussNewton())
    model.fit(batch_size={"residual": 100}, steps_per_epoch=80, verbose=0)
    return model


def test_is_that_of_least_squares_and_the_spread_over_draws_of_noise():
    samples = draws(200)
    model = trained(samples[0], TIMES, weight=1)
    rate = float(model.coefficients["rate"].numpy())
    rates = fitted(samples)
    assert rate == pytest.approx(rates[0], abs=2e-3)
    deviation = model.parameter_deviation()["rate"]
    exact = np.exp(-rate * TIMES)
    noise = np.linalg.norm(samples[0] - exact) / np.sqrt(len(TIMES) - 1)
    assert deviation == pytest.approx(noise / np.linalg.norm(TIMES * exact), rel=0.02)
    # One draw says its noise to √(1 / 2n), 13 %.
    assert deviation == pytest.approx(np.std(rates), rel=0.35)


def test_equations_that_are_bent_to_the_noise_are_told_and_do_not_lessen_it():
    samples = draws(1)[0]
    model = trained(samples, TIMES, weight=100)
    with pytest.warns(UserWarning, match="bent.*rate is .*less weight"):
        deviation = model.parameter_deviation()["rate"]
    exact = np.exp(-fitted(samples[None]) * TIMES)
    noise = np.linalg.norm(samples - exact) / np.sqrt(len(TIMES) - 1)
    assert deviation == pytest.approx(noise / np.linalg.norm(TIMES * exact), rel=0.1)


def known(rate, unit, data, network=None):
    """u' = −k u in some unit of time, and a network, untrained if none is given."""
    keras.utils.set_random_seed(0)
    k, end = kp.Parameter("k", initial=rate / unit), unit
    decay = {"decay": U.diff(T) + k * U}
    start = {"start": kp.Condition(sp.Eq(U, 1), on="initial")}
    box = kp.geometry.Box(time={T: (0, end)})
    problem = kp.Problem(box, decay, start | data)
    return kp.PINNModel(problem, network or kp.networks.MLP(6, 1), seed=0)


@pytest.mark.filterwarnings("ignore:The equations are bent")
def test_is_the_same_in_any_unit_of_time():
    found = []
    for unit in (1.0, 1e12):
        samples = {"data": kp.Data(unit * TIMES[:, None], {U: 1 + 0.1 * draws(1)[0]})}
        found.append(known(0.1, unit, samples).parameter_deviation()["k"] * unit)
    assert found[1] == pytest.approx(found[0], rel=1e-3)


def test_few_or_exact_data():
    one = {"data": kp.Data([[0.5]], {U: [1.0]})}
    assert known(0.0, 1.0, one).parameter_deviation() == {"k": np.inf}
    ones = {"data": kp.Data(TIMES[:, None], {U: np.ones(30)})}
    constant = keras.layers.Dense(1, "linear", True, "zeros", "ones")
    exact = known(0.0, 1.0, ones, keras.Sequential([constant]))
    assert 0 < exact.parameter_deviation()["k"] < 1e-9
    noisy = 1 + 0.1 * np.random.default_rng(0).normal(size=30)
    together = {"data": kp.Data(TIMES[:, None], {U: noisy})}
    apart = {
        f"data_{n}": kp.Data([[time]], {U: [value]})
        for n, (time, value) in enumerate(zip(TIMES, noisy, strict=True))
    }
    with pytest.warns(UserWarning, match="bent"):
        found = [
            known(0.0, 1.0, data).parameter_deviation()["k"]
            for data in (together, apart)
        ]
    assert found[1] == pytest.approx(found[0], rel=0.3)


@pytest.mark.parametrize("together", [sp.Mul, sp.Add], ids=["product", "sum"])
def test_parameters_that_only_count_together_are_told(together):
    a, b = kp.Parameter("a", initial=1.0), kp.Parameter("b", initial=5.0)
    c = kp.Parameter("c", initial=1.0)
    noisy = 1 + 0.1 * np.random.default_rng(0).normal(size=30)
    problem = kp.Problem(
        kp.geometry.Box(time={T: (0, 1)}),
        {"decay": U.diff(T) + together(a, b) * U + c * sp.sin(9 * T)},
        {"data": kp.Data(TIMES[:, None], {U: noisy})},
    )
    model = kp.PINNModel(problem, kp.networks.MLP(6, 1), seed=0)
    with pytest.warns(UserWarning) as warned:
        found = model.parameter_deviation()
    assert found["a"] == found["b"] == np.inf and 0 < found["c"] < 10
    texts = [str(w.message) for w in warned if w.category is UserWarning]
    assert ["not determine a and b separately" in text for text in texts].count(
        True
    ) == 1
    assert not any("a is" in text or "b is" in text for text in texts)


def test_refuses_where_there_is_no_deviation():
    model = kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(4, 1))
    with pytest.raises(ValueError, match="no unknown parameters.*keraspinn.Parameter"):
        model.parameter_deviation()
    problem = kp.Problem(
        kp.geometry.Box(time={T: (0, 1)}),
        {"decay": U.diff(T) + RATE * U},
        {"start": kp.Condition(sp.Eq(U, 1), on="initial")},
    )
    model = kp.PINNModel(problem, keras.Sequential([keras.layers.Dense(1)]))
    with pytest.raises(ValueError, match="no Data.*keraspinn.Data"):
        model.parameter_deviation()
