"""Fields with hard conditions: values, derivatives, training and files."""

import warnings

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y, T = sp.symbols("x y t")
U, V = (sp.Function(name)(X, T) for name in "uv")
STRING = kp.geometry.Box({X: (0, 2)}, time={T: (5, 9)})
EXACT = sp.sin(T - 5) * X + sp.exp(X / 2)
ENDS = {X: 0}, {X: 2}
INITIALLY = [U - EXACT.subs(T, 5), U.diff(T) - EXACT.diff(T).subs(T, 5)]


def wave(scales=None):
    residual = U.diff(T, 2) - U.diff(X, 2) + V.diff(X, T) * U
    walls = {
        f"wall{k}": kp.Condition(U - EXACT.subs(end), end, hard=True)
        for k, end in enumerate(ENDS)
    }
    begin = kp.Condition(INITIALLY, "initial", hard=True)
    soft = kp.Condition(V - 1, {X: 0})
    conditions = walls | {"begin": begin, "soft": soft}
    return kp.Problem(STRING, {"wave": residual}, conditions, scales=scales)


class Unknown(keras.layers.Dense):
    """Dense layer without a Taylor rule."""


def plain(layer=keras.layers.Dense):
    return keras.Sequential([layer(6, "tanh"), keras.layers.Dense(2)])


@pytest.fixture
def float64():
    previous = keras.config.dtype_policy()
    keras.config.set_dtype_policy("float64")
    yield
    keras.config.set_dtype_policy(previous)


