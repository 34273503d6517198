"""Metrics of a solution's error."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("keraspinn")
class RelativeL2(keras.metrics.Metric):
    """The relative L2 error ‖u − û‖₂ / ‖u‖₂ over all points seen.

    Accumulates both sums of squares, so the result does not depend on batches.
    Nondimensional. Not a number where the exact values are all zero.

    Args:
        name: Name of the metric.
        dtype: Floating-point type of the sums.

    Example:

    >>> metric = keraspinn.metrics.RelativeL2()
    >>> metric.update_state([3.0, 4.0], [3.0, 3.0])
    >>> float(metric.result())
    0.2

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", section 3: the error of every table.
    """

    def __init__(self, name="relative_l2", dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.squared_error = self.add_weight(name="squared_error", initializer="zeros")
        self.squared_norm = self.add_weight(name="squared_norm", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true = ops.cast(y_true, self.dtype)
        y_pred = ops.cast(y_pred, self.dtype)
        if tuple(y_true.shape) != tuple(y_pred.shape):
            raise ValueError(
                "`y_true` and `y_pred` must have one shape. Received: "
                f"{tuple(y_true.shape)} and {tuple(y_pred.shape)}"
            )
        error, norm = ops.square(y_true - y_pred), ops.square(y_true)
        if sample_weight is not None:
            sample_weight = ops.cast(sample_weight, self.dtype)
            error, norm = error * sample_weight, norm * sample_weight
        self.squared_error.assign_add(ops.sum(error))
        self.squared_norm.assign_add(ops.sum(norm))

    def result(self):
        return ops.sqrt(self.squared_error / self.squared_norm)
