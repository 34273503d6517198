import keras
import numpy as np
import pytest

import keraspinn as kp

RUN = {"batch_size": 8, "steps_per_epoch": 10, "epochs": 4, "verbose": 0}


def compiled(jit_compile=False):
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(kp.problems.helmholtz(), kp.networks.MLP(6, 2), seed=0)
    model.compile(keras.optimizers.Adam(1e-2), jit_compile=jit_compile)
    return model


def weights_of(model):
    return np.concatenate([v.numpy().ravel() for v in model.variables])


@pytest.mark.slow
@pytest.mark.parametrize("jit_compile", [False, True])
def test_training_is_not_disturbed(jit_compile):
    plain, watched = compiled(jit_compile), compiled(jit_compile)
    annealing = kp.callbacks.LearningRateAnnealing()
    plain.fit(**RUN, callbacks=[annealing])
    gradients = kp.callbacks.GradientHistogram(every=1, batch_size=8)
    watched.fit(**RUN, callbacks=[gradients, annealing])
    np.testing.assert_array_equal(weights_of(plain), weights_of(watched))
    assert len(gradients.statistics) == 4
    weights = [s.weights["boundary"] for s in gradients.statistics]
    assert len(set(weights)) == 4
    assert weights[-1] == plain.loss_weights["boundary"].numpy()


@pytest.mark.slow
def test_gradients_are_measured_at_the_end_of_the_epoch_when_due():
    model = compiled()
    for period, expected in [(1, [10, 20, 30, 40]), (15, [50, 60, 80]), (1000, [])]:
        gradients = kp.callbacks.GradientHistogram(every=period, batch_size=8)
        history = model.fit(**RUN, callbacks=[gradients]).history
        assert [s.iteration for s in gradients.statistics] == expected
        column = history.get("boundary_gradient_norm", [])
        assert column == [s.norms["boundary"] for s in gradients.statistics]
        assert len(history["loss"]) == 4
        names = gradients.statistics[0].numbers() if expected else {}
        assert set(names) <= set(history)


@pytest.mark.slow
def test_counts_steps_that_accumulate_gradients():
    model = compiled()
    optimizer = keras.optimizers.Adam(1e-2, gradient_accumulation_steps=5)
    model.compile(optimizer, jit_compile=False)
    gradients = kp.callbacks.GradientHistogram(every=10, batch_size=8)
    stiffness = kp.callbacks.HessianEigenvalue(every=20, batch_size=8)
    model.fit(**RUN, callbacks=[gradients, stiffness])
    assert [s.iteration for s in gradients.statistics] == [10, 20, 30, 40]
    assert stiffness.steps == [20, 40]
    assert kp.diagnostics.gradient_statistics(model, batch_size=8).iteration == 40


def test_progress_bar_is_unchanged(capsys):
    gradients = kp.callbacks.GradientHistogram(every=1, batch_size=8)
    compiled().fit(**(RUN | {"verbose": 2}), callbacks=[gradients])
    assert "boundary_loss" in (printed := capsys.readouterr().out)
    assert "gradient" not in printed


def test_rejects_invalid_arguments():
    with pytest.raises(ValueError, match="every.*positive integer.*0"):
        kp.callbacks.GradientHistogram(every=0)
    with pytest.raises(ValueError, match="every.*2.5"):
        kp.callbacks.GradientHistogram(every=2.5)
    with pytest.raises(TypeError, match="must be a keraspinn.PINNModel"):
        kp.callbacks.GradientHistogram().set_model(keras.Sequential())
