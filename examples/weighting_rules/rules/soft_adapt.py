import dataclasses

from keras import ops

from examples.weighting_rules.rules.relative import relative
from keraspinn.weighting import WeightingRule

# Weight of the residual, of one in all, below which the conditions' weights, which are
# divided by it, do not grow further.
SMALLEST = 1e-3

# Largest number that a sum of slopes is divided by in place of zero.
TINY = 1e-30


@dataclasses.dataclass(frozen=True)
class SoftAdapt(WeightingRule):
    """Weights from the rates of change of the losses: rising terms receive more.

    With s_i = L_i(t) − L_i(t−1), or these over Σ_j |s_j| if `normalized`, the weights
    of all terms, the residual's included, are

        λ_i = f_i exp(β s_i) / Σ_j f_j exp(β s_j)

    with f_i = 1, or the mean of L_i over the last `window` steps if `loss_weighted`.
    The conditions receive λ_i / λ_r.

    Args:
        beta: β: the larger, the more unequal the weights; 0.1 in the source.
        normalized: Whether slopes are divided by the sum of their magnitudes.
        loss_weighted: Whether weights are proportional to losses.
        window: Number of steps that losses are averaged over.

    Reference:
        Heydari, Thompson & Mehmood, "SoftAdapt: techniques for adaptive loss weighting
        of neural networks with multi-part loss functions", arXiv 1912.12355,
        sections 3.1.1 to 3.1.3.
    """

    beta: float = 0.1
    normalized: bool = True
    loss_weighted: bool = False
    window: int = 5

    def begin(self, setup):
        losses = ops.zeros((self.window, len(setup.terms)), setup.dtype)
        return {"history": losses, "count": ops.zeros((), "int32")}

    def update(self, gradients, losses, state):
        now = ops.stack([*losses.values()])
        # Before the first step all losses are those of the first.
        history = ops.where(ops.equal(state["count"], 0), now, state["history"])
        slopes = now - history[-1]
        if self.normalized:
            slopes = slopes / ops.maximum(ops.sum(ops.abs(slopes)), TINY)
        history = ops.concatenate([history[1:], now[None]])
        exponents = self.beta * slopes
        if self.loss_weighted:
            means = ops.mean(history, axis=0)
            exponents = exponents + ops.log(ops.maximum(means, TINY))
        weights = ops.unstack(ops.softmax(exponents), len(losses))
        memory = {"history": history, "count": state["count"] + 1}
        return relative(dict(zip(losses, weights, strict=True)), SMALLEST), memory
