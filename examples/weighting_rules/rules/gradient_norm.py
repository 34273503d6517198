import dataclasses

from keras import ops

from examples.weighting_rules.rules.relative import relative
from keraspinn.weighting import WeightingRule


@dataclasses.dataclass(frozen=True)
class GradientNorm(WeightingRule):
    """Weights that give the gradients of all terms the same norm.

    Every `update_freq` iterations the weight λ of each term, the residual's included,
    becomes `(1 − α) λ + α λ̂`, with

        λ̂_i = Σ_j ‖∇L_j‖ / ‖∇L_i‖

    The conditions receive λ_i / λ_r. Without a finite estimate, λ_i keeps its
    value.

    Args:
        alpha: Weight α of the new estimate, in (0, 1]; 0.1 in the source.
        update_freq: Number of iterations between updates. The source has 1,000 in
            trainings of 10⁵ steps.

    Reference:
        Wang, Sankaran, Wang & Perdikaris, "An expert's guide to training
        physics-informed neural networks", arXiv 2308.08468, Algorithm 1, step (c).
    """

    alpha: float = 0.1
    update_freq: int = 10

    def init(self, weights):
        one = ops.ones_like(next(iter(weights.values())))
        averages = {"residual": one} | weights
        return {f"average_{name}": average for name, average in averages.items()}

    def update(self, gradients, losses, state):
        averages = {name: state[f"average_{name}"] for name in gradients}
        due = ops.equal(ops.mod(state["iteration"], self.update_freq), 0)
        averages = ops.cond(
            due, lambda: self._moved(averages, gradients), lambda: averages
        )
        memory = {f"average_{name}": average for name, average in averages.items()}
        return relative(averages), memory

    def _moved(self, averages, gradients):
        norms = {name: norm(of_term) for name, of_term in gradients.items()}
        total, moved = sum(norms.values()), {}
        for name, average in averages.items():
            estimate = total / norms[name]
            new = (1 - self.alpha) * average + self.alpha * estimate
            moved[name] = ops.where(ops.isfinite(estimate), new, average)
        return moved


def norm(gradients):
    """Return the Euclidean norm of a dict of tensors."""
    return ops.sqrt(sum(ops.sum(ops.square(g)) for g in gradients.values()))
