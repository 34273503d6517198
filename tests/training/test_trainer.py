"""Fused steps of `fit`, their programs, callbacks and batches."""

import keras
import numpy as np
import pytest

import keraspinn as kp
from keraspinn.training.digests import weights_digest


@pytest.fixture
def model():
    model = kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(4, 1), seed=0)
    model.compile("sgd", jit_compile=False, steps_per_execution=4)
    return model


RUN = {"batch_size": 8, "verbose": 0}


class Recorder(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.ends = []

    def on_train_batch_end(self, batch, logs=None):
        self.ends.append((batch, int(self.model.optimizer.iterations.numpy())))


def test_callbacks_run_after_each_execution(model):
    recorder = Recorder()
    model.fit(**RUN, steps_per_epoch=10, epochs=2, callbacks=[recorder])
    assert [steps for _, steps in recorder.ends] == [4, 8, 10, 14, 18, 20]


def test_epoch_losses_are_means_over_steps(model):
    initial = model.get_weights()
    together = model.fit(**RUN, steps_per_epoch=6).history["loss"]
    model.set_weights(initial)
    model.compile("sgd", jit_compile=False, steps_per_execution=1)
    apart = model.fit(**RUN, steps_per_epoch=1, epochs=6).history["loss"]
    assert together[0] == pytest.approx(np.mean(apart), rel=1e-5)


def test_equal_fits_share_a_compiled_program(model):
    model.fit(**RUN, steps_per_epoch=4)
    first = model.train_function
    model.fit(**RUN, steps_per_epoch=9, epochs=2)
    assert model.train_function is first
    model.fit(batch_size=9, verbose=0, steps_per_epoch=4)
    assert model.train_function is not first


@pytest.mark.slow
def test_evaluation_is_compiled_once(model):
    points, values = model.problem.test_data(10)
    model.fit(**RUN, steps_per_epoch=4, validation_data=(points, values))
    before = model.evaluate(points, values, verbose=0)
    first = model.test_function
    model.fit(**RUN, steps_per_epoch=4)
    assert model.evaluate(points, values, verbose=0) != before
    assert model.test_function is first


def freeze(model):
    model.network.hidden[0].trainable = False


def compile_anew(model):
    anew = keras.callbacks.LambdaCallback(on_train_end=lambda _: model.compile("sgd"))
    model.fit(**RUN, steps_per_epoch=1, callbacks=[anew])


def regularized():
    network = kp.networks.MLP(4, 1)
    model = kp.PINNModel(kp.problems.helmholtz(), network, seed=0)
    network.hidden[0].kernel_regularizer = keras.regularizers.L2(1.0)
    return model


def ensemble():
    return kp.Ensemble(kp.problems.helmholtz(), kp.networks.MLP(4, 1), size=2, seed=0)


def evaluated(model, points, values):
    logs = model.evaluate(points, values, verbose=0, return_dict=True)
    return [getattr(value, "members", value) for value in logs.values()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "change"), [(regularized, freeze), (ensemble, compile_anew)]
)
def test_evaluation_is_recompiled_after_changes(make, change):
    model = make()
    model.compile("sgd", jit_compile=False)
    points, values = model.problem.test_data(10)
    model.evaluate(points, values, verbose=0)
    change(model)
    model.fit(**RUN, steps_per_epoch=1)
    before = evaluated(model, points, values)
    model.compile("sgd", jit_compile=False)
    np.testing.assert_allclose(before, evaluated(model, points, values), rtol=1e-6)


@pytest.mark.slow
def test_recompiling_takes_effect(model):
    model.fit(**RUN, steps_per_epoch=4)
    model.compile("adam", jit_compile=False)
    model.fit(**RUN, steps_per_epoch=4)
    assert isinstance(model.optimizer, keras.optimizers.Adam)
    assert model.optimizer.iterations.numpy() == 4


def test_learning_rate_schedules_and_stops(model):
    schedule = keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 ** (epoch + 3))
    stop = keras.callbacks.EarlyStopping("loss", patience=0, min_delta=1e9)
    history = model.fit(
        **RUN, steps_per_epoch=4, epochs=5, callbacks=[schedule, stop]
    ).history
    assert len(history["loss"]) == 2
    assert history["learning_rate"] == pytest.approx([1e-3, 1e-4])


