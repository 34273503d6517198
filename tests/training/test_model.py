import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
import tensors

X, Y = sp.symbols("x y")
U = sp.Function("u")(X, Y)
EXACT = sp.sin(sp.pi * X) * Y


def poisson(**changes):
    operator = U.diff(X, 2) + U.diff(Y, 2)
    arguments = {
        "domain": kp.geometry.Box({X: (0, 1), Y: (0, 1)}),
        "equations": {"poisson": sp.Eq(operator, operator.subs(U, EXACT).doit())},
        "conditions": {"boundary": kp.Condition(sp.Eq(U, EXACT), on="boundary")},
        "reference": {U: EXACT},
        "scales": None,
    }
    return kp.Problem(**(arguments | changes))


def compiled(problem=None, network=None, seed=1, **options):
    keras.utils.set_random_seed(0)
    network = kp.networks.MLP(8, 2) if network is None else network
    model = kp.PINNModel(problem or poisson(), network, seed=seed)
    model.compile(keras.optimizers.Adam(1e-2), **({"jit_compile": False} | options))
    return model


RUN = {"batch_size": 16, "steps_per_epoch": 20, "verbose": 0}


def weights_of(model):
    return np.concatenate([v.numpy().ravel() for v in model.trainable_variables])


def test_error_falls_and_logs_are_named():
    model = compiled(network=kp.networks.ModifiedMLP(16, 2), jit_compile=True)
    points, values = model.problem.test_data(20)
    run = {"batch_size": 32, "steps_per_epoch": 250, "epochs": 4, "verbose": 0}
    annealing = kp.callbacks.LearningRateAnnealing()
    history = model.fit(
        **run, callbacks=[annealing], validation_data=(points, values)
    ).history
    assert set(history) == {
        "loss",
        "residual_loss",
        "poisson_loss",
        "boundary_loss",
        "boundary_weight",
        "val_loss",
        "val_residual_loss",
        "val_poisson_loss",
        "val_boundary_loss",
        "val_u_relative_l2",
    }
    assert all(len(column) == 4 for column in history.values())
    assert history["residual_loss"][-1] < 0.1 * history["residual_loss"][0]
    assert history["val_u_relative_l2"][-1] < 0.1
    assert model.optimizer.iterations.numpy() == 1000


def test_evaluate_agrees_with_numpy():
    model = compiled()
    points, values = model.problem.test_data(13)
    logs = model.evaluate(points, values, return_dict=True, verbose=0, batch_size=50)
    predicted = model.predict(points, verbose=0)[:, 0]
    error = np.linalg.norm(predicted - values["u"]) / np.linalg.norm(values["u"])
    assert logs["u_relative_l2"] == pytest.approx(error, rel=1e-5)
    residual = model.predict_expression(
        model.problem.equations["poisson"], points.tolist()
    )
    assert logs["residual_loss"] == pytest.approx(np.mean(residual**2), rel=1e-4)
    assert logs["loss"] == pytest.approx(
        logs["residual_loss"] + logs["boundary_loss"], rel=1e-5
    )
    assert logs == model.evaluate(
        points, values, return_dict=True, verbose=0, batch_size=50
    )
    assert model.evaluate(points, verbose=0)[0] == pytest.approx(logs["loss"], rel=1e-5)


def test_predict_expression_holds_for_a_known_function():
    network = keras.Sequential([keras.layers.Dense(1, use_bias=False)])
    domain = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
    model = kp.PINNModel(kp.Problem(domain, {"e": U.diff(X) + U.diff(Y)}), network)
    network.layers[0].kernel.assign([[2.0], [3.0]])  # u = 2x + 3y
    points = np.random.default_rng(0).uniform(size=(9000, 2))
    x, y = points.T
    expressions = [U.diff(X), X * U + U.diff(Y) ** 2, U.diff(X, Y)]
    slope, mixed, zero = model.predict_expression(expressions, points)
    np.testing.assert_allclose(slope, 2 * np.ones(9000), rtol=1e-6)
    np.testing.assert_allclose(mixed, x * (2 * x + 3 * y) + 9, rtol=1e-5)
    np.testing.assert_array_equal(zero, np.zeros(9000))


