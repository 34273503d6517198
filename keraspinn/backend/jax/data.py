"""JAX: batches of arrays, and empty ones."""

import keras
import numpy as np


def tick_dataset(replicas=1):
    """Yield ticks without end, for steps that draw all their points.

    A batch of it is an int32 for each replica.
    """
    while True:
        yield (np.zeros(replicas, "int32"),)


def array_dataset(arrays, batch_size, replicas=1):
    """Return a nested structure of float64 arrays as a dataset of batches, in order.

    It does not depend on `replicas`: there is one device.
    """
    return _Batches(arrays, batch_size)


class _Batches(keras.utils.PyDataset):
    def __init__(self, arrays, batch_size):
        super().__init__()
        self._arrays = keras.tree.map_structure(np.float64, arrays)
        self._count = len(keras.tree.flatten(self._arrays)[0])
        self._size = batch_size

    def __len__(self):
        return -(-self._count // self._size)

    def __getitem__(self, number):
        rows = slice(number * self._size, (number + 1) * self._size)
        batch = keras.tree.map_structure(lambda array: array[rows], self._arrays)
        return batch if isinstance(batch, tuple) else (batch,)
