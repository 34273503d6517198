"""Training on an energy: optimizers, files, ensembles, the guard, the verdict."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X = sp.Symbol("x")
U = sp.Function("u")(X)
BAR = kp.geometry.Box({X: (0, 1)})
CLAMP = kp.Condition(U, on={X: 0}, hard=True)
EXACT = X - X**2 / 2


def bar(conditions=None, stiffness=1, **options):
    """-u'' = 1, u(0) = 0, free at x = 1: the energy is -1/6."""
    return kp.Problem(
        BAR,
        energy=kp.integral(stiffness * U.diff(X) ** 2 / 2 - U),
        conditions={"clamp": CLAMP} if conditions is None else conditions,
        reference={U: EXACT},
        **options,
    )


def trained(problem, optimizer, steps, dtype="float64", units=8, **options):
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(problem, kp.networks.MLP(units, 1), seed=0).astype(dtype)
    model.compile(optimizer)
    options = {"batch_size": 256, "verbose": 0, "epochs": 1} | options
    history = model.fit(steps_per_epoch=steps, **options).history
    return model, history


def error(model):
    problem = model.problem
    logs = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
    return logs["u_relative_l2"]


def test_gauss_newton_reaches_the_least_energy():
    model, history = trained(bar(), kp.optimizers.GaussNewton(), 20)
    assert history["energy_loss"][-1] < 0  # scaled to about -1
    assert error(model) < 1e-4
    energy = model.integrate(U.diff(X) ** 2 / 2 - U)
    assert energy == pytest.approx(-1 / 6, rel=1e-6)


def test_gauss_newton_trains_a_field_of_little_energy():
    """Weight w's energy by 1e-9: with one damping for both, w stays 100 % wrong."""
    light = sp.Function("w")(X)
    energy = sum(s * (f.diff(X) ** 2 / 2 - f) for s, f in ((1, U), (1e-9, light)))
    problem = kp.Problem(
        BAR,
        energy=kp.integral(energy),
        conditions={"clamp": kp.Condition([U, light], on={X: 0}, hard=True)},
        reference={U: EXACT, light: EXACT},
    )
    keras.utils.set_random_seed(0)
    network = kp.networks.MLP(8, 1, outputs=2)
    model = kp.PINNModel(problem, network, seed=0).astype("float64")
    model.compile(kp.optimizers.GaussNewton())
    model.fit(batch_size=256, steps_per_epoch=20, verbose=0)
    logs = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
    assert max(logs["u_relative_l2"], logs["w_relative_l2"]) < 1e-2


@pytest.mark.slow
def test_matrix_free_gauss_newton_takes_the_same_steps():
    optimizer = kp.optimizers.GaussNewton(form="free")
    assert error(trained(bar(), optimizer, 20)[0]) < 1e-3


@pytest.mark.slow
def test_a_soft_condition_is_a_penalty():
    """Weight a soft clamp by λ = 1000: the energy allows u(0) = 7.5e-4."""
    held = {"clamp": kp.Condition(U, on={X: 0}, weight=1e3)}
    model, _ = trained(bar(held), kp.optimizers.GaussNewton(), 30)
    assert error(model) < 1e-2


@pytest.mark.slow
def test_adam_and_ssbroyden_take_negative_losses():
    optimizer = keras.optimizers.Adam(1e-2)
    stop = keras.callbacks.EarlyStopping("loss", patience=2)
    options = {"epochs": 3, "callbacks": [stop]}
    model, history = trained(bar(), optimizer, 100, "float32", **options)
    assert history["loss"][-1] < history["loss"][0]
    assert error(model) < 0.1
    model = model.astype("float64")
    model.compile(kp.optimizers.SSBroyden())
    model.fit(steps_per_epoch=60, batch_size=256, verbose=0)
    assert error(model) < 1e-2


@pytest.mark.slow
def test_two_materials():
    """k u' is the same on both sides of the joint: u' jumps there, u does not."""
    stiffness = sp.Piecewise((4, X < sp.Rational(1, 2)), (1, True))
    model, history = trained(
        bar(stiffness=stiffness), kp.optimizers.GaussNewton(), 40, units=12
    )
    assert 1 < history["effective_rank"][-1] < model.count_params()
    energy = model.integrate(stiffness * U.diff(X) ** 2 / 2 - U)
    exact = -sum(
        sp.integrate((1 - X) ** 2 / 2 / k, (X, *ends))
        for k, ends in ((4, (0, 0.5)), (1, (0.5, 1)))
    )
    assert energy == pytest.approx(float(exact), rel=1e-2)


@pytest.mark.slow
def test_saved_energy_model_continues(tmp_path):
    model, _ = trained(bar(), kp.optimizers.GaussNewton(), 5)
    model.save(tmp_path / "bar.keras")
    loaded = keras.saving.load_model(tmp_path / "bar.keras")
    points = np.linspace(0, 1, 7)[:, None]
    np.testing.assert_array_equal(
        loaded.predict(points, verbose=0), model.predict(points, verbose=0)
    )
    loaded.fit(steps_per_epoch=15, batch_size=256, verbose=0)
    assert error(loaded) < 1e-4


@pytest.mark.slow
def test_an_ensemble_trains_on_an_energy():
    ensemble = kp.Ensemble(bar(), kp.networks.MLP(6, 1), size=2, seed=0)
    ensemble.compile(keras.optimizers.Adam(1e-2))
    history = ensemble.fit(steps_per_epoch=50, batch_size=128, verbose=0).history
    assert np.isfinite(history["loss"]).all()


