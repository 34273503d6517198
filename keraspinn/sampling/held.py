import numpy as np
from keras import ops
from numpy.typing import ArrayLike

from keraspinn import backend
from keraspinn.common.checks import check_count, point_array
from keraspinn.sampling.base import Sampler


class Held(Sampler):
    """Given points, or the rows of a table, kept from step to step.

    Args:
        points: Array `(n, d)` in the units of the problem.
        targets: Optional array `(n, k)`, targets of the term's expressions.
        count: Number of points drawn of them in each step, with replacement; all of
            them if not given, or if there are no more.

    Raises:
        ValueError: If an array has another shape or is empty, or `count` is not a
            positive integer. `fit` raises it for points that do not fit the problem.

    Example:

    ```python
    model.fit({"residual": keraspinn.sampling.Held(points, count=128)})
    ```
    """

    def __init__(
        self,
        points: ArrayLike,
        targets: ArrayLike | None = None,
        count: int | None = None,
    ) -> None:
        # Copies: a later change of the user's arrays must not change the training.
        self.points = point_array("points", points)
        self.targets = None if targets is None else np.array(targets, dtype="float64")
        rows = len(self.points)
        if self.targets is not None and self.targets.shape[:-1] != (rows,):
            raise ValueError(
                f"`targets` must be an array ({rows}, k), a row for each point. "
                f"Received: shape {self.targets.shape}"
            )
        self.requested = check_count("count", count, None)

    def count(self, place):
        return min(self.requested or len(self.points), len(self.points))

    def init(self, place, uniform):
        with backend.double_precision():
            batch = place.given(ops.convert_to_tensor(self.points, "float64"))
        state = {"points": batch.points, "coordinates": batch.coordinates}
        if self.targets is not None:
            state["targets"] = ops.cast(self.targets, place.dtype)
        return state

    def step(self, place, state, iteration, uniform, error):
        total, size = len(self.points), self.count(place)
        taken = state
        if size < total:
            rows = ops.minimum(ops.cast(uniform((size,)) * total, "int32"), total - 1)
            taken = {name: ops.take(t, rows, axis=0) for name, t in state.items()}
        return place.given(taken["coordinates"])._replace(**taken), state

    def fresh(self, place, state, uniform, error):
        return self.step(place, state, 0, uniform, error)[0]

    def renewed(self, iteration):
        return self.requested is not None and self.requested < len(self.points)

    def get_config(self):
        return {
            "points": self.points.tolist(),
            "targets": None if self.targets is None else self.targets.tolist(),
            "count": self.requested,
        }

    def key(self):
        """Return a key of the shapes, not the numbers, that programs depend on."""
        return type(self), self.points.shape, self.targets is None, self.requested
