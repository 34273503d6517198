"""Files that TensorBoard reads."""

import numpy as np
from tensorboard.backend.event_processing import event_accumulator

from keraspinn.callbacks.events import open_events, write_histogram, write_scalar


def test_writes_files_for_tensorboard(tmp_path):
    writer = open_events(tmp_path)
    write_scalar(writer, "norm", 2.5, step=7)
    write_histogram(writer, "layer", np.array([0.0, 1.0, 3.0]), [5, 6], step=8)
    writer.close()
    read = event_accumulator.EventAccumulator(str(tmp_path)).Reload()
    (norm,), (layer,) = read.Tensors("norm"), read.Tensors("layer")
    assert norm.step == 7 and norm.tensor_proto.float_val[0] == 2.5
    columns = np.frombuffer(layer.tensor_proto.tensor_content).reshape(-1, 3)
    np.testing.assert_array_equal(columns, [[0, 1, 5], [1, 3, 6]])
    metadata = read.SummaryMetadata("norm"), read.SummaryMetadata("layer")
    assert [f.plugin_data.plugin_name for f in metadata] == ["scalars", "histograms"]
