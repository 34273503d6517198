"""Custom sampler that resamples half of the points in each step."""

import pytest
from keras import ops

import keraspinn as kp


class Alternating(kp.sampling.Sampler):
    def init(self, place, uniform):
        points, coordinates, *_ = place.draw(uniform)
        return {"points": points, "coordinates": coordinates}

    def step(self, place, state, iteration, uniform, error):
        fresh = self.init(place, uniform)
        rows = ops.arange(state["points"].shape[0]) + ops.cast(iteration, "int32")
        keep = ops.expand_dims(rows % 2 == 0, -1)
        state = {name: ops.where(keep, state[name], fresh[name]) for name in state}
        return place.drawn(**state), state


@pytest.mark.slow
def test_custom_sampler_resume_is_bit_exact(assert_resume_is_bit_exact):
    def make():
        return kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(4, 1), seed=0)

    assert_resume_is_bit_exact(make, x=Alternating())
