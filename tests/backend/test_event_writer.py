import numpy as np
import tensorflow as tf

from keraspinn import backend


def test_writes_what_tensorboard_reads(tmp_path):
    writer = backend.EventWriter(tmp_path)
    with tf.summary.record_if(False):  # as Keras's callback may leave it
        writer.scalar("norm", 2.5, step=7)
        writer.histogram("layer", np.array([0.0, 1.0, 3.0]), [5, 6], step=8)
    writer.close()
    (path,) = tmp_path.iterdir()
    found = {}
    for event in tf.compat.v1.train.summary_iterator(str(path)):
        for value in event.summary.value:
            plugin = value.metadata.plugin_data.plugin_name
            found[value.tag] = event.step, plugin, tf.make_ndarray(value.tensor)
    assert found["norm"][:2] == (7, "scalars") and found["norm"][2] == 2.5
    assert found["layer"][:2] == (8, "histograms")
    np.testing.assert_array_equal(found["layer"][2], [[0, 1, 5], [1, 3, 6]])
