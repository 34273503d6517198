import dataclasses

from keras import ops

from examples.weighting_rules.rules.relative import relative
from keraspinn.weighting import WeightingRule

# Lower bound of the residual's weight, by which the conditions' weights are divided.
# The sum of all weights is 1.
SMALLEST = 1e-3

# Lower bound of divisors and of arguments of logarithms, against zero.
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
        beta: Exponent β, 0.1 in the source. Larger values make the weights more
            unequal.
        normalized: Whether to divide the changes s_i by the sum of their magnitudes.
        loss_weighted: Whether to multiply the weights by mean losses.
        window: Number of steps in the mean of losses.

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
        # In the first step the history has the losses of this step.
        history = ops.where(ops.equal(state["count"], 0), now, state["history"])
        changes = now - history[-1]
        if self.normalized:
            changes = changes / ops.maximum(ops.sum(ops.abs(changes)), TINY)
        history = ops.concatenate([history[1:], now[None]])
        exponents = self.beta * changes
        if self.loss_weighted:
            means = ops.mean(history, axis=0)
            exponents = exponents + ops.log(ops.maximum(means, TINY))
        weights = ops.unstack(ops.softmax(exponents), len(losses))
        memory = {"history": history, "count": state["count"] + 1}
        return relative(dict(zip(losses, weights, strict=True)), SMALLEST), memory
