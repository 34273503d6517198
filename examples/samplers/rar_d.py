"""Residual-based adaptive refinement with distribution."""

import math

from keras import ops

import keraspinn as kp
from examples.samplers.adaptive import is_adapted, residual_size
from keraspinn.sampling.residual_based import at_most_once, systematic


class RARD(kp.sampling.Renewed):
    """Set of points that grows where the residual is large (RAR-D).

    Training begins with a share of the points. Each renewal after the first step adds
    points from a uniform pool, with a probability ∝ εᵏ / mean(εᵏ) + c for the absolute
    residual ε, until the requested number is reached. Points that are not in the set
    yet have weight zero, so that shapes are constant. Terms on several faces are
    resampled uniformly.

    Args:
        every: Number of steps from one addition to the next.
        k: Exponent k.
        c: Constant c.
        pool: Number of candidates for each requested point.
        begin: Initial share of the points in the set.
        rounds: Number of additions until the set is full.

    Reference:
        Wu et al., "A comprehensive study of non-adaptive and residual-based adaptive
        sampling for physics-informed neural networks", 2023 (arXiv 2207.10289),
        with k = 2 and c = 0. The paper draws points one by one. Here they are
        drawn by systematic sampling, as in `sampling.ResidualBased`.
    """

    def __init__(self, every=500, k=2.0, c=0.0, pool=20, begin=0.5, rounds=10):
        super().__init__(every)
        self.k, self.c, self.pool = float(k), float(c), int(pool)
        self.begin, self.rounds = float(begin), int(rounds)

    def init(self, place, uniform):
        state = super().init(place, uniform)
        if is_adapted(place):
            in_set = ops.arange(place.requested) < self._first(place)
            state["in_set"] = ops.cast(in_set, place.dtype)
        return state

    def step(self, place, state, iteration, uniform, error):
        if not is_adapted(place):
            return super().step(place, state, iteration, uniform, error)
        state = ops.cond(
            ops.logical_and(self.renewed(iteration), iteration > 0),
            lambda: self._grown(place, state, uniform, error),
            lambda: dict(state),
        )
        batch = place.drawn(state["points"], state["coordinates"])
        weights = state["in_set"] / ops.sum(state["in_set"])
        return batch._replace(weights=weights), state

    def get_config(self):
        names = "every", "k", "c", "pool", "begin", "rounds"
        return {name: getattr(self, name) for name in names}

    def _first(self, place):
        """Return the initial number of points in the set."""
        return max(1, round(self.begin * place.requested))

    def _grown(self, place, state, uniform, error):
        """Return the state with more points in the set."""
        total = place.requested
        count = max(1, math.ceil((total - self._first(place)) / self.rounds))
        pool = place.draw(uniform, self.pool * total)
        size = ops.power(residual_size(error(pool)), self.k)
        density = ops.divide_no_nan(size, ops.mean(size)) + self.c
        rows = systematic(at_most_once(density, count), count, uniform((), 1))
        before = ops.cast(ops.sum(state["in_set"]), "int32")
        rank = ops.arange(total, dtype="int32") - before  # 0 at the first one added
        is_new = ops.logical_and(rank >= 0, rank < count)
        rows = ops.take(rows, ops.clip(rank, 0, count - 1))
        added = {"points": pool.points, "coordinates": pool.coordinates}
        new = {name: ops.take(tensor, rows, axis=0) for name, tensor in added.items()}
        new = {name: ops.where(is_new[:, None], new[name], state[name]) for name in new}
        return new | {"in_set": ops.where(is_new, 1.0, state["in_set"])}
