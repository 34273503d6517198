"""Ensembles, whose members equal models trained alone."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

RUN = {"batch_size": 16, "steps_per_epoch": 6, "epochs": 2, "verbose": 0}
SEED, SIZE = 5, 3

x = sp.Symbol("x")
u = sp.Function("u")(x)


def network():
    return kp.networks.MLP(6, 1)


def compiled(model, optimizer=None, **options):
    options = {"steps_per_execution": 4, "jit_compile": False} | options
    model.compile(optimizer or keras.optimizers.Adam(1e-2), **options)
    return model


def ensemble(problem=None, make=network, size=SIZE, optimizer=None, **options):
    problem = problem or kp.problems.poisson(2)
    made = kp.Ensemble(problem, make(), size=size, seed=SEED)
    return compiled(made, optimizer, **options)


def alone(number, problem=None, make=network, optimizer=None, **options):
    """Train the model that a member of the ensemble must equal."""
    keras.utils.set_random_seed(SEED + number)
    model = kp.PINNModel(problem or kp.problems.poisson(2), make(), seed=SEED + number)
    return compiled(model, optimizer, **options)


def fit(model, *callbacks, x=None, **options):
    annealing = kp.callbacks.LearningRateAnnealing(update_freq=3)
    return model.fit(x, **RUN | options, callbacks=[annealing, *callbacks])


def arrays(model):
    variables = [*model.variables, *model.optimizer.variables]
    return [keras.ops.convert_to_numpy(variable) for variable in variables]


def check_alike(model, other, rtol=1e-5):
    for one, two in zip(arrays(model), arrays(other), strict=True):
        np.testing.assert_allclose(one, two, rtol=rtol, atol=rtol * abs(two).max())


@pytest.fixture(scope="module")
def trained():
    """Ensemble after two epochs, its history, and a member trained alone."""
    made = ensemble(jit_compile=True)
    history = fit(made).history
    model = alone(1, jit_compile=True)
    return made, history, model, fit(model).history


@pytest.mark.slow
def test_member_equals_the_model_trained_alone(trained):
    made, history, model, expected = trained
    member = made.member(1)
    assert isinstance(member, kp.PINNModel) and member.seed == SEED + 1
    assert member.steps_taken == model.steps_taken == 12
    check_alike(member, model)
    for name, values in expected.items():
        losses = [epoch[1] for epoch in history[f"{name}_of_members"]]
        np.testing.assert_allclose(losses, values, rtol=1e-5, err_msg=name)
        means = np.mean(history[f"{name}_of_members"], axis=1)
        np.testing.assert_allclose(history[name], means, rtol=1e-5, err_msg=name)
    assert len(set(history["boundary_weight_of_members"][-1])) == SIZE
    points, values = made.problem.test_data(20)
    logs = made.evaluate(points, values, verbose=0)
    for name, value in model.evaluate(
        points, values, verbose=0, return_dict=True
    ).items():
        assert logs[name].members[1] == pytest.approx(value, rel=1e-5), name
        assert logs[name].mean == pytest.approx(logs[name].members.mean())
        assert logs[name].deviation == pytest.approx(logs[name].members.std(ddof=1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "steps"), [(keras.optimizers.Adam, 40), (kp.optimizers.SSBroyden, 20)]
)
def test_member_equals_that_model_to_round_off(make, steps):
    models = [
        compiled(made.astype("float64"), make()) for made in (ensemble(), alone(1))
    ]
    history, expected = (
        fit(model, batch_size=64, steps_per_epoch=steps // 2).history
        for model in models
    )
    member, model = models[0].member(1), models[1]
    assert model.steps_taken == steps
    # Cancellation in an optimizer leaves fewer equal digits.
    for one, two in zip(member.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-10 * abs(two).max())
    losses = [epoch[1] for epoch in history["loss_of_members"]]
    np.testing.assert_allclose(losses, expected["loss"], rtol=1e-10)


@pytest.mark.slow
def test_member_continues_as_the_model(trained):
    made, _, model, _ = trained
    member = made.member(1)
    fit(member)
    fit(model)
    check_alike(member, model)
    assert made.member(1).steps_taken == 12  # a copy went on


@pytest.mark.parametrize(
    "make",
    [
        kp.networks.MLP,
        lambda: kp.networks.PirateNet(8, 2),
        lambda: keras.Sequential([kp.layers.FourierFeatures(4), keras.layers.Dense(1)]),
    ],
)
def test_members_have_initial_weights_of_models(make):
    template = make()
    made = kp.Ensemble(kp.problems.poisson(2), template, size=2, seed=SEED)
    for number in range(2):
        keras.utils.set_random_seed(SEED + number)
        expected = kp.PINNModel(kp.problems.poisson(2), make(), seed=0).get_weights()
        weights = made.member(number).get_weights()
        for one, two in zip(weights, expected, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.slow
def test_mean_and_deviation_of_the_members(trained):
    made = trained[0]
    points = np.linspace(0, 1, 7)[:, None]
    members = [made.member(k) for k in range(SIZE)]
    fields = np.stack([m.predict(points, verbose=0) for m in members])
    np.testing.assert_allclose(made.predict_members(points), fields, rtol=1e-5)
    np.testing.assert_allclose(made.predict(points), fields.mean(0), rtol=1e-5)
    values = made.predict_on_batch(points)
    np.testing.assert_allclose(values, fields.mean(0), rtol=1e-5)
    deviation = made.predict_deviation(points)
    np.testing.assert_allclose(deviation, fields.std(0, ddof=1), rtol=1e-3)
    field, coordinate = made.problem.fields[0], made.problem.coordinates[0]
    slope = field.diff(coordinate)
    slopes = np.stack([m.predict_expression(slope, points) for m in members])
    values = made.predict_expression(slope, points)
    np.testing.assert_allclose(values, slopes.mean(0), rtol=1e-5)
    values = made.predict_deviation(points, slope)
    np.testing.assert_allclose(values, slopes.std(0, ddof=1), rtol=1e-3)
    called = keras.ops.convert_to_numpy(made(points.astype("float32")))
    np.testing.assert_allclose(called, fields.mean(0), rtol=1e-4, atol=1e-6)


def state(made):
    return [
        keras.ops.convert_to_numpy(v).tobytes() for v in made.trainer.state_variables
    ]


@pytest.mark.slow
def test_resume_from_file_is_bit_exact(tmp_path):
    made = ensemble()
    fit(made)
    made.save(tmp_path / "made.keras")
    loaded = kp.load_model(tmp_path / "made.keras")
    assert loaded.size == SIZE and loaded.weighting == made.weighting
    fit(made)
    fit(loaded)
    assert state(loaded) == state(made)


class Dies(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            raise KeyboardInterrupt


@pytest.mark.slow
def test_resume_from_backup_is_bit_exact(tmp_path):
    uninterrupted, first, second = ensemble(), ensemble(), ensemble()
    history = fit(uninterrupted, epochs=3).history
    with pytest.raises(KeyboardInterrupt):
        fit(first, kp.callbacks.BackupAndRestore(tmp_path / "b"), Dies(), epochs=3)
    resumed = fit(second, kp.callbacks.BackupAndRestore(tmp_path / "b"), epochs=3)
    assert state(second) == state(uninterrupted)
    assert resumed.history["loss_of_members"] == history["loss_of_members"]


def breaking():
    """Return a problem without finite residuals for c < 0."""
    c = kp.Parameter("c", initial=1.0)
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {"e": sp.Eq(sp.sqrt(c) + u, 0)},
        {"left": kp.Condition(sp.Eq(u, 0), on={x: 0})},
        scales=None,
    )


@pytest.mark.slow
@pytest.mark.parametrize("streamed", [False, True])
def test_nonfinite_member_stops_alone(streamed):
    made, finite = ensemble(breaking()), ensemble(breaking())
    made.coefficients["c"].assign([1.0, -1.0, 1.0])
    x = (np.full((4, 1), 0.1 * n) for n in range(1, 9)) if streamed else None
    options = {"steps_per_epoch": 4, "epochs": 2, "x": x}
    if streamed:
        options["batch_size"] = None
    with pytest.warns(UserWarning, match=r"Member 1 of 3.*at iteration 0.*c = -1"):
        history = fit(made, **options).history
    assert made.stopped == [1] and made.member_steps.tolist() == [8, 0, 8]
    assert np.isfinite(history["loss"]).all()
    for name in ("loss", "residual_loss"):
        losses = np.array(history[f"{name}_of_members"])
        assert np.isnan(losses).tolist() == 2 * [[False, True, False]]
    assert [epoch[1] for epoch in history["c_of_members"]] == [-1.0, -1.0]
    assert made.coefficients["c"].numpy()[1] == -1.0
    if streamed:
        x = (np.full((4, 1), 0.1 * n) for n in range(1, 9))
    fit(finite, **options | {"x": x})
    for number in (0, 2):
        check_alike(made.member(number), finite.member(number), 1e-6)
    points = np.linspace(0, 1, 5)[:, None]
    others = finite.predict_members(points)[[0, 2]]
    np.testing.assert_allclose(made.predict(points), others.mean(0), rtol=1e-6)


class Breaks(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 1:
            self.model.coefficients["c"].assign([1.0, -1.0, 1.0])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Member 1")
def test_stopped_member_has_losses_of_its_epochs():
    made = ensemble(breaking())
    history = fit(made, Breaks(), epochs=3).history
    losses = np.array(history["loss_of_members"])
    assert np.isnan(losses[:, 1]).tolist() == [False, True, True]
    assert np.nanargmin(losses[-1]) != 1 and (losses[0] > 0).all()


@pytest.mark.slow
def test_member_with_nan_weights_stops_alone():
    made = ensemble()
    kernel = made.trainable_variables[0]
    numbers = kernel.numpy()
    numbers[1] = np.nan
    kernel.assign(numbers)
    with pytest.warns(UserWarning, match="Member 1 of 3.*holds numbers that are not"):
        history = fit(made).history
    assert made.stopped == [1] and made.member_steps.tolist() == [12, 0, 12]
    assert np.isfinite(history["loss"]).all()


@pytest.mark.slow
def test_several_members_stop():
    made = ensemble(breaking())
    made.coefficients["c"].assign([-1.0, 1.0, -2.0])
    with pytest.warns(UserWarning, match="has stopped; the others continue") as caught:
        fit(made)
    texts = [str(w.message) for w in caught if "has stopped" in str(w.message)]
    assert [text[:13] for text in texts] == ["Member 0 of 3", "Member 2 of 3"]
    assert made.stopped == [0, 2] and made.member_steps.tolist() == [0, 12, 0]


@pytest.mark.slow
def test_all_members_stopped():
    made = ensemble(breaking())
    made.coefficients["c"].assign([-1.0, -1.0, -1.0])
    for _ in range(2):
        with pytest.raises(
            FloatingPointError, match="All 3 members.*'residual' is nan"
        ):
            fit(made)
    assert made.stopped == [0, 1, 2]
    with pytest.raises(TypeError, match="one member of the ensemble"):
        fit(ensemble(), kp.callbacks.RestoreOnNonFinite())


@pytest.mark.slow
def test_held_and_streamed_points_are_shared():
    points = np.linspace(0.1, 0.9, 12)[:, None]
    held = ensemble(), alone(2)
    for model in held:
        fit(model, x=points, batch_size=None)
    check_alike(held[0].member(2), held[1])
    streamed = ensemble(), alone(2)
    for model in streamed:
        batches = (points[n : n + 4] for n in (0, 4, 8, 0, 4, 8))
        fit(model, x=batches, batch_size=None, steps_per_epoch=3)
    check_alike(streamed[0].member(2), streamed[1])


@pytest.mark.slow
def test_sampler_state_and_clipping_are_separate_for_members():
    models = [
        make(optimizer=keras.optimizers.Adam(1e-2, global_clipnorm=0.1))
        for make in (ensemble, lambda **options: alone(0, **options))
    ]
    for model in models:
        fit(model, x=kp.sampling.ResidualBased(every=4))
    check_alike(models[0].member(0), models[1])


@pytest.mark.slow
def test_learning_rate_set_during_training():
    models = ensemble(), alone(1)
    for model in models:
        rates = keras.callbacks.LearningRateScheduler(lambda epoch: 1e-2 / (1 + epoch))
        fit(model, rates)
    check_alike(models[0].member(1), models[1])
    assert float(models[0].member(1).optimizer.learning_rate) == pytest.approx(5e-3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*single precision")
def test_gauss_newton_trains_an_ensemble():
    make = kp.optimizers.GaussNewton
    models = ensemble(size=2, optimizer=make()), alone(1, optimizer=make())
    losses = []
    for model in models:
        run = {"batch_size": None, "epochs": 1, "steps_per_epoch": 4, "verbose": 0}
        losses.append(model.fit(np.linspace(0.02, 0.98, 30)[:, None], **run).history)
    loss = losses[0]["loss_of_members"][0][1]
    assert loss == pytest.approx(losses[1]["loss"][0], rel=1e-4)
    assert models[0].member(1).steps_taken == 4


def test_validation_and_precision(trained):
    made = trained[0]
    data = made.problem.test_data(20)
    history = fit(made, validation_data=data, epochs=1).history
    error = made.evaluate(*data, verbose=0)["u_relative_l2"]
    assert history["val_u_relative_l2"][0] == pytest.approx(error.mean, rel=1e-5)
    double, points = made.astype("float64"), data[0]
    assert double.predict(points).dtype == "float64"
    np.testing.assert_allclose(
        double.predict_members(points), made.predict_members(points), atol=1e-4
    )


def test_functions_of_one_model_advise_to_pass_a_member():
    made = compiled(kp.Ensemble(kp.problems.poisson(2), network(), size=2))
    histogram = kp.callbacks.GradientHistogram()
    for use in (
        kp.diagnostics.verdict,
        kp.diagnostics.gradient_statistics,
        kp.plot.solution,
        lambda made: made.fit(epochs=1, callbacks=[histogram]),
    ):
        with pytest.raises(
            TypeError, match=r"ensemble.member\(0\).*Received: <Ensemble"
        ):
            use(made)


def test_ensemble_rejects_invalid_arguments():
    problem = kp.problems.poisson(2)
    with pytest.raises(ValueError, match="`size` must be a positive integer"):
        kp.Ensemble(problem, network(), size=0)
    with pytest.raises(ValueError, match="`seed` must be an integer"):
        kp.Ensemble(problem, network(), size=2, seed=2**32 - 1)
    with pytest.raises(TypeError, match="`network` must be a Keras layer"):
        kp.Ensemble(problem, "MLP")
    seeded = keras.initializers.GlorotNormal(seed=3)
    with pytest.raises(ValueError, match="same for every seed.*leave the seed"):
        kp.Ensemble(problem, kp.networks.MLP(4, 1, kernel_initializer=seeded), size=2)
    made = kp.Ensemble(problem, network(), size=2)
    with pytest.raises(ValueError, match="`model.compile"):
        made.fit()
    with pytest.raises(ValueError, match="takes its loss from the problem"):
        made.compile("adam", loss="mse")
    with pytest.raises(ValueError, match="needs an optimizer. Received: None"):
        made.compile(None)
    with pytest.raises(IndexError, match="out of range"):
        made.member(2)
    with pytest.raises(ValueError, match="no term 'top'"):
        compiled(made).fit({"top": np.zeros((2, 1))})


def test_averages_and_exclusions_are_refused():
    averaging = keras.optimizers.Adam(1e-2, use_ema=True)
    excluding = keras.optimizers.AdamW(1e-2)
    excluding.exclude_from_weight_decay(var_names=["c"])
    for optimizer in (averaging, keras.optimizers.serialize(averaging), excluding):
        with pytest.raises(ValueError, match="Leave `use_ema` and `exclude.*: Adam"):
            ensemble().compile(optimizer)