@pytest.mark.parametrize("scales", [None, "auto", {U: 7.0, V: 0.3}])
@pytest.mark.parametrize("network", [plain, lambda: kp.networks.MLP(6, 2, outputs=2)])
def test_hard_values_and_velocity_hold_to_round_off(float64, scales, network):
    model = kp.PINNModel(wave(scales), network())
    generator = np.random.default_rng(0)
    for part in ({X: 0.0}, {X: 2.0}, {T: 5.0}):
        points = STRING.lower + generator.random((20, 2)) * 2 * STRING.half
        for symbol, at in part.items():
            points[:, (X, T).index(symbol)] = at
        exact = sp.lambdify((X, T), [EXACT, EXACT.diff(T)])(*points.T)
        values = model.predict(points, verbose=0)[:, 0]
        u, u_t = model.predict_expression([U, U.diff(T)], points)
        np.testing.assert_allclose(values, exact[0], atol=1e-12)
        np.testing.assert_allclose(u, exact[0], atol=1e-12)
        if T in part:
            np.testing.assert_allclose(u_t, exact[1], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("scales", [None, "auto"])
def test_hard_derivatives_agree_between_engines(float64, scales):
    expressions = [U, U.diff(X, 2), U.diff(T, 2), U.diff(X, T), V.diff(X), U.diff(X, 3)]
    points = np.random.default_rng(1).uniform([0, 5], [2, 9], (10, 2))
    values = []
    for layer in (keras.layers.Dense, Unknown):
        network = plain(layer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = kp.PINNModel(wave(scales), network)
        model.network.set_weights(
            [np.cos(np.arange(w.size)).reshape(w.shape) for w in network.get_weights()]
        )
        values.append(model.predict_expression(expressions, points))
    assert model.derivative_engine == "jvp"
    np.testing.assert_allclose(*values, rtol=1e-9, atol=1e-10)


L_SHAPE = [(0, 0), (3, 0), (3, 2), (2, 2), (2, 3), (0, 3)]
SLIT = [(1, 1), (2, 1), (2, 1.1), (1, 1.1)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "domain",
    [
        kp.geometry.Polygon(L_SHAPE, coordinates=(X, Y)),
        kp.geometry.Box({X: (0, 3), Y: (0, 3)}) - kp.geometry.Polygon(SLIT),
    ],
)
def test_hard_derivatives_are_finite_at_reentrant_edges(float64, domain):
    u = sp.Function("u")(X, Y)
    problem = kp.Problem(
        domain,
        {"poisson": u.diff(X, 2) + u.diff(Y, 2) + 1},
        {"walls": kp.Condition(u, on="boundary", hard=True)},
    )
    model = kp.PINNModel(problem, kp.networks.MLP(6, 2), seed=0)
    expressions = [u, u.diff(X), u.diff(Y), u.diff(X, 2), u.diff(Y, 2)]
    corners = np.array([(2, 2), *SLIT], "float64")
    assert np.isfinite(model.predict_expression(expressions, corners)).all()
    edges = domain.boundary[-1]
    uniform = np.random.default_rng(0).random((200, 2))
    points = domain.centre + domain.sample(edges, uniform)
    inwards = points - 1e-6 * np.array(domain.normals(edges, points - domain.centre))
    on, beside = (model.predict_expression(expressions, p) for p in (points, inwards))
    np.testing.assert_allclose(on[0], 0, atol=1e-12)
    # One or two of 200 points are too near to a corner to have a limit.
    assert np.mean(np.isclose(on, beside, rtol=1e-3, atol=1e-3)) > 0.98


def test_hard_combined_derivatives(float64):
    """Carry u_tt − u_xx through the network as one combined derivative."""
    model = kp.PINNModel(wave("auto"), kp.networks.MLP(6, 2, outputs=2))
    term, batch = model.problem.terms["residual"], model._evaluation.sources.draw(0, 0)
    (residuals,) = model._objective.residuals("residual", batch["residual"])
    points = np.array(batch["residual"].coordinates)
    assert model._objective.terms["residual"].program.combinations
    parts = [U.diff(T, 2), U.diff(X, 2), V.diff(X, T), U]
    u_tt, u_xx, v_xt, u = model.predict_expression(parts, points)
    (size,) = model.problem.scales.sizes(term)
    np.testing.assert_allclose(np.array(residuals) * size, u_tt - u_xx + v_xt * u, 1e-8)


@pytest.mark.slow
def test_hard_conditions_are_saved_and_not_logged(tmp_path):
    model = kp.PINNModel(wave("auto"), kp.networks.MLP(4, 1, outputs=2), seed=0)
    model.compile("adam")
    history = model.fit(
        batch_size=8,
        steps_per_epoch=5,
        verbose=0,
        callbacks=[kp.callbacks.LearningRateAnnealing(update_freq=2)],
    ).history
    assert {"soft_loss", "soft_weight", "wave_loss"} <= set(history)
    assert not [name for name in history if "wall" in name or "begin" in name]
    points = np.random.default_rng(2).uniform([0, 5], [2, 9], (7, 2))
    model.save(tmp_path / "model.keras")
    again = kp.load_model(tmp_path / "model.keras")
    expected = model.predict(points, verbose=0)
    np.testing.assert_allclose(again.predict(points, verbose=0), expected, atol=1e-6)
    np.testing.assert_allclose(model(points), expected, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", ["adam", "ssbroyden"])
def test_fits_a_problem_with_hard_conditions_alone(optimizer):
    u = sp.Function("u")(X, Y)
    exact = sp.sin(sp.pi * X) * sp.sinh(Y)
    square = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
    problem = kp.Problem(
        square,
        {"laplace": u.diff(X, 2) + u.diff(Y, 2) - (1 - sp.pi**2) * exact},
        {"boundary": kp.Condition(sp.Eq(u, exact), on="boundary", hard=True)},
        reference={u: X * Y},
    )
    # The declared values extend into the domain, so that g is the solution here;
    # tabulated on the faces, they do not.
    faces = [{Y: 1}, {Y: 0}, {X: 0}, {X: 1}]
    conditions = {
        f"c{k}": kp.Condition(sp.Eq(u, exact.subs(face)), on=face, hard=True)
        for k, face in enumerate(faces)
    }
    problem = kp.Problem(
        square, dict(problem.equations), conditions, reference={u: exact}
    )
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(problem, kp.networks.MLP(12, 2), seed=0)
    steps = 600 if optimizer == "adam" else 60
    method = (
        keras.optimizers.Adam(1e-2)
        if optimizer == "adam"
        else kp.optimizers.SSBroyden()
    )
    model.compile(method)
    model.fit(batch_size=200, steps_per_epoch=steps, verbose=0)
    logs = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
    assert logs["u_relative_l2"] < (1e-2 if optimizer == "adam" else 2e-3)
