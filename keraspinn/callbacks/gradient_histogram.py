from __future__ import annotations

from collections.abc import Mapping

from keraspinn.callbacks.schedule import Directory, Measurement
from keraspinn.diagnostics import GradientProbe, GradientStatistics
from keraspinn.sampling.base import Given


class GradientHistogram(Measurement):
    """Watches how the gradients of the loss terms are distributed and balanced.

    Takes `diagnostics.GradientStatistics` at ends of epochs: quantiles of ∂L_i/∂θ for
    every loss term and layer, unweighted, with the weights λ to weight them by. Their
    `numbers` go to `History`, a value for each time they are taken, and stay out of
    the progress bar. Training is not disturbed: the weights are the same, bit for
    bit, as without the callback.

    Args:
        every: Training steps from one measurement to the next. Each happens at the
            first end of an epoch at or after a multiple of so many steps, since many
            steps run as one program.
        points: Points to take the gradients at, in the forms of `PINNModel.fit`'s
            `x`. Those of the next training step, for the same `batch_size`, if not
            given.
        batch_size: Number of points drawn inside and on each face, as given to
            `fit`; 128 if not given.
        tensorboard: The `keras.callbacks.TensorBoard` of the same `fit`, or a
            directory, to write the numbers and the histograms to as well.

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
        batch_size: int | Mapping[str, int] | None = None,
        tensorboard: Directory | None = None,
    ) -> None:
        super().__init__(every, tensorboard)
        self._points, self._batch_size = points, batch_size
        self._probe = None
        self.statistics: list[GradientStatistics] = []

    def __repr__(self):
        return f"GradientHistogram(every={self._schedule.every})"

    def set_model(self, model):
        super().set_model(model)
        self._probe = GradientProbe(model, self._points, self._batch_size)

    def measure(self, iteration):
        """The statistics' numbers, and a histogram for every term and layer."""
        statistics = self._probe(iteration)
        self.statistics.append(statistics)
        return statistics.numbers(), tensorboard_histograms(statistics)


def tensorboard_histograms(statistics):
    """Histograms `(name, edges, counts)` of every term and layer.

    Unweighted, and weighted too where that differs. The bins hold equal numbers of
    entries, so that they suit any scale.
    """
    for term in statistics.terms:
        kinds = {"gradients": False}
        if statistics.weights[term] != 1.0:
            kinds["weighted_gradients"] = True
        for kind, weighted in kinds.items():
            for layer in statistics.layers:
                edges = statistics.distribution(term, layer, weighted)
                counts = [statistics.sizes[layer] / (len(edges) - 1)] * (len(edges) - 1)
                yield f"{kind}/{layer}/{term}", edges, counts
