"""The metrics of a model: running means of losses, and errors."""

import keras

from keraspinn.metrics.relative_l2 import RelativeL2
from keraspinn.optimizers import Optimizer


class Logs:
    """The metrics of a `PINNModel`.

    Args:
        problem: The `Problem`.
        names: Names of the losses, as `Objective` has them.
        dtype: Floating-point type of the metrics.

    Attributes:
        errors: A `RelativeL2` for each of the problem's references.
    """

    def __init__(self, problem, names, dtype):
        self._dtype = dtype
        self._losses = self._means(["loss", *(f"{name}_loss" for name in names)])
        self._optimizer = []
        is_free = problem.determined_up_to_constant
        names = problem.reference_expressions
        self.errors = [RelativeL2(f"{n}_relative_l2", is_free(n), dtype) for n in names]

    def _means(self, names):
        return [keras.metrics.Mean(name=name, dtype=self._dtype) for name in names]

    def follow(self, optimizer):
        """Log the numbers of an optimizer of `keraspinn.optimizers`, from now on."""
        names = optimizer.log_names if isinstance(optimizer, Optimizer) else ()
        self._optimizer = self._means(names)

    @property
    def metrics(self):
        """All metrics, a list."""
        return [*self._losses, *self._optimizer, *self.errors]

    @property
    def names(self):
        """Names of the numbers that a training step returns, `"loss"` among them."""
        return [mean.name for mean in (*self._losses, *self._optimizer)]

    @property
    def is_finite(self):
        """Boolean scalar: all total losses since the last reset are finite."""
        return keras.ops.isfinite(self._losses[0].total)

    def update(self, values, steps=1):
        """Update the running means; return them by name.

        Args:
            values: Dict from some of `names` to means over some steps.
            steps: Number of these steps.
        """
        means = [m for m in (*self._losses, *self._optimizer) if m.name in values]
        for mean in means:
            mean.update_state(values[mean.name], sample_weight=steps)
        return {mean.name: mean.result() for mean in means}


def shown(numbers, counted=()):
    """Return texts of numbers by name, of an ensemble's with mean and deviation.

    Args:
        numbers: Dict of tensors.
        counted: Index of the members that count.
    """
    arrays = {n: keras.ops.convert_to_numpy(v)[counted] for n, v in numbers.items()}
    return [
        f"{name} = {array.mean():.4g}" + f" ± {array.std():.2g}" * bool(array.shape)
        for name, array in arrays.items()
    ]
