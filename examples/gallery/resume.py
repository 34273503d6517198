"""Save, and resume after a crash.

`BackupAndRestore` writes a checkpoint after each epoch. The same program, run again
after an interruption, continues to the same numbers. Here the training is stopped after
20 of 40 epochs and restarted; it ends with the weights of an uninterrupted training. A
`.keras` file contains the problem, the network, the weights and the optimizer.

To adapt it, add the callback to any `fit`.
"""

import pathlib
import tempfile

import keras
import numpy as np

import keraspinn as kp

folder = pathlib.Path(tempfile.mkdtemp())
problem = kp.problems.poisson()


def trained(epochs, **backup):
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(problem, kp.networks.MLP(20, 2), seed=0)
    model.compile(keras.optimizers.Adam(3e-3))
    callbacks = [kp.callbacks.BackupAndRestore(**backup)] if backup else []
    model.fit(steps_per_epoch=100, epochs=epochs, verbose=2, callbacks=callbacks)
    return model


stopped = trained(20, backup_dir=folder / "backup", delete_checkpoint=False)
resumed = trained(40, backup_dir=folder / "backup")
undisturbed = trained(40)
for one, other in zip(resumed.get_weights(), undisturbed.get_weights(), strict=True):
    np.testing.assert_array_equal(one, other)

resumed.save(folder / "poisson.keras")
loaded = keras.models.load_model(folder / "poisson.keras")

error = loaded.evaluate(*loaded.problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(loaded), sep="\n")
losses = {
    name: (100 * (np.array(model.history.epoch) + 1), model.history.history["loss"])
    for name, model in {"stopped": stopped, "started again": resumed}.items()
}
figure = kp.plot.traces(losses, label="Loss")
figure.savefig("resume.png")
