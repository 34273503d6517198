"""Retain–resample–release sampling."""

from keras import ops

import keraspinn as kp
from examples.samplers.adaptive import is_adapted, residual_size


class R3(kp.sampling.Renewed):
    """Points that are retained while their residual is above the mean (R3).

    Each renewal retains points whose absolute residual exceeds the mean of all points,
    and resamples the others uniformly. A point is released when its residual falls
    below the mean. Terms on several faces are resampled uniformly.

    Args:
        every: Number of steps from one renewal to the next.

    Reference:
        Daw et al., "Mitigating propagation failures in physics-informed neural networks
        using retain-resample-release (R3) sampling", 2023 (arXiv 2207.02338),
        where each step renews the points.
    """

    def step(self, place, state, iteration, uniform, error):
        if not is_adapted(place):
            return super().step(place, state, iteration, uniform, error)
        state = ops.cond(
            self.renewed(iteration),
            lambda: self._evolved(place, state, uniform, error),
            lambda: dict(state),
        )
        return place.drawn(**state), state

    def _evolved(self, place, state, uniform, error):
        """Return the state with the points of small residuals resampled."""
        size = residual_size(error(place.drawn(**state)))
        retained = ops.expand_dims(size > ops.mean(size), -1)
        fresh = self.init(place, uniform)
        return {name: ops.where(retained, state[name], fresh[name]) for name in state}
