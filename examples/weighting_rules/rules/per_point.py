"""Samplers with constant points, each with a weight.

Weights of points are a task for samplers: their state is saved with the training, and
each step gives them the squared residual at their points. This costs one more
evaluation of the residual in each step.
"""

import keras
import numpy as np

import keraspinn as kp


class Fixed(kp.sampling.Sampler):
    """Points drawn before the first step, and never resampled."""

    def init(self, place, uniform):
        batch = place.draw(uniform)
        return {"points": batch.points, "coordinates": batch.coordinates}

    def step(self, place, state, iteration, uniform, error):
        return place.drawn(state["points"], state["coordinates"]), state

    def renewed(self, iteration):
        return False


class Weighted(kp.sampling.Held):
    """Constant points, each with a factor of its squared residual.

    Args:
        points: Array `(n, d)` in the units of the problem.
        factors: Array `(n,)`.
    """

    def __init__(self, points, factors):
        super().__init__(points)
        self.factors = np.array(factors, "float64")

    def init(self, place, uniform):
        factors = keras.ops.cast(self.factors, place.dtype)
        return super().init(place, uniform) | {"factors": factors}

    def step(self, place, state, iteration, uniform, error):
        points = {name: t for name, t in state.items() if name != "factors"}
        batch, _ = super().step(place, points, iteration, uniform, error)
        return batch._replace(weights=batch.weights * state["factors"]), state

    def get_config(self):
        return {"points": self.points.tolist(), "factors": self.factors.tolist()}


def held(model):
    """Return samplers that hold the points of a model's last training, by term.

    The samplers have the weights from the end of that training. No public method
    returns the states of samplers, so this function reads them from the model's
    trainer.

    Args:
        model: A `PINNModel` trained with `Fixed` samplers.
    """
    samplers = {}
    for name, state in model.trainer.state.structure["sampling"].items():
        arrays = {key: keras.ops.convert_to_numpy(v) for key, v in state.items()}
        points = arrays["coordinates"].astype("float64")
        multipliers = arrays.get("multipliers", np.ones(len(points)))
        samplers[name] = Weighted(points, multipliers.astype("float64") ** 2)
    return samplers
