"""Kinds of energies: nonlinear ones, constraints by penalty, data, interfaces."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y = sp.symbols("x y")
U = sp.Function("u")(X)
W = sp.Function("w")(X, Y)
BAR = kp.geometry.Box({X: (0, 1)})
SQUARE = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
ENDS = {"ends": kp.Condition(U, on="boundary", hard=True)}
SLOPE = U.diff(X)


def trained(problem, steps, units=10, depth=1, **options):
    keras.utils.set_random_seed(0)
    network = kp.networks.MLP(units, depth)
    model = kp.PINNModel(problem, network, seed=0).astype("float64")
    model.compile(kp.optimizers.GaussNewton())
    model.fit(steps_per_epoch=steps, verbose=0, **({"batch_size": 512} | options))
    return model


def error(model):
    logs = model.evaluate(*model.problem.test_data(), return_dict=True, verbose=0)
    return next(v for k, v in logs.items() if k.endswith("_relative_l2"))


@pytest.mark.slow
def test_p_laplacian():
    """(|u'|² u')' = -1 on (0, 1): u = 3/4 (1/2)^(4/3) (1 - |2x - 1|^(4/3))."""
    exact = sp.Rational(3, 4) * (
        sp.Rational(1, 2) ** sp.Rational(4, 3)
        - sp.Abs(X - sp.Rational(1, 2)) ** sp.Rational(4, 3)
    )
    energy = kp.integral(SLOPE**4 / 4 - U)
    problem = kp.Problem(BAR, energy=energy, conditions=ENDS, reference={U: exact})
    assert error(trained(problem, 40)) < 5e-3


@pytest.mark.slow
def test_allen_cahn_profile():
    """ε u'^2/2 + (u² - 1)²/4ε between -1 and 1: tanh(x / √2 ε), nearly."""
    width = 0.2
    domain = kp.geometry.Box({X: (-1, 1)})
    density = width * SLOPE**2 / 2 + (U**2 - 1) ** 2 / (4 * width)
    ends = {"ends": kp.Condition(sp.Eq(U, X), on="boundary", hard=True)}
    model = trained(
        kp.Problem(domain, energy=kp.integral(density), conditions=ends), 40
    )
    points = np.linspace(-0.6, 0.6, 9)[:, None]
    exact = np.tanh(points / np.sqrt(2) / width)
    np.testing.assert_allclose(model.predict(points, verbose=0), exact, atol=0.01)


@pytest.mark.slow
def test_minimal_surface():
    """Scherk's surface: the area ∫ √(1 + |∇w|²) between w = log(cos y / cos x)."""
    area = sp.sqrt(1 + W.diff(X) ** 2 + W.diff(Y) ** 2)
    exact = sp.log(sp.cos(Y) / sp.cos(X))
    rim = {"rim": kp.Condition(sp.Eq(W, exact), on="boundary", hard=True)}
    problem = kp.Problem(
        SQUARE, energy=kp.integral(area), conditions=rim, reference={W: exact}
    )
    assert error(trained(problem, 10)) < 1e-2


@pytest.mark.slow
def test_obstacle_by_a_penalty():
    """A string under a load of 8 rests on u = -1/2: contact from x = √2/4 on."""
    penalty = 1e4 * sp.Max(-sp.Rational(1, 2) - U, 0) ** 2 / 2
    energy = kp.integral(SLOPE**2 / 2 + 8 * U + penalty)
    model = trained(kp.Problem(BAR, energy=energy, conditions=ENDS), 60, 15)
    points = np.array([[0.1], [0.25], [0.5]])
    start = np.sqrt(2) / 4
    exact = -0.5 + 4 * np.maximum(start - points, 0) ** 2
    np.testing.assert_allclose(model.predict(points, verbose=0), exact, atol=0.01)


