"""Causal weights, which follow the residual at earlier times."""

from keras import ops

import keraspinn as kp

# Smallest weight at which the next, larger ε follows.
SETTLED = 0.99


class Causal(kp.sampling.Renewed):
    """Uniform points with causal weights, kept for a number of steps.

    The interval of time is divided into M equal chunks. The squared residual at the
    points of chunk i is multiplied by

        w_i = exp(−ε Σ_{k<i} L_k)

    where L_k is the mean squared residual in chunk k. The weights change with the
    points and are constants in between, also for the gradient. The first ε is used
    until all weights are above 0.99, then the next.

    Args:
        every: Number of steps from one set of points to the next.
        chunks: Number of chunks M.
        epsilons: Values of ε, increasing.

    Reference:
        Wang, Sankaran & Perdikaris, "Respecting causality is all you need for training
        physics-informed neural networks", arXiv 2203.07404, algorithm 1.
    """

    def __init__(self, every=1, chunks=16, epsilons=(1e-2, 1e-1, 1.0, 10.0, 100.0)):
        super().__init__(every)
        self.chunks, self.epsilons = chunks, tuple(epsilons)

    def init(self, place, uniform):
        state = super().init(place, uniform)
        ones = ops.ones((self.chunks,), place.dtype)
        return state | {"factors": ones, "stage": ops.zeros((), place.dtype)}

    def step(self, place, state, iteration, uniform, error):
        def renewed():
            batch = place.draw(uniform)
            factors, stage = self._factors(place, batch, state["stage"], error)
            return {
                "points": batch.points,
                "coordinates": batch.coordinates,
                "factors": factors,
                "stage": stage,
            }

        state = ops.cond(self.renewed(iteration), renewed, lambda: dict(state))
        batch = place.drawn(state["points"], state["coordinates"])
        return self._weighted(place, batch, state["factors"]), state

    def fresh(self, place, state, uniform, error):
        return self._weighted(place, place.draw(uniform), state["factors"])

    def _factors(self, place, batch, stage, error):
        """Return the weights of the chunks and the index of the next ε."""
        chunk = ops.one_hot(self._chunk(place, batch), self.chunks, dtype=place.dtype)
        counts = ops.maximum(ops.sum(chunk, axis=0), 1)
        losses = ops.matmul(error(batch)[None, :], chunk)[0] / counts
        epsilon = ops.take(
            ops.convert_to_tensor(self.epsilons, place.dtype), ops.cast(stage, "int32")
        )
        factors = ops.exp(-epsilon * (ops.cumsum(losses) - losses))
        settled = ops.cast(ops.min(factors) > SETTLED, place.dtype)
        return factors, ops.minimum(stage + settled, len(self.epsilons) - 1)

    def _chunk(self, place, batch):
        """Return the index `(N,)` of the chunk of each point."""
        start, end = (float(e[-1]) for e in (place.domain.lower, place.domain.upper))
        passed = (batch.coordinates[:, -1] - start) / (end - start)
        chunk = ops.cast(ops.floor(passed * self.chunks), "int32")
        return ops.clip(chunk, 0, self.chunks - 1)

    def _weighted(self, place, batch, factors):
        taken = ops.take(factors, self._chunk(place, batch))
        return batch._replace(weights=batch.weights * taken)

    def get_config(self):
        chosen = {"chunks": self.chunks, "epsilons": list(self.epsilons)}
        return super().get_config() | chosen
