from keras import ops

from keraspinn.common.checks import check_count
from keraspinn.sampling.base import Sampler


class Renewed(Sampler):
    """Uniform points that are kept for a number of steps, and then drawn anew.

    Optimizers that compare successive gradients need points that stay. Points must
    also change at times, or the network fits these alone.

    Args:
        every: Number of steps from one set of points to the next.

    Raises:
        ValueError: If `every` is not a positive integer.

    Example:

    ```python
    model.fit(keraspinn.sampling.Renewed(every=500), batch_size=3000)
    ```
    """

    def __init__(self, every: int = 500) -> None:
        self.every = check_count("every", every)

    def init(self, place, uniform):
        return remembered(place.draw(uniform))

    def step(self, place, state, iteration, uniform, error):
        def chosen():
            return remembered(self.choose(place, uniform, error))

        state = ops.cond(self.renewed(iteration), chosen, lambda: dict(state))
        return place.drawn(**state), state

    def fresh(self, place, state, uniform, error):
        return self.choose(place, uniform, error)

    def choose(self, place, uniform, error):
        """Return a `Batch` of new points to keep."""
        return place.draw(uniform)

    def renewed(self, iteration):
        return ops.equal(ops.mod(iteration, self.every), 0)


def remembered(batch):
    """Return the tensors of a batch that a state holds, a dict."""
    return {"points": batch.points, "coordinates": batch.coordinates}