@pytest.mark.slow
def test_ginzburg_landau_energy_decreases():
    """A pair of fields in the double well (1 - |ψ|²)², with a winding on the rim."""
    a, b = (sp.Function(name)(X, Y) for name in "ab")
    disk = kp.geometry.Disk((0, 0), 1, coordinates=(X, Y))
    stored = sum(f.diff(s) ** 2 for f in (a, b) for s in (X, Y)) / 2
    density = stored + 5 * (1 - a**2 - b**2) ** 2
    wind = {"rim": kp.Condition([a - X, b - Y], on="boundary", hard=True)}
    problem = kp.Problem(disk, energy=kp.integral(density), conditions=wind)
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(problem, kp.networks.MLP(8, 1, outputs=2), seed=0)
    model = model.astype("float64")
    model.compile(kp.optimizers.GaussNewton())
    values = []
    for _ in range(3):
        model.fit(steps_per_epoch=4, batch_size=512, verbose=0)
        values.append(model.integrate(density))
    assert values[0] > values[1] > values[2] > 0
    centre = model.predict(np.zeros((1, 2)), verbose=0)
    assert abs(centre).max() < 0.05  # a vortex at the centre, by symmetry


@pytest.mark.slow
def test_data_beside_an_energy_move_the_field():
    """A spring of weight λ between u(1/2) and a measurement."""
    readings = kp.Data([[0.5]], {U: [1.0]}, weight=100.0)
    problem = kp.Problem(
        BAR, energy=kp.integral(SLOPE**2 / 2), conditions=ENDS | {"data": readings}
    )
    free = trained(problem, 60, 15)
    at = free.predict(np.array([[0.5]]), verbose=0).item()
    assert 0.9 < at < 1


@pytest.mark.slow
def test_an_unknown_parameter_in_a_condition_beside_an_energy():
    """Leave one end free, u(1) = c: beyond the measurement u is constant."""
    c = kp.Parameter("c", initial=0.5)
    held = {
        "left": kp.Condition(U, on={X: 0}, hard=True),
        "right": kp.Condition(sp.Eq(U, c), on={X: 1}, weight=100.0),
        "data": kp.Data([[0.5]], {U: [1.0]}, weight=100.0),
    }
    problem = kp.Problem(BAR, energy=kp.integral(1e-3 * SLOPE**2 / 2), conditions=held)
    model = trained(problem, 40)
    assert float(model.coefficients["c"]) == pytest.approx(1, rel=0.03)


@pytest.mark.slow
def test_gradients_jump_at_an_interface():
    """Slab 400 | 1.38: the field has a kink that one smooth network rounds."""
    half = sp.Rational(1, 2)
    k = sp.Piecewise((400, X < half), (sp.Rational(138, 100), True))
    flux = 1 / (half / 400 + half / sp.Rational(138, 100))
    exact = sp.Piecewise(
        (1 - flux * X / 400, X < half), (flux * (1 - X) / sp.Rational(138, 100), True)
    )
    problem = kp.Problem(
        BAR,
        energy=kp.integral(k * SLOPE**2 / 2),
        conditions={
            "hot": kp.Condition(sp.Eq(U, 1), on={X: 0}, hard=True),
            "cold": kp.Condition(U, on={X: 1}, hard=True),
        },
        reference={U: exact},
    )
    assert error(trained(problem, 40, batch_size=2048)) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", ["Adam", "GaussNewton"])
def test_resume_is_bit_exact(optimizer, tmp_path):
    """Save after half of the steps, load, and go on."""
    k = sp.Piecewise((4, X < sp.Rational(1, 2)), (1, True))

    def new():
        problem = kp.Problem(
            BAR,
            energy=kp.integral(k * SLOPE**2 / 2 - U),
            conditions={"clamp": kp.Condition(U, on={X: 0}, hard=True)},
        )
        keras.utils.set_random_seed(0)
        model = kp.PINNModel(problem, kp.networks.MLP(6, 1), seed=0).astype("float64")
        kind = keras.optimizers.Adam if optimizer == "Adam" else kp.optimizers
        model.compile(kind(1e-2) if optimizer == "Adam" else kind.GaussNewton())
        return model

    options = {"steps_per_epoch": 5, "batch_size": 128, "verbose": 0}
    uninterrupted = new()
    uninterrupted.fit(epochs=2, **options)
    first = new()
    first.fit(**options)
    first.save(tmp_path / "half.keras")
    resumed = keras.saving.load_model(tmp_path / "half.keras")
    resumed.fit(epochs=2, initial_epoch=1, **options)
    for expected, actual in zip(uninterrupted.weights, resumed.weights, strict=True):
        np.testing.assert_array_equal(expected.numpy(), actual.numpy())
