from keras import ops

from examples.weighting_rules.rules.per_point import Fixed

# Constant that Keras's Adam adds to the root of the second moment. It slows the ascent
# where 2 w λ r² is smaller than this, as in the authors' code.
EPSILON = 1e-7


class SelfAdaptive(Fixed):
    """Self-adaptive weights (SA-PINN): a multiplier for each point, trained by ascent.

    The loss of a term is the sum of w_i λ_i² r_i² with the usual weights w_i; the mask
    of the source is m(λ) = λ². While the network descends, Adam ascends each λ_i along
    the derivative of the loss, 2 w_i λ_i r_i². Initial values are uniform in [0, 1).

    Args:
        learning_rate: Step of Adam.
        beta_1: Decay of the mean gradient; 0.99 in the authors' code.
        beta_2: Decay of the mean squared gradient.

    Reference:
        McClenny & Braga-Neto, "Self-adaptive physics-informed neural networks using a
        soft attention mechanism", arXiv 2009.04544, the min–max problem of section 3;
        Adam as in the authors' code.
    """

    def __init__(self, learning_rate=5e-3, beta_1=0.99, beta_2=0.999):
        self.learning_rate = learning_rate
        self.beta_1, self.beta_2 = beta_1, beta_2

    def init(self, place, uniform):
        state = super().init(place, uniform)
        zeros = ops.zeros_like(state["points"][:, 0])
        multipliers = uniform(zeros.shape, 1)
        return state | {"multipliers": multipliers, "mean": zeros, "square": zeros}

    def step(self, place, state, iteration, uniform, error):
        batch, _ = super().step(place, state, iteration, uniform, error)
        multipliers = state["multipliers"]
        gradient = 2 * batch.weights * multipliers * error(batch)
        mean = self.beta_1 * state["mean"] + (1 - self.beta_1) * gradient
        square = self.beta_2 * state["square"]
        square = square + (1 - self.beta_2) * ops.square(gradient)
        count = ops.cast(iteration + 1, gradient.dtype)
        unbiased = ops.sqrt(1 - self.beta_2**count) / (1 - self.beta_1**count)
        rise = self.learning_rate * unbiased * mean / (ops.sqrt(square) + EPSILON)
        new = {"multipliers": multipliers + rise, "mean": mean, "square": square}
        weights = batch.weights * ops.square(multipliers)
        return batch._replace(weights=weights), state | new

    def get_config(self):
        return {
            "learning_rate": self.learning_rate,
            "beta_1": self.beta_1,
            "beta_2": self.beta_2,
        }
