"""Files for TensorBoard, written without TensorFlow."""

import os
import pathlib
import socket
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
        try:
            from tensorboard.compat.proto import event_pb2
            from tensorboard.summary.writer.record_writer import RecordWriter
            from tensorboard.util import tensor_util
        except ImportError as error:
            raise ImportError(
                "The package `tensorboard` writes TensorBoard's files. Run `pip "
                "install tensorboard`, or leave `tensorboard=` out."
            ) from error
        self._event, self._as_proto = event_pb2.Event, tensor_util.make_tensor_proto
        directory = pathlib.Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        now = time.time()
        name = f"events.out.tfevents.{int(now)}.{socket.gethostname()}.{os.getpid()}"
        self._file = (directory / f"{name}.{time.monotonic_ns()}").open("wb")
        self._records = RecordWriter(self._file)
        event = self._event(wall_time=now, file_version="brain.Event:2")
        self._records.write(event.SerializeToString())

    def scalar(self, name, value, step):
        """Write a number."""
        self._write("scalars", name, np.float32(value), step)

    def histogram(self, name, edges, counts, step):
        """Write a histogram: the edges of K bins, K + 1 numbers, and their counts."""
        columns = [np.float64(c) for c in (edges[:-1], edges[1:], counts)]
        self._write("histograms", name, np.stack(columns, axis=-1), step)

    def flush(self):
        """Make the written data readable."""
        self._records.flush()

    def close(self):
        """Close the file."""
        self._records.close()

    def _write(self, plugin, name, value, step):
        event = self._event(wall_time=time.time(), step=int(step))
        entry = event.summary.value.add(tag=name, tensor=self._as_proto(value))
        entry.metadata.plugin_data.plugin_name = plugin
        self._records.write(event.SerializeToString())