@pytest.mark.slow
def test_both_engines_train_alike():
    class Unknown(keras.layers.Dense):
        """A Dense layer the Taylor engine does not know."""

    networks = [
        keras.Sequential([layer(8, activation="tanh"), keras.layers.Dense(1)])
        for layer in (keras.layers.Dense, Unknown)
    ]
    models = [compiled(network=network) for network in networks]
    assert [m.derivative_engine for m in models] == ["taylor", "jvp"]
    models[1].set_weights(models[0].get_weights())
    losses = [m.fit(**RUN).history["loss"] for m in models]
    np.testing.assert_allclose(*losses, rtol=1e-4)


@pytest.mark.slow
def test_execution_length_does_not_change_the_numbers():
    reference = None
    for steps in (1, 7, 20, "auto"):
        model = compiled(steps_per_execution=steps)
        model.fit(**RUN, epochs=2)
        assert model.optimizer.iterations.numpy() == 40
        reference = weights_of(model) if reference is None else reference
        np.testing.assert_allclose(weights_of(model), reference, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"run_eagerly": True}, {"jit_compile": True}])
def test_eager_and_compiled_steps_agree(options):
    first, second = compiled(), compiled(**options)
    first.fit(**RUN)
    second.fit(**RUN)
    np.testing.assert_allclose(weights_of(first), weights_of(second), rtol=2e-3)


def test_same_seed_same_numbers():
    models = [compiled(seed=seed) for seed in (5, 5, 6)]
    for model in models:
        model.fit(**RUN)
    first, second, other = map(weights_of, models)
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - other).max() > 1e-4


def test_set_random_seed_determines_the_weights():
    seeds = set()
    for _ in range(2):
        keras.utils.set_random_seed(3)
        seeds.add(kp.PINNModel(poisson(), kp.networks.MLP(2, 1)).seed)
    assert len(seeds) == 1
    assert kp.PINNModel(poisson(), kp.networks.MLP(2, 1)).seed not in seeds


POINTS = np.random.default_rng(0).uniform(size=(40, 2)).astype("float32")


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return {"residual": POINTS[index * 10 : index * 10 + 10]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("x", "steps"),
    [
        (POINTS, 20),
        ({"residual": POINTS, "boundary": POINTS * [1, 0]}, 20),
        (tensors.stream(POINTS, 10), 4),
        (Batches(), 4),
    ],
)
def test_fit_accepts_points(x, steps):
    model = compiled()
    is_array = isinstance(x, (np.ndarray, dict))
    model.fit(x, epochs=2, verbose=0, steps_per_epoch=20 if is_array else None)
    assert model.optimizer.iterations.numpy() == 2 * steps


@pytest.mark.parametrize(
    ("rest", "refused"), [((None, np.ones(10)), "sample_weight"), ((np.ones(10),), "y")]
)
def test_fit_refuses_targets_and_weights_in_batches(rest, refused):
    class Faulty(Batches):
        def __getitem__(self, index):
            return (POINTS[:10], *rest)

    with pytest.raises(ValueError, match=f"`fit` takes no `{refused}`"):
        compiled().fit(Faulty(), verbose=0)


@pytest.mark.slow
def test_fit_uses_held_points():
    """Train on all held points: the seed makes no difference."""
    held = {"residual": POINTS, "boundary": np.array([[0.0, 0.5], [1.0, 0.2]])}
    models = [compiled(seed=seed) for seed in (1, 2)]
    for model in models:
        model.fit(held, steps_per_epoch=10, verbose=0)
    np.testing.assert_array_equal(*map(weights_of, models))


