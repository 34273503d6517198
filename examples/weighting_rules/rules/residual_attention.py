from keras import ops

from examples.weighting_rules.rules.per_point import Fixed

# Lower bound of the largest residual, against division by zero.
TINY = 1e-30


class ResidualAttention(Fixed):
    """Residual-based attention (RBA): weights that follow the residual of each point.

    In each step the multipliers λ of the residuals r of the points become

        λ_i ← γ λ_i + η |r_i| / max_j |r_j|

    and the term's loss is the mean of (λ_i r_i)². Their initial value is zero, and
    they stay below η / (1 − γ). As in the source, only equations have multipliers; the
    conditions keep their weights.

    Args:
        gamma: Decay γ.
        eta: Learning rate η of the multipliers.

    Reference:
        Anagnostopoulos, Toscano, Stergiopulos & Karniadakis, "Residual-based attention
        in physics-informed neural networks", arXiv 2307.00379, the update rule of the
        section on residual-based attention.
    """

    def __init__(self, gamma=0.999, eta=0.01):
        self.gamma, self.eta = gamma, eta

    def init(self, place, uniform):
        state = super().init(place, uniform)
        return state | {"multipliers": ops.zeros_like(state["points"][:, 0])}

    def step(self, place, state, iteration, uniform, error):
        batch, _ = super().step(place, state, iteration, uniform, error)
        residual = ops.sqrt(error(batch))
        share = residual / ops.maximum(ops.max(residual), TINY)
        multipliers = self.gamma * state["multipliers"] + self.eta * share
        weights = batch.weights * ops.square(multipliers)
        return batch._replace(weights=weights), state | {"multipliers": multipliers}

    def get_config(self):
        return {"gamma": self.gamma, "eta": self.eta}