def test_train_on_batch_without_points_samples_them(model):
    before = model.get_weights()
    logs = model.train_on_batch(return_dict=True)
    assert np.isfinite(logs["loss"])
    assert model.optimizer.iterations.numpy() == 1
    assert any((a != b).any() for a, b in zip(before, model.get_weights(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("eagerly", [False, True])
def test_train_on_batch_accepts_arrays_and_lists(model, eagerly):
    model.compile("adam", run_eagerly=eagerly, jit_compile=False)
    points = np.linspace(0, 1, 4).reshape(-1, 1)
    for batch in (points, points.tolist(), {"residual": points}):
        assert np.isfinite(model.train_on_batch(batch)[0])
    assert np.isfinite(model.test_on_batch(points)).all()
    assert np.shape(model.predict_on_batch(points)) == (4, 1)


def test_positional_arguments_as_in_keras(model):
    points, values = model.problem.test_data(8)
    model.fit(None, None, 4, steps_per_epoch=2, verbose=0, validation_split=0.0)
    assert len(model.evaluate(points, values, 3, 0)) == len(model.metrics)
    assert model.predict(points, 3, 0).shape == (8, 1)
    run = {"steps_per_epoch": 1, "epochs": 3, "verbose": 0}
    history = model.fit(
        **run, validation_data=(points, values, None), validation_freq=2
    ).history
    assert len(history["val_loss"]) == 1
    history = model.fit(
        **run, validation_data=(points, values), validation_freq=[3, 1]
    ).history
    assert len(history["val_loss"]) == 2
    model.compile("adam", None, None, None, None, False, 3)
    assert model.compiled_with["steps_per_execution"] == 3


@pytest.mark.parametrize("as_tuple", [False, True])
def test_validation_by_points_alone_takes_batches_of_the_given_size(model, as_tuple):
    points = np.linspace(0, 1, 8).reshape(-1, 1)
    run = {"steps_per_epoch": 1, "verbose": 0, "validation_batch_size": 8}
    data = (points,) if as_tuple else points
    (loss,) = model.fit(**run, validation_data=data).history["val_loss"]
    assert loss == pytest.approx(model.evaluate(points, verbose=0)[0], rel=1e-5)


def test_generators_may_yield_plain_arrays(model):
    points = np.linspace(0, 1, 8).reshape(-1, 1)
    validation = (points for _ in range(2))
    history = model.fit(
        (points.tolist() for _ in range(3)), validation_data=validation, verbose=0
    ).history
    assert np.isfinite(history["val_loss"]).all()
    assert model.optimizer.iterations.numpy() == 3
    expected = model.predict(points, verbose=0)
    streamed = model.predict((points for _ in range(1)), verbose=0)
    np.testing.assert_array_equal(streamed, expected)


def test_histories_with_and_without_xla_agree():
    losses = []
    for jit_compile in (False, True):
        keras.utils.set_random_seed(1)
        model = kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(4, 1), seed=0)
        model.compile("sgd", jit_compile=jit_compile)
        losses.append(model.fit(**RUN, steps_per_epoch=8, epochs=3).history["loss"])
    np.testing.assert_allclose(*losses, rtol=1e-4)


def test_training_continues_after_a_nonfinite_batch(model):
    before = model.get_weights()
    assert np.isnan(model.train_on_batch(np.array([[np.nan]]))[0])
    assert all((a == b).all() for a, b in zip(before, model.get_weights(), strict=True))
    assert np.isfinite(model.train_on_batch(np.array([[0.5]]))[0])
    assert model.optimizer.iterations.numpy() == 1


MASKED = np.ma.masked_less([[0.5], [-9999.0]], 0)


class Stream(keras.utils.PyDataset):
    def __len__(self):
        return 1

    def __getitem__(self, index):
        return (np.full((2, 1), 0.5),)


@pytest.mark.parametrize(
    "use",
    [
        lambda model: model(MASKED),
        lambda model: model.predict(MASKED),
        lambda model: model.predict_on_batch(MASKED),
        lambda model: model.fit(MASKED, verbose=0),
        lambda model: model.fit((MASKED for _ in range(2)), verbose=0),
        lambda model: model.evaluate(((MASKED,) for _ in range(2)), verbose=0),
    ],
)
def test_rejects_masked_values(model, use):
    with pytest.raises(ValueError, match=r"1 masked.*points\[~mask\]"):
        use(model)


def test_custom_dataset_is_read_to_its_end(model):
    class Ended(Stream):
        epochs = 0

        def on_epoch_end(self):
            self.epochs += 1

    stream = Ended()
    history = model.fit(stream, epochs=2, verbose=0)
    assert len(history.epoch) == 2 and stream.epochs > 0
    assert model.predict(stream, verbose=0).shape == (2, 1)


def test_rejects_losses_that_steps_ignore(model):
    with pytest.raises(ValueError, match="losses from the problem.*kernel_regularizer"):
        model.add_loss(1.0)


@pytest.mark.parametrize("train", ["fit", "train_on_batch"])
def test_rejects_models_without_trainable_variables(model, train):
    model.network.trainable = False
    model.compile("sgd", jit_compile=False)
    with pytest.raises(ValueError, match="nothing to train: every layer"):
        getattr(model, train)()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* trains parameters of single precision")
@pytest.mark.parametrize(
    ("made", "optimizer"),
    [("model", kp.optimizers.GaussNewton), ("ensemble", kp.optimizers.SSBroyden)],
)
def test_layers_must_be_frozen_before_compile(model, made, optimizer):
    if made == "ensemble":
        model = kp.Ensemble(model.problem, kp.networks.MLP(4, 1), size=2)
    layer, name = model.network.layers[0], optimizer.__name__
    model.compile(optimizer(), jit_compile=False)
    before = weights_digest(model)
    layer.trainable = False
    message = rf"{name} remembers .*others are now.*compile\({name}"
    for train in (model.fit, model.train_on_batch):
        with pytest.raises(ValueError, match=message):
            train()
    model.compile(optimizer(), jit_compile=False)
    layer.trainable = True
    with pytest.raises(ValueError, match=message):
        model.fit()
    assert weights_digest(model) == before
    layer.trainable = False
    model.fit(**RUN, steps_per_epoch=1)
    assert weights_digest(model) != before


def test_replaced_layers_of_equal_shape_are_detected():
    network = kp.networks.MLP(4, 3)
    model = kp.PINNModel(kp.problems.poisson(), network, dtype="float32")
    network.layers[1].trainable = False
    model.compile(kp.optimizers.LBFGS(), jit_compile=False)
    network.layers[1].trainable, network.layers[2].trainable = True, False
    with pytest.raises(ValueError, match="others are now"):
        model.fit()
