import dataclasses

from keras import ops

from examples.weighting_rules.rules.relative import relative
from keraspinn.weighting import WeightingRule

# Lower bound of the residual's weight, by which the conditions' weights are divided.
# All weights have the mean 1.
SMALLEST = 1e-3


@dataclasses.dataclass(frozen=True)
class ReLoBRaLo(WeightingRule):
    """Relative loss balancing with random lookback: slow terms receive more weight.

    With the losses L of m terms, the residual's included, in step t

        λ̂_i(t, t') = m exp(L_i(t) / (T L_i(t'))) / Σ_j exp(L_j(t) / (T L_j(t')))
        λ_i(t) = α (ρ λ_i(t−1) + (1 − ρ) λ̂_i(t, 0)) + (1 − α) λ̂_i(t, t−1)

    where ρ is one with the probability `lookback`, else zero. In the first step all λ
    are one. The conditions receive λ_i / λ_r.

    Args:
        alpha: Weight α of the past.
        lookback: Expected value of ρ.
        temperature: Temperature T. Lower values make the weights more unequal.

    Reference:
        Bischof & Kraus, "Multi-objective loss balancing for physics-informed deep
        learning", arXiv 2110.09813, section on ReLoBRaLo.
    """

    alpha: float = 0.999
    lookback: float = 0.999
    temperature: float = 0.1

    def begin(self, setup):
        zeros = ops.zeros((len(setup.terms),), setup.dtype)
        return {
            "averages": ops.ones_like(zeros),
            "first": zeros,
            "last": zeros,
            "count": ops.zeros((), "int32"),
        }

    def update(self, gradients, losses, state):
        now = ops.stack([*losses.values()])
        is_first = ops.equal(state["count"], 0)
        first = ops.where(is_first, now, state["first"])
        rho = ops.cast(state["uniform"](()) < self.lookback, now.dtype)
        past = rho * state["averages"] + (1 - rho) * self._balanced(now, first)
        recent = self._balanced(now, state["last"])
        averages = self.alpha * past + (1 - self.alpha) * recent
        averages = ops.where(is_first, ops.ones_like(averages), averages)
        memory = {
            "averages": averages,
            "first": first,
            "last": now,
            "count": state["count"] + 1,
        }
        by_name = dict(zip(losses, ops.unstack(averages, len(losses)), strict=True))
        return relative(by_name, SMALLEST), memory

    def _balanced(self, now, before):
        ratios = now / (self.temperature * ops.maximum(before, 1e-30))
        return now.shape[0] * ops.softmax(ratios)
