"""Files for TensorBoard, written by the package `tensorboard`."""

import time

import numpy as np


def open_events(directory):
    """Return TensorBoard's writer of a file in a directory.

    Raises:
        ImportError: If the package `tensorboard` is not installed.
    """
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    return EventFileWriter(str(directory))


def write_scalar(file, name, value, step):
    """Write a number."""
    _write(file, "scalars", name, np.float32(value), step)


def write_histogram(file, name, edges, counts, step):
    """Write a histogram: the edges of K bins, K + 1 numbers, and their counts."""
    columns = [np.float64(c) for c in (edges[:-1], edges[1:], counts)]
    _write(file, "histograms", name, np.stack(columns, axis=-1), step)


def _write(file, plugin, name, value, step):
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.util.tensor_util import make_tensor_proto

    event = Event(wall_time=time.time(), step=int(step))
    entry = event.summary.value.add(tag=name, tensor=make_tensor_proto(value))
    entry.metadata.plugin_data.plugin_name = plugin
    file.add_event(event)
