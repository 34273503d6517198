"""TensorFlow: files that TensorBoard reads."""

import tensorflow as tf


class EventWriter:
    """Writes scalars and histograms to the files that TensorBoard reads.

    `tf.summary.scalar` and `histogram` need the package `tensorboard`, and raw data;
    this needs neither.

    Args:
        directory: Where to put the file.
    """

    def __init__(self, directory):
        self._writer = tf.summary.create_file_writer(str(directory))

    def scalar(self, name, value, step):
        """Write a number."""
        self._write("scalars", name, tf.constant(value, tf.float32), step)

    def histogram(self, name, edges, counts, step):
        """Write a histogram: the edges of K bins, K + 1 numbers, and their counts."""
        columns = [tf.cast(c, tf.float64) for c in (edges[:-1], edges[1:], counts)]
        self._write("histograms", name, tf.stack(columns, axis=-1), step)

    def flush(self):
        """Make what was written readable."""
        self._writer.flush()

    def close(self):
        """Write no more."""
        self._writer.close()

    def _write(self, plugin, name, value, step):
        metadata = tf.compat.v1.SummaryMetadata()
        metadata.plugin_data.plugin_name = plugin
        # Keras's TensorBoard callback may leave a condition on recording in force.
        with self._writer.as_default(), tf.summary.record_if(True):
            tf.summary.write(name, value, step=step, metadata=metadata)
