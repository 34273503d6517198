"""Program of one of two workers: `worker.py INDEX PORT DIRECTORY [KILLED_AFTER]`."""
# ruff: noqa: E402 - devices and workers are set up before Keras is imported

import json
import os
import signal
import sys

INDEX, PORT = int(sys.argv[1]), int(sys.argv[2])
DIRECTORY, KILLED_AFTER = sys.argv[3], int(sys.argv[4])
WORKERS = [f"localhost:{PORT + rank}" for rank in range(2)]
os.environ["TF_CONFIG"] = json.dumps(
    {"cluster": {"worker": WORKERS}, "task": {"type": "worker", "index": INDEX}}
)

import tensorflow as tf

STRATEGY = tf.distribute.MultiWorkerMirroredStrategy()

import keras
from common import PROBLEM, RUN, annealing, compiled, weights_of


class Killed(keras.callbacks.Callback):
    """Callback that kills the process within an epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        if INDEX and epoch == KILLED_AFTER:
            os.kill(os.getpid(), signal.SIGKILL)


# One worker writes the backups, all read them.
reading = {"save_freq": 10**9, "delete_checkpoint": False} if INDEX else {}
backup = keras.callbacks.BackupAndRestore(DIRECTORY, **reading)
with STRATEGY.scope():
    model = compiled()
model.fit(**RUN, epochs=4, callbacks=[annealing(), backup, Killed()])
points, _ = PROBLEM.test_data(5)
predicted = model.predict(points.tolist(), verbose=0).shape
print(json.dumps([weights_of(model), model.steps_taken, predicted]))