@pytest.mark.slow
def test_systems_and_unknown_coefficients():
    v = sp.Function("v")(X, Y)
    c = kp.Parameter("c", initial=1.0)
    points = np.random.default_rng(1).uniform(size=(30, 2))
    problem = poisson(
        equations={"a": sp.Eq(U.diff(X), c), "b": sp.Eq(v, U)},
        conditions={"sensors": kp.Data(points, {U: 3 * points[:, 0]})},
        reference={U: 3 * X, v: 3 * X},
    )
    model = compiled(problem, kp.networks.MLP(8, 1, outputs=2))
    history = model.fit(batch_size=32, steps_per_epoch=500, epochs=6, verbose=0)
    assert history.history["c"][-1] == pytest.approx(3.0, abs=0.1)
    assert model.coefficients["c"].numpy() == pytest.approx(history.history["c"][-1])
    logs = model.evaluate(*problem.test_data(10), return_dict=True, verbose=0)
    assert logs["u_relative_l2"] < 0.1 and logs["v_relative_l2"] < 0.2


@pytest.mark.slow
def test_regularizers_and_frozen_layers():
    plain, penal = (
        compiled(
            network=keras.Sequential(
                [
                    keras.layers.Dense(4, "tanh", kernel_regularizer=penalty),
                    keras.layers.Dense(1),
                ]
            )
        )
        for penalty in (None, keras.regularizers.L2(10.0))
    )
    penal.set_weights(plain.get_weights())
    for model in (plain, penal):
        model.fit(**RUN, epochs=5)
    norms = [np.abs(m.network.layers[0].kernel.numpy()).max() for m in (plain, penal)]
    assert norms[1] < 0.7 * norms[0]

    model = compiled()
    model.network.hidden[0].trainable = False
    model.compile(keras.optimizers.Adam(1e-2), jit_compile=False)
    frozen = model.network.hidden[0].kernel.numpy()
    moving = model.network.hidden[1].kernel.numpy()
    model.fit(**RUN)
    np.testing.assert_array_equal(model.network.hidden[0].kernel.numpy(), frozen)
    assert np.abs(model.network.hidden[1].kernel.numpy() - moving).max() > 0


def test_rejects_a_number_assigned_to_a_loss_weight():
    """Reject a number, which steps would ignore: they read the variable."""
    model = compiled(poisson())
    with pytest.raises(TypeError, match="does not support item assignment"):
        model.loss_weights["boundary"] = 3.0


@pytest.mark.parametrize("gated", [False, True])
def test_save_and_resume(tmp_path, gated):
    c = kp.Parameter("c", initial=0.5)
    problem = poisson(equations={"e": sp.Eq(U.diff(X, 2) + c * U, 0)})
    network = kp.networks.ModifiedMLP if gated else kp.networks.MLP
    model = compiled(problem, network(8, 2), steps_per_execution=5)
    model.fit(**RUN, callbacks=[kp.callbacks.LearningRateAnnealing()])
    model.save(tmp_path / "m.keras")
    copy = keras.models.load_model(tmp_path / "m.keras")
    np.testing.assert_array_equal(
        copy.predict(POINTS, verbose=0), model.predict(POINTS, verbose=0)
    )
    assert copy.problem.get_config() == model.problem.get_config()
    assert (
        copy.loss_weights["boundary"].numpy() == model.loss_weights["boundary"].numpy()
    )
    assert copy.coefficients["c"].numpy() == model.coefficients["c"].numpy()
    assert copy.compiled_with == model.compiled_with
    assert copy.optimizer.iterations.numpy() == 20
    for trained in (model, copy):
        trained.fit(**RUN, callbacks=[kp.callbacks.LearningRateAnnealing()])
    np.testing.assert_allclose(
        weights_of(copy), weights_of(model), rtol=1e-4, atol=1e-6
    )


def test_subclass_may_override_train_step():
    class Counting(kp.PINNModel):
        calls = 0

        def train_step(self, data):
            type(self).calls += 1
            return super().train_step(data)

    model = Counting(poisson(), kp.networks.MLP(4, 1), seed=0)
    model.compile("adam", run_eagerly=True)
    model.fit(batch_size=4, steps_per_epoch=3, verbose=0)
    assert Counting.calls == 3


