"""A stranger's sampler: every second point is another one in each step."""

import keras
import numpy as np
from keras import ops

import keraspinn as kp


class Alternating(kp.sampling.Sampler):
    def init(self, place, uniform):
        points, coordinates, *_ = place.draw(uniform)
        return {"points": points, "coordinates": coordinates}

    def step(self, place, state, iteration, uniform, error):
        fresh = self.init(place, uniform)
        rows = ops.arange(state["points"].shape[0]) + ops.cast(iteration, "int32")
        keep = ops.expand_dims(rows % 2 == 0, -1)
        state = {name: ops.where(keep, state[name], fresh[name]) for name in state}
        return place.drawn(**state), state


def trained(epochs, *callbacks):
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(4, 1), seed=0)
    model.compile("adam", jit_compile=False)
    run = {"epochs": epochs, "steps_per_epoch": 5, "verbose": 0}
    model.fit(Alternating(), batch_size=16, callbacks=[*callbacks], **run)
    return model


def test_it_fits_saves_and_goes_on_to_the_bit(tmp_path):
    backup = kp.callbacks.BackupAndRestore(tmp_path, delete_checkpoint=False)
    trained(2, backup).save(tmp_path / "toy.keras")
    kp.load_model(tmp_path / "toy.keras").fit(Alternating(), steps_per_epoch=5)
    ends = [trained(4, backup), trained(4)]  # the first goes on after two epochs
    states = [[*m.get_weights(), *m.extra_training_state().values()] for m in ends]
    for resumed, undisturbed in zip(*states, strict=True):
        np.testing.assert_array_equal(resumed, undisturbed)
