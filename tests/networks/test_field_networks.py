"""Tests of separate networks for fields, and fields of fewer coordinates."""

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
from tensors import FEW_STEPS

X, Y, T = sp.symbols("x y t")
U = sp.Function("u")(X, T)
V = sp.Function("v")(X, T)
K = sp.Function("k")(X)
DOMAIN = kp.geometry.Box({X: (0, 2)}, time={T: (0, 1)})
POINTS = np.random.default_rng(0).random((7, 2)) * [2, 1]


def conducting(conditions=None, fields=(K, U), **options):
    initial = {"initial": kp.Condition(U - X, on="initial")}
    return kp.Problem(
        DOMAIN,
        {"heat": sp.Eq(U.diff(T), (K * U.diff(X)).diff(X))},
        initial | (conditions or {}),
        fields=list(fields),
        **options,
    )


def networks():
    keras.utils.set_random_seed(1)
    return {U: kp.networks.MLP(6, 2), K: kp.networks.ModifiedMLP(5, 2)}


def numpy(network, points):
    return ops.convert_to_numpy(network(points))[:, 0]


@pytest.mark.slow
@pytest.mark.parametrize("scales", [None, "auto"])
@pytest.mark.parametrize("fields", [(K, U), (U, K)])
def test_each_network_receives_the_coordinates_of_its_fields(fields, scales):
    by_field = networks()
    model = kp.PINNModel(conducting(fields=fields, scales=scales), by_field)
    fields_at_points = model.predict_expression([U, K], POINTS)
    assert fields_at_points[0] == pytest.approx(numpy(by_field[U], POINTS), abs=1e-5)
    assert fields_at_points[1] == pytest.approx(
        numpy(by_field[K], POINTS[:, :1]), abs=1e-5
    )
    values = model.predict(POINTS, verbose=0)
    assert values[:, fields.index(K)] == pytest.approx(fields_at_points[1], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("scales", [None, "auto"])
def test_both_engines_agree_for_networks_of_fields(scales):
    model = kp.PINNModel(conducting(scales=scales), networks())
    assert model.derivative_engine == "taylor"
    expressions = [
        [U.diff(X, 2), U.diff(T), K.diff(X), K.diff(X, 2), U.diff(X, T)],
        [U.diff(X) + 2 * U.diff(T) + K.diff(X)],  # a combination of the highest
        [U.diff(X, 2) + U.diff(T, 2) + K],
    ]
    by_taylor = [
        model.predict_expression(requested, POINTS) for requested in expressions
    ]
    model._fields.engine = "jvp"
    model._fields._function.cache_clear()
    by_jvp = [model.predict_expression(requested, POINTS) for requested in expressions]
    for taylor, jvp in zip(by_taylor, by_jvp, strict=True):
        np.testing.assert_allclose(taylor, jvp, rtol=1e-3, atol=1e-4)


def test_keras_networks_receive_unscaled_coordinates():
    seen = []

    class Seeing(keras.layers.Layer):
        def call(self, x):
            seen.append(x)
            return ops.sum(x, axis=-1, keepdims=True)

    with pytest.warns(UserWarning, match="Jacobian-vector"):
        model = kp.PINNModel(
            kp.Problem(
                DOMAIN,
                {"e": U.diff(T) + U.diff(X) + K},
                {"d": kp.Data([[1, 1]], {U: [1]})},
            ),
            {U: Seeing(name="whole"), K: Seeing(name="part")},
        )
    values = model.predict_expression([U, K, U.diff(X) + K.diff(X)], POINTS)
    np.testing.assert_allclose(values[0], POINTS.sum(1), rtol=1e-5)
    np.testing.assert_allclose(values[1], POINTS[:, 0], rtol=1e-5)
    np.testing.assert_allclose(values[2], 2.0, rtol=1e-5)


def test_fields_can_share_a_network_in_any_order():
    keras.utils.set_random_seed(0)
    pair, single = kp.networks.MLP(4, 1, outputs=2), kp.networks.MLP(4, 1)
    problem = kp.Problem(
        DOMAIN,
        {"a": U.diff(X) + V.diff(T), "b": K.diff(X) * U - V},
        {"d": kp.Data([[1, 1]], {U: [1]})},
    )
    model = kp.PINNModel(problem, {(V, U): pair, K: single})
    values = model.predict_expression([V, U], POINTS)
    np.testing.assert_allclose(np.stack(values, -1), pair(POINTS), atol=1e-6)


@pytest.mark.slow
def test_networks_of_fields_are_saved_with_a_hard_condition(tmp_path):
    hard = {"end": kp.Condition(sp.Eq(K, 3.0), on={X: 0}, hard=True)}
    model = kp.PINNModel(conducting(hard, scales="auto"), networks(), seed=2)
    model.compile(keras.optimizers.Adam(1e-3), **FEW_STEPS)
    model.fit(
        steps_per_epoch=3,
        verbose=0,
        callbacks=[kp.callbacks.LearningRateAnnealing(update_freq=1)],
    )
    start = np.array([[0.0, 0.3], [0.0, 0.9]])
    np.testing.assert_array_equal(model.predict_expression(K, start), [3.0, 3.0])
    model.save(tmp_path / "model.keras")
    for again in (
        kp.load_model(tmp_path / "model.keras"),
        model.astype("float64"),
    ):
        np.testing.assert_allclose(
            again.predict(POINTS, verbose=0), model.predict(POINTS, verbose=0), 1e-5
        )
        assert again.derivative_engine == "taylor"


def test_networks_of_fields_are_periodic_in_their_coordinates():
    domain = kp.geometry.Box({X: (0, 2), Y: (0, 1)}, periodic=[X])
    u, k = sp.Function("u")(X, Y), sp.Function("k")(X)
    problem = kp.Problem(
        domain, {"e": k * u.diff(Y) + u.diff(X)}, {"c": kp.Condition(u - 1, on={Y: 0})}
    )
    model = kp.PINNModel(problem, {k: kp.networks.MLP(4, 1), u: kp.networks.MLP(4, 1)})
    ends = np.array([[0.0, 0.3], [2.0, 0.3]])
    for field in (u, k):
        first, last = model.predict_expression(field, ends)
        assert first == pytest.approx(last, abs=1e-6)


def shared():
    one = kp.networks.MLP(3, 1)
    return kp.PINNModel(conducting(), {U: one, K: one})


@pytest.mark.parametrize(
    ("declare", "match"),
    [
        (
            lambda: kp.PINNModel(conducting(), kp.networks.MLP(outputs=2)),
            r"k\(x\) depends on x alone.*\{k: ..., u: ...\}",
        ),
        (lambda: kp.PINNModel(conducting(), {U: kp.networks.MLP()}), "named once"),
        (
            lambda: kp.PINNModel(conducting(), {(U, K): kp.networks.MLP(outputs=2)}),
            "the same coordinates",
        ),
        (
            lambda: kp.PINNModel(
                conducting(), {U: kp.networks.MLP(outputs=2), K: kp.networks.MLP()}
            ),
            r"a column for each of its 1 field",
        ),
        (shared, "needs its own network"),
        (lambda: kp.PINNModel(conducting(), {}), "must be a Keras layer"),
        (lambda: kp.PINNModel(conducting(), {U: "mlp"}), "must be a Keras layer"),
        (
            lambda: conducting({"c": kp.Condition(K - 1, on="initial", hard=True)}),
            "makes k depend on t",
        ),
        (
            lambda: conducting({"c": kp.Condition(sp.Function("k")(X, T), on={X: 0})}),
            "different coordinates in two places",
        ),
        (lambda: kp.Problem(DOMAIN, {"e": K.diff(X)}), "No field depends on t"),
    ],
)
def test_rejects_invalid_networks(declare, match):
    with pytest.raises((TypeError, ValueError), match=match):
        declare()


@pytest.mark.parametrize("standardize", [True, False])
def test_a_network_of_another_problem_keeps_its_units(standardize):
    def slab(length, source):
        u, v = (sp.Function(name)(X) for name in "uv")
        equations = {"u": u.diff(X, 2) + source, "v": v.diff(X, 2) + 1}
        ends = {"ends": kp.Condition([u, v], on="boundary")}
        box = kp.geometry.Box({X: (0, length)})
        return u, v, kp.Problem(box, equations, ends, scales="auto")

    network = kp.networks.MLP(5, 1, standardize=standardize)
    for length, source in ((1, 1), (2, 50)):
        u, v, problem = slab(length, source)
        networks = {u: network, v: kp.networks.MLP(5, 1)}
        model = kp.PINNModel(problem, networks, seed=0)
    points = np.linspace(0, 2, 5)[:, None]
    np.testing.assert_allclose(
        np.ravel(model.predict_expression(u, points)),
        np.ravel(keras.ops.convert_to_numpy(network(points))),
        rtol=1e-4,
        atol=1e-6,
    )