@pytest.mark.slow
def test_an_energy_that_falls_without_bound_ends_the_fit():
    with pytest.warns(UserWarning, match="no condition holds"):
        problem = kp.Problem(
            BAR, energy=kp.integral(U.diff(X) ** 2 / 2 - U), conditions={}
        )
    with pytest.raises(FloatingPointError, match="falls without bound"):
        trained(problem, kp.optimizers.GaussNewton(), 20, epochs=20)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["dense", "free"])
def test_an_energy_of_the_wrong_sign_ends_the_fit(form):
    """−u'²/2 is concave at every point, so that JᵀJ = 0."""
    with pytest.warns(UserWarning, match="has no minimum"):
        problem = bar(stiffness=-1)
    with pytest.raises(FloatingPointError, match="without bound.*Check its signs"):
        trained(problem, kp.optimizers.GaussNewton(form=form), 20)


def test_points_of_an_energy_are_drawn():
    model = kp.PINNModel(bar(), kp.networks.MLP(4, 1))
    model.compile("adam")
    with pytest.raises(ValueError, match="sampled evenly"):
        model.fit(np.linspace(0, 1, 9)[:, None])


@pytest.mark.slow
def test_the_verdict_follows_the_error():
    model, _ = trained(bar(), kp.optimizers.GaussNewton(), 1)
    before, verdict = error(model), kp.diagnostics.verdict(model)
    assert verdict.errors["u"] == pytest.approx(before, rel=0.3)
    assert verdict.trusted == (before < 0.05)
    model.fit(steps_per_epoch=20, batch_size=256, verbose=0)
    assert kp.diagnostics.verdict(model).trusted
    gap = kp.diagnostics.energy_gap(model)
    assert gap.energy == pytest.approx(-1 / 6, rel=1e-5)
    assert 0 <= gap.gap < 1e-6
    with pytest.raises(ValueError, match="no energy"):
        poisson = kp.problems.poisson()
        kp.diagnostics.energy_gap(kp.PINNModel(poisson, kp.networks.MLP(4, 1)))


@pytest.mark.slow
@pytest.mark.parametrize(("weight", "is_trusted"), [(1.0, False), (1000.0, True)])
def test_a_soft_condition_that_an_energy_outweighs_is_an_error(weight, is_trusted):
    base = {"base": kp.Condition(U, on={X: 0}, weight=weight)}
    model, _ = trained(bar(base), kp.optimizers.GaussNewton(), 30)
    verdict = kp.diagnostics.verdict(model)
    assert verdict.trusted == is_trusted
    assert ("outweighs in 'base'" in str(verdict)) != is_trusted
    if is_trusted:
        assert verdict.errors["u"] == pytest.approx(error(model), rel=0.3)


@pytest.mark.slow
def test_an_equation_that_contradicts_an_energy_is_not_trusted():
    problem = bar(equations={"pin": U.diff(X, 2) + 2})
    model, _ = trained(problem, kp.optimizers.GaussNewton(), 20)
    verdict = kp.diagnostics.verdict(model)
    assert not verdict.trusted and verdict.misfits["pin"] > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("zero", [0.0, 300.0])
def test_the_verdict_is_the_same_in_celsius_and_kelvin(zero):
    """u'' = -1, u'(0) = 0, u + u' = zero at x = 1: u = zero + 3/2 - x²/2."""
    convection = kp.integral((U - zero) ** 2 / 2, over={X: 1})
    energy = kp.integral(U.diff(X) ** 2 / 2 - U) + convection
    model, _ = trained(kp.Problem(BAR, energy=energy), kp.optimizers.GaussNewton(), 1)
    points = np.linspace(0, 1, 1001)[:, None]
    exact = zero + 1.5 - points[:, 0] ** 2 / 2
    missed = np.ravel(model.predict(points, verbose=0)) - exact
    share = np.sqrt(np.mean(missed**2)) / (3 * np.std(exact))
    verdict = kp.diagnostics.verdict(model)
    assert verdict.errors["u"] == pytest.approx(share, rel=0.5)
    assert verdict.trusted == (share < 0.05)


@pytest.mark.slow
def test_verdict_measures_a_field_of_little_energy():
    """w holds 1e-9 of the energy, and is wrong where u is nearly right."""
    light = sp.Function("w")(X)
    convection = kp.integral(10 * (U - 293) ** 2 / 2, over={X: 1})
    heat = kp.integral(3 * U.diff(X) ** 2 / 2 - 60 * U) + convection
    energy = heat + kp.integral(light.diff(X) ** 2 / 2 - light / 1000)
    clamp = {"clamp": kp.Condition(light, on={X: 0}, hard=True)}
    keras.utils.set_random_seed(0)
    networks = {U: kp.networks.MLP(8, 1), light: kp.networks.MLP(8, 1)}
    problem = kp.Problem(BAR, energy=energy, conditions=clamp)
    model = kp.PINNModel(problem, networks, seed=0).astype("float64")
    model.compile(kp.optimizers.GaussNewton())
    model.fit(batch_size=256, steps_per_epoch=3, verbose=0)
    points = np.linspace(0, 1, 1001)[:, None]
    x = points[:, 0]
    exact = {U: 309 - 10 * x**2, light: (x - x**2 / 2) / 1000}
    errors = kp.diagnostics.verdict(model).errors
    for field, values in exact.items():
        missed = model.predict_expression(field, points) - values
        size = min(3 * np.std(values), np.sqrt(np.mean(values**2)))
        share = np.sqrt(np.mean(missed**2)) / size
        assert errors[field.func.__name__] == pytest.approx(share, rel=0.5)
