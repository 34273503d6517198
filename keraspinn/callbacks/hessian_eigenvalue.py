from collections.abc import Sequence

from keraspinn.callbacks.schedule import Measurement
from keraspinn.common.checks import nonnegative
from keraspinn.diagnostics import LossHessian
from keraspinn.diagnostics.hessian import term_names
from keraspinn.sampling.base import BatchSize, Given


class HessianEigenvalue(Measurement):
    """Record the stiffness of training: λ_max of the Hessian, and 2/λ_max.

    Gradient descent with a learning rate above 2/λ_max is unstable. At ends of epochs
    `History` receives `<term>_hessian_eigenvalue` and `<term>_learning_rate_bound`, one
    value for each measurement. All measurements use the same points.

    Args:
        every: Training steps between measurements. Each measurement takes place at the
            first end of an epoch at or after a multiple of this number, since many
            steps run as one program.
        terms: Name of a loss term, or a list of names: unweighted terms of the
            problem, or `"loss"` for L_r + Σ λ_i L_i with the current weights.
        points: Points for the losses, in the forms of `x` in `PINNModel.fit`; sampled
            once by default.
        batch_size: Number of points sampled inside and on each face, 128 by default.
        tolerance: Relative accuracy of the eigenvalue.

    Attributes:
        steps: List of the training steps at which they were measured.
        eigenvalues: Dict from names to lists of λ_max.

    Raises:
        ValueError: If an argument is out of range, a term is unknown, or the Hessian
            is not finite.
        TypeError: If the model is not a `PINNModel`.

    Example:

    ```python
    stiffness = keraspinn.callbacks.HessianEigenvalue(every=1000)
    model.fit(epochs=40, callbacks=[stiffness])
    keraspinn.plot.traces({"M1": (stiffness.steps, stiffness.eigenvalues["loss"])})
    ```

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", section 2.4.
    """

    def __init__(
        self,
        every: int = 1000,
        terms: str | Sequence[str] = "loss",
        points: Given | None = None,
        batch_size: BatchSize = None,
        tolerance: float = 1e-3,
    ) -> None:
        super().__init__(every)
        self._terms = term_names(terms)
        self._points, self._batch_size = points, batch_size
        self._tolerance = nonnegative("tolerance", tolerance)
        self.steps: list[int] = []
        self.eigenvalues: dict[str, list[float]] = {name: [] for name in self._terms}

    def set_model(self, model):
        super().set_model(model)
        there = self._points, self._batch_size
        self._hessians = {n: LossHessian(model, n, *there) for n in self._terms}

    def measure(self, iteration):
        """Return λ_max of each term, and the stable learning rate."""
        self.steps.append(iteration)
        numbers = {}
        for name, hessian in self._hessians.items():
            largest = float(hessian.eigenvalues(tolerance=self._tolerance)[-1])
            self.eigenvalues[name].append(largest)
            numbers[f"{name}_hessian_eigenvalue"] = largest
            bound = 2 / largest if largest > 0 else float("inf")
            numbers[f"{name}_learning_rate_bound"] = bound
        return numbers
