"""Sampler state after `save` and `load_model`, bit-exact."""

import keras
import numpy as np
import pytest

import keraspinn as kp

RUN = {"batch_size": 20, "steps_per_epoch": 10, "verbose": 0}
EVERY = 7  # steps: 10 end within a hold


def made(optimizer, size=None, network=None):
    keras.utils.set_random_seed(0)
    network = network or kp.networks.MLP(4, 1, dtype="float64")
    parts = kp.problems.poisson(), network
    if size is None:
        model = kp.PINNModel(*parts, seed=0, dtype="float64")
    else:
        model = kp.Ensemble(*parts, size=size, seed=0, dtype="float64")
    model.compile(optimizer, jit_compile=False)
    return model


def broyden():
    return kp.optimizers.SSBroyden(resample_every=EVERY)


def numbers(model):
    return list(map(keras.ops.convert_to_numpy, model.trainer.state_variables))


def check_alike(one, other, x=None, **run):
    for model in (one, other):
        model.fit(x, **RUN | {"steps_per_epoch": 3} | run)
    for actual, expected in zip(numbers(one), numbers(other), strict=True):
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make, x",
    [
        (lambda: made(broyden()), None),
        (lambda: made(kp.optimizers.GaussNewton(resample_every=EVERY)), None),
        (lambda: made("adam"), kp.sampling.Renewed(EVERY)),
        (lambda: made(broyden(), size=2), None),
    ],
    ids=["SSBroyden", "GaussNewton", "Adam", "Ensemble"],
)
def test_resume_within_a_renewal_period_is_bit_exact(tmp_path, make, x):
    model = make()
    model.fit(x, **RUN)
    model.save(tmp_path / "one.keras")
    loaded = kp.load_model(tmp_path / "one.keras")
    loaded.save(tmp_path / "two.keras")  # before it has made a step
    check_alike(model, kp.load_model(tmp_path / "two.keras"), x)


@pytest.mark.slow
@pytest.mark.parametrize("change", ["batch size", "compile"])
def test_second_fit_after_loading_begins_as_without(tmp_path, change):
    model = made(broyden())
    model.fit(**RUN)
    model.save(tmp_path / "model.keras")
    loaded = kp.load_model(tmp_path / "model.keras")
    if change == "compile":
        for one in (model, loaded):
            one.compile(broyden(), jit_compile=False)
        check_alike(model, loaded)
    else:
        check_alike(model, loaded, batch_size=30)


@pytest.mark.slow
def test_recompiled_model_is_saved_without_sampler_state(tmp_path):
    model = made(broyden())
    model.fit(**RUN)
    model.compile(broyden(), jit_compile=False)
    model.save(tmp_path / "model.keras")
    check_alike(model, kp.load_model(tmp_path / "model.keras"))


@pytest.mark.slow
def test_files_without_sampler_state_load(tmp_path, monkeypatch):
    model = made(broyden())
    model.fit(**RUN)
    with monkeypatch.context() as patch:
        patch.setattr(type(model.trainer), "_resumable", lambda _: {})
        model.save(tmp_path / "model.keras")
    loaded = kp.load_model(tmp_path / "model.keras")
    assert np.isfinite(loaded.fit(**RUN).history["loss"]).all()


@pytest.mark.slow
def test_load_weights_alone(tmp_path):
    model = made(broyden())
    model.fit(**RUN)
    model.save_weights(tmp_path / "model.weights.h5")
    same = made(broyden())
    same.fit(**RUN, epochs=2)
    same.load_weights(tmp_path / "model.weights.h5")
    check_alike(model, same)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Skipping variable loading for optimizer")
def test_load_weights_into_a_model_of_another_optimizer(tmp_path):
    model = made(broyden())
    model.fit(**RUN)
    model.save_weights(tmp_path / "model.weights.h5")
    other, expected = made("sgd"), made("sgd")
    other.load_weights(tmp_path / "model.weights.h5")
    expected.set_weights(model.get_weights())
    check_alike(expected, other, kp.sampling.Renewed(EVERY))


def test_points_passed_to_fit_are_not_saved(tmp_path):
    model = made("adam")
    model.fit(np.random.uniform(0.1, 0.9, (100_000, 1)), **RUN)
    model.save(path := tmp_path / "model.keras")
    assert path.stat().st_size < 1e5