@pytest.mark.slow
def test_held_points_of_an_earlier_fit_are_forgotten():
    """Compile again after the array of held points has changed."""
    model = compiled()
    model.compile(keras.optimizers.SGD(0.0), jit_compile=False)
    points = np.full((300, 2), 0.25, "float32")
    losses = []
    for value in (0.25, 0.5, 0.75):
        points[:] = value
        history = model.fit(points, steps_per_epoch=1, verbose=0).history
        losses.append(history["residual_loss"][0])
    assert len(set(losses)) == 3
    expected = model.evaluate(points, verbose=0, return_dict=True)["residual_loss"]
    assert losses[-1] == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
def test_train_on_batch_is_one_step():
    model = compiled()
    model.fit(**RUN)
    model.train_on_batch(POINTS)
    assert model.optimizer.iterations.numpy() == 21


def test_subclassed_keras_model_is_a_network(tmp_path):
    @keras.saving.register_keras_serializable("tests")
    class PlainSubclass(keras.Model):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.first = keras.layers.Dense(8, "tanh")
            self.last = keras.layers.Dense(1)

        def call(self, x):
            return self.last(self.first(x))

    model = compiled(network=PlainSubclass())
    assert model.derivative_engine == "jvp"
    model.fit(**RUN)
    model.save(tmp_path / "m.keras")
    copy = keras.models.load_model(tmp_path / "m.keras")
    np.testing.assert_array_equal(
        copy.predict(POINTS, verbose=0), model.predict(POINTS, verbose=0)
    )


def functional():
    inputs = keras.Input((2,))
    left = keras.layers.Dense(8, "tanh")(inputs)
    right = keras.layers.Dense(8, "tanh")(inputs)
    outputs = keras.layers.Dense(1)(keras.layers.Multiply()([left, right]))
    return keras.Model(inputs, outputs)


@pytest.mark.slow
@pytest.mark.parametrize(
    "network",
    [
        functional,
        lambda: keras.Sequential(
            [keras.layers.Dense(4, "gelu"), keras.layers.Dense(1)]
        ),
    ],
)
def test_keras_networks_save_and_load(tmp_path, network):
    model = compiled(network=network())
    assert model.derivative_engine == "taylor"
    model.fit(**RUN)
    model.save(tmp_path / "m.keras")
    copy = keras.models.load_model(tmp_path / "m.keras")
    for trained in (model, copy):
        trained.fit(**RUN)
    np.testing.assert_allclose(
        weights_of(copy), weights_of(model), rtol=1e-4, atol=1e-6
    )


def test_loss_includes_regularizers_in_fit_and_evaluate():
    layers = [
        keras.layers.Dense(4, "tanh", kernel_regularizer=keras.regularizers.L2(5.0)),
        keras.layers.Dense(1),
    ]
    model = compiled(network=keras.Sequential(layers))
    model.compile(keras.optimizers.SGD(0.0), jit_compile=False)
    model.predict(POINTS, verbose=0)
    norm = 5.0 * np.sum(layers[0].kernel.numpy() ** 2)
    logs = model.fit(**RUN).history
    terms = logs["residual_loss"][0] + logs["boundary_loss"][0]
    assert logs["loss"][0] == pytest.approx(terms + norm, rel=1e-5)
    logs = model.evaluate(POINTS, verbose=0, return_dict=True)
    terms = logs["residual_loss"] + logs["boundary_loss"]
    assert logs["loss"] == pytest.approx(terms + norm, rel=1e-5)


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: kp.PINNModel(U, kp.networks.MLP()), TypeError, "keraspinn.Problem"),
        (lambda: kp.PINNModel(poisson(), "mlp"), TypeError, "Keras layer or model"),
        (
            lambda: kp.PINNModel(poisson(), kp.networks.MLP(outputs=2)),
            ValueError,
            r"each field \['u'\]. Received a network with 2 output.*outputs=1",
        ),
        (lambda: compiled().fit(y=POINTS), ValueError, "takes no `y`"),
        (
            lambda: kp.PINNModel(poisson(), kp.networks.MLP()).fit(),
            ValueError,
            "before `fit`",
        ),
        (
            lambda: compiled().fit(steps_per_epoch=-1),
            ValueError,
            "or None. Received: -1",
        ),
        (lambda: compiled().fit(steps_per_epoch=0), ValueError, "or None. Received: 0"),
        (lambda: compiled().fit({"top": POINTS}), ValueError, "no term 'top'"),
        (lambda: compiled().fit(batch_size=0), ValueError, "positive integer"),
        (lambda: compiled(loss="mse"), ValueError, r"Received: \['loss'\]"),
        (lambda: compiled(metrics=["mae"]), ValueError, "from the problem's reference"),
        (lambda: compiled(steps_per_execution=0), ValueError, "Received: 0"),
        (
            lambda: compiled().evaluate(POINTS, {"v": POINTS[:, 0]}),
            ValueError,
            r"the keys \['u'\]",
        ),
        (
            lambda: compiled().evaluate(POINTS, POINTS[:, 0]),
            ValueError,
            "must be a dict",
        ),
        (
            lambda: compiled().evaluate(POINTS, {"u": POINTS}),
            ValueError,
            r"must have shape \(40,\)",
        ),
        (lambda: compiled().evaluate(POINTS[:, :1]), ValueError, r"shape \(n, 2\)"),
        (lambda: compiled().predict(POINTS[:, :1]), ValueError, r"shape \(n, 2\)"),
        (
            lambda: compiled().predict_expression(sp.Function("w")(X, Y), POINTS),
            ValueError,
            r"names \['w'\], which are no fields",
        ),
        (
            lambda: compiled().predict_expression(sp.Symbol("k") * U, POINTS),
            ValueError,
            "k",
        ),
        (
            lambda: compiled().predict_expression(U, POINTS * np.nan),
            ValueError,
            "must be finite",
        ),
    ],
)
def test_model_rejects_invalid_arguments(build, error, message):
    with pytest.raises(error, match=f"(?s){message}"):
        build()


