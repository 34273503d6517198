"""Saving, and going on after a crash.

`BackupAndRestore` keeps a checkpoint at each epoch; the same program, started again
after whatever stopped it, goes on to the same numbers. Here the training is stopped
after two of its four epochs. A `.keras` file holds everything: the problem, the
network, weights and optimizer.
"""

import pathlib
import tempfile

import keras
import numpy as np

import keraspinn as kp

folder = pathlib.Path(tempfile.mkdtemp())


def trained(epochs, **backup):
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(20, 2), seed=0)
    model.compile(keras.optimizers.Adam(3e-3))
    callbacks = [kp.callbacks.BackupAndRestore(**backup)] if backup else []
    model.fit(steps_per_epoch=1000, epochs=epochs, verbose=2, callbacks=callbacks)
    return model


trained(2, backup_dir=folder / "backup", delete_checkpoint=False)  # ends too early
resumed = trained(4, backup_dir=folder / "backup")
undisturbed = trained(4)
for one, other in zip(resumed.get_weights(), undisturbed.get_weights(), strict=True):
    np.testing.assert_array_equal(one, other)

resumed.save(folder / "poisson.keras")
loaded = keras.models.load_model(folder / "poisson.keras")

error = loaded.evaluate(*loaded.problem.test_data(), return_dict=True, verbose=0)
print(error)
figure = kp.plot.solution(loaded)
