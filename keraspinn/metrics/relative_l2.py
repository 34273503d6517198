"""Relative L2 error as a Keras metric."""

import keras
from keras import ops


@keras.saving.register_keras_serializable("keraspinn")
class RelativeL2(keras.metrics.Metric):
    """Relative L2 error ‖u − û‖₂ / ‖u‖₂ over all points seen.

    Accumulates both sums of squares, so the result does not depend on batches. Points
    with a NaN as the exact value are left out: a `Reference` returns NaN where
    the solution is unknown. Nondimensional. Infinite or NaN if all exact values are
    zero.

    Args:
        name: Name of the metric.
        up_to_constant: Whether to leave out the means of the error and of the exact
            values, for a field determined up to a constant, such as a pressure.
        dtype: Floating-point type of the sums.

    Raises:
        ValueError: By `update_state`, if the two shapes differ.

    Example:

    >>> metric = keraspinn.metrics.RelativeL2()
    >>> metric.update_state([3.0, 4.0], [3.0, 3.0])
    >>> f"{metric.result():.2f}"
    '0.20'

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", section 3: the error of every table.
    """

    def __init__(
        self,
        name: str = "relative_l2",
        up_to_constant: bool = False,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self.up_to_constant = bool(up_to_constant)
        # Sums over all points of 1, the error, its square, the exact value and its
        # square.
        self.sums = self.add_weight((5,), "zeros", self.dtype, name="sums")

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true = ops.cast(y_true, self.dtype)
        y_pred = ops.cast(y_pred, self.dtype)
        if tuple(y_true.shape) != tuple(y_pred.shape):
            raise ValueError(
                "`y_true` and `y_pred` must have one shape. Received: "
                f"{tuple(y_true.shape)} and {tuple(y_pred.shape)}"
            )
        weight = ops.ones_like(y_true)
        if sample_weight is not None:
            weight = weight * ops.cast(sample_weight, self.dtype)
        gap = ops.isnan(y_true)
        y_true = ops.where(gap, ops.zeros_like(y_true), y_true)
        error = y_true - y_pred
        columns = (ops.ones_like(error), error, error**2, y_true, y_true**2)
        columns = [ops.where(gap, ops.zeros_like(c), weight * c) for c in columns]
        self.sums.assign_add(ops.stack([ops.sum(column) for column in columns]))

    def result(self):
        sums = ops.unstack(ops.convert_to_tensor(self.sums))
        count, error, squared_error, exact, squared_exact = sums
        if self.up_to_constant:
            squared_error = squared_error - error**2 / count
            squared_exact = squared_exact - exact**2 / count
        return ops.sqrt(ops.maximum(squared_error, 0) / squared_exact)

    def get_config(self):
        return {**super().get_config(), "up_to_constant": self.up_to_constant}
