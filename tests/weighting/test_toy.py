"""A stranger's rule that remembers: weights from running means of the losses."""

import keras
import numpy as np

import keraspinn as kp


@keras.saving.register_keras_serializable("toy")
class Balance(kp.weighting.WeightingRule):
    def init(self, weights):
        return {name: keras.ops.ones(()) for name in ("residual", *weights)}

    def update(self, gradients, losses, state):
        old = {name: state[name] for name in self.init(state["weights"])}
        means = {name: 0.9 * mean + 0.1 * losses[name] for name, mean in old.items()}
        return {n: means["residual"] / means[n] for n in state["weights"]}, means


def trained(epochs, *callbacks, model=None):
    if model is None:
        keras.utils.set_random_seed(0)
        model = kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(4, 1), seed=0)
        model.compile("adam", jit_compile=False)
    callbacks = [kp.callbacks.LossWeighting(Balance()), *callbacks]
    model.fit(epochs=epochs, steps_per_epoch=5, verbose=0, callbacks=callbacks)
    return [*model.get_weights(), *model.extra_training_state().values()], model


def test_it_fits_saves_and_goes_on_to_the_bit(tmp_path):
    backup = kp.callbacks.BackupAndRestore(tmp_path, delete_checkpoint=False)
    trained(2, backup)[1].save(path := tmp_path / "toy.keras")
    ends = trained(4, backup), trained(2, model=kp.load_model(path)), trained(4)
    for *went_on, undisturbed in zip(*(end for end, _ in ends), strict=True):
        np.testing.assert_array_equal(went_on, [undisturbed] * 2)
