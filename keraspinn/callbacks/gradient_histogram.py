from keraspinn.callbacks.schedule import Measurement
from keraspinn.diagnostics import GradientProbe, GradientStatistics
from keraspinn.sampling.base import BatchSize, Given


class GradientHistogram(Measurement):
    """Record distribution and balance of the gradients of the loss terms.

    At ends of epochs it takes `diagnostics.GradientStatistics`: quantiles of ∂L_i/∂θ
    for every loss term and layer, unweighted, with the weights λ. Their `numbers` go to
    `History`, one value for each measurement, but not to the progress bar. Training is
    unaffected: the weights are bit for bit the same as without the callback.

    Args:
        every: Training steps between measurements. Each measurement takes place at the
            first end of an epoch at or after a multiple of this number, since many
            steps run as one program.
        points: Points for the gradients, in the forms of `x` in `PINNModel.fit`. The
            default are those of the next training step with the same `batch_size`.
        batch_size: Number of points sampled inside and on each face, as in `fit`; 128
            by default.

    Attributes:
        statistics: List of the `diagnostics.GradientStatistics` taken.

    Raises:
        ValueError: If an argument is out of range.
        TypeError: If the model is not a `PINNModel`.

    Example:

    ```python
    gradients = keraspinn.callbacks.GradientHistogram(every=1000)
    history = model.fit(epochs=40, callbacks=[gradients])
    keraspinn.plot.gradient_histograms(gradients.statistics[-1])
    history.history["boundary_gradient_norm_ratio"]
    ```

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", section 2.2.
    """

    def __init__(
        self,
        every: int = 1000,
        points: Given | None = None,
        batch_size: BatchSize = None,
    ) -> None:
        super().__init__(every)
        self._points, self._batch_size = points, batch_size
        self.statistics: list[GradientStatistics] = []

    def set_model(self, model):
        super().set_model(model)
        self._probe = GradientProbe(model, self._points, self._batch_size)

    def measure(self, iteration):
        """Return the statistics' numbers."""
        self.statistics.append(self._probe(iteration))
        return self.statistics[-1].numbers()
