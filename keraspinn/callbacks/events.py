"""Files for TensorBoard, written by the package `tensorboard`."""

import time

import numpy as np


class EventWriter:
    """Writer of scalars and histograms for TensorBoard.

    Args:
        directory: Directory of the file.

    Raises:
        ImportError: If the package `tensorboard` is not installed.
    """

    def __init__(self, directory):
        from tensorboard.compat.proto import event_pb2
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
        from tensorboard.util import tensor_util

        self._event, self._as_proto = event_pb2.Event, tensor_util.make_tensor_proto
        self._file = EventFileWriter(str(directory))

    def scalar(self, name, value, step):
        """Write a number."""
        self._write("scalars", name, np.float32(value), step)

    def histogram(self, name, edges, counts, step):
        """Write a histogram: the edges of K bins, K + 1 numbers, and their counts."""
        columns = [np.float64(c) for c in (edges[:-1], edges[1:], counts)]
        self._write("histograms", name, np.stack(columns, axis=-1), step)

    def flush(self):
        """Make the written data readable."""
        self._file.flush()

    def close(self):
        """Close the file."""
        self._file.close()

    def _write(self, plugin, name, value, step):
        event = self._event(wall_time=time.time(), step=int(step))
        entry = event.summary.value.add(tag=name, tensor=self._as_proto(value))
        entry.metadata.plugin_data.plugin_name = plugin
        self._file.add_event(event)
