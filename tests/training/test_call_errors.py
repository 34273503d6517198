"""Errors and notes about networks and calls, and tests of their advice."""

import keras
import numpy as np
import pytest

import keraspinn as kp

PROBLEM = kp.problems.poisson()


def model():
    return kp.PINNModel(PROBLEM, kp.networks.MLP(4, 1), seed=0)


def test_predict_error_names_its_argument():
    with pytest.raises(ValueError, match="points of 'prediction'"):
        model().predict(np.zeros((3, 7)))
    with pytest.raises(ValueError, match="points of 'evaluation'"):
        model().evaluate(np.zeros((3, 7)))


def test_compile_rejects_settings_of_optimizers():
    with pytest.raises(TypeError, match="no .'learning_rate'.*Adam.learning_rate"):
        model().compile(learning_rate=1e-3)
    model().compile(keras.optimizers.Adam(learning_rate=1e-3))


@pytest.mark.parametrize("name", ["MLP", "ModifiedMLP", "PirateNet", "SIREN"])
def test_error_corrects_a_list_of_widths(name):
    network = getattr(kp.networks, name)
    with pytest.raises(ValueError, match=rf"{name}\(units=20, depth=2, outputs=1\)"):
        network([2, 20, 20, 1])
    network(units=20, depth=2, outputs=1)


@pytest.mark.skipif(keras.backend.backend() == "jax", reason="float64 is off")
def test_rejects_inputs_that_round_points():
    def network(**kwargs):
        inputs = keras.Input((1,), **kwargs)
        hidden = keras.layers.Dense(4, "tanh")(inputs)
        return keras.Model(inputs, keras.layers.Dense(1)(hidden))

    policy = keras.config.dtype_policy()
    keras.config.set_dtype_policy("float64")
    try:
        with pytest.raises(ValueError, match="rounds to less.*dtype='float64'"):
            kp.PINNModel(PROBLEM, network())
        made = kp.PINNModel(PROBLEM, network(dtype="float64"))
        close = made.predict(np.array([[0.3], [0.3 + 1e-9]]), verbose=0)
        assert np.diff(close[:, 0]) != 0
        kp.PINNModel(PROBLEM, keras.Sequential([keras.layers.Dense(1, "tanh")]))
    finally:
        keras.config.set_dtype_policy(policy)
    assert kp.PINNModel(PROBLEM, network()).astype("float64").dtype == "float64"


def test_restores_best_weights_with_resampled_points():
    points, _ = PROBLEM.test_data(9)
    trained = model()
    trained.compile(keras.optimizers.SGD(0.5), run_eagerly=True)
    best = keras.callbacks.EarlyStopping(
        "val_loss", patience=9, restore_best_weights=True
    )
    history = trained.fit(
        kp.sampling.Renewed(every=1),
        steps_per_epoch=1,
        epochs=4,
        validation_data=(points,),
        callbacks=[best],
        verbose=0,
    ).history
    logs = trained.evaluate(points, verbose=0, return_dict=True)
    assert logs["loss"] == pytest.approx(min(history["val_loss"]), rel=1e-5)
