from keras import config, ops

from keraspinn.common.checks import check_count, nonnegative
from keraspinn.sampling.renewed import Renewed, remembered

CAPPED = 5  # passes that cap the density, each at the largest shares


class ResidualBased(Renewed):
    """Points drawn where the residual is large, and kept for a number of steps.

    Residual-based adaptive distribution (RAD): of a pool of uniform points each is
    taken with a probability proportional to εᵏ / mean(εᵏ) + c, where ε is the size of
    the residual there. Terms on faces of the domain are drawn uniformly.

    Args:
        every: Number of steps from one set of points to the next.
        k: Exponent k: the larger, the more points where the residual is large.
        c: Constant c: the larger, the more uniform.
        pool: Number of points to choose from, for each one that is kept.

    Raises:
        ValueError: If `every` or `pool` is not a positive integer, or k or c negative.

    Example:

    ```python
    model.fit(keraspinn.sampling.ResidualBased(every=500), batch_size=3000)
    ```

    Reference:
        Wu et al., "A comprehensive study of non-adaptive and residual-based adaptive
        sampling for physics-informed neural networks", 2023, equation 2. Points are
        taken there one by one; here by systematic sampling, which gives each the same
        probability with less chance, up to one: none is meant to be taken twice.
    """

    def __init__(
        self, every: int = 500, k: float = 1.0, c: float = 1.0, pool: int = 20
    ) -> None:
        super().__init__(every)
        self.k, self.c = nonnegative("k", k), nonnegative("c", c)
        self.pool = check_count("pool", pool)

    def choose(self, place, uniform, error):
        alike = len(place.term.blocks) == 1 and place.count() == place.requested
        if place.term.regions or not alike:
            return place.draw(uniform)
        pool = place.draw(uniform, self.pool * place.requested)
        size = ops.power(ops.sqrt(error(pool)), self.k)
        size = ops.where(ops.isfinite(size), size, ops.zeros_like(size))
        mean = ops.mean(size)
        density = ops.where(mean > 0, size / mean, ops.zeros_like(size)) + self.c
        density = at_most_once(density, place.requested)
        rows = systematic(density, place.requested, uniform((), 1))
        taken = {n: ops.take(t, rows, axis=0) for n, t in remembered(pool).items()}
        return pool._replace(**taken)


def at_most_once(density, count):
    """Cap a density `(n,)` so that hardly any row is drawn twice among `count`.

    Otherwise points would gather at a discontinuity of a coefficient, where a residual
    cannot vanish, and leave the rest of the domain to chance.
    """
    for _ in range(CAPPED):
        density = ops.minimum(density, ops.sum(density) / count)
    return density


def systematic(density, count, offset):
    """Draw rows with probabilities proportional to a density, in order.

    Args:
        density: Tensor `(n,)`, not negative.
        count: Number of rows.
        offset: Scalar, uniform in [0, 1).
    """
    # A row is the number of sums up to a mark. It follows from the number of evenly
    # spaced marks below each sum; a search by XLA would compare all sums and marks.
    sums = ops.cumsum(density)
    apart = ops.maximum(sums[-1] / count, config.epsilon())
    below = ops.clip(ops.ceil(sums / apart - offset), 0, count)
    ones = ops.ones(density.shape, "int32")
    counts = ops.segment_sum(ones, ops.cast(below, "int32"), num_segments=count + 1)
    return ops.minimum(ops.cumsum(counts)[:count], density.shape[0] - 1)