@pytest.mark.slow
def test_names_of_fields_may_be_any_text(assert_resume_is_bit_exact, tmp_path):
    x = sp.Symbol("x")
    u = sp.Function("u")(x)
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {"u″ = 0, all along": u.diff(x, 2)},
        {
            "left wall": kp.Condition(u, on={x: 0}),
            "left_wall": kp.Condition(u.diff(x) - 1, on={x: 0}),
            "a/b: Wärme": kp.Data([[0.5]], {u: [0.5]}),
        },
    )

    def make():
        return kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=0)

    assert_resume_is_bit_exact(
        make, callbacks=lambda: [kp.callbacks.LearningRateAnnealing()]
    )
    model = make()
    model.compile(jit_compile=True)
    events = kp.callbacks.GradientHistogram(1)
    history = model.fit(steps_per_epoch=2, verbose=0, callbacks=[events]).history
    assert history.keys() >= {"left wall_weight", "a/b: Wärme_loss"}
    assert {"left wall", "a/b: Wärme"} <= kp.diagnostics.verdict(model).misfits.keys()
    ensemble = kp.Ensemble(problem, kp.networks.MLP(4, 1), size=2, seed=0)
    ensemble.compile()
    ensemble.fit(steps_per_epoch=2, verbose=0)
    ensemble.save(tmp_path / "ensemble.keras")
    again = kp.load_model(tmp_path / "ensemble.keras").problem
    assert list(again.terms) == list(problem.terms)


@pytest.mark.parametrize("dtype", ["int32", "bool"])
@pytest.mark.parametrize("in_tensor", [False, True])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_integer_points_in_a_call_are_cast(dtype, in_tensor, precision):
    network = kp.networks.MLP(4, 1, dtype=precision)
    model = kp.PINNModel(poisson(scales="auto"), network, seed=0, dtype=precision)
    corners = np.array([[0, 0], [1, 0], [1, 1]], dtype)
    points = keras.ops.convert_to_tensor(corners) if in_tensor else corners
    exact = model(corners.astype(precision))
    np.testing.assert_allclose(model(points), exact, rtol=1e-6)
    ensemble = kp.Ensemble(model.problem, network, size=2, seed=0, dtype=precision)
    exact = ensemble(corners.astype(precision))
    np.testing.assert_allclose(ensemble(points), exact, rtol=1e-6)
