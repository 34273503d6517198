from collections.abc import Collection

from keraspinn.callbacks.loss_weighting import LossWeighting
from keraspinn.common.configs import described
from keraspinn.weighting import GradientRatio


class LearningRateAnnealing(LossWeighting):
    """Learning-rate annealing: balance loss terms by their gradients (Algorithm 1).

    Every `update_freq` iterations each condition's loss weight λ moves towards the
    ratio of the residual's largest gradient to the condition's mean gradient. The
    update is part of the training step and uses its gradients. It precedes the step's
    own update, as in the paper. The weights are the model's `loss_weights`, logged as
    `<condition>_weight`.

    Args:
        alpha: Weight α of the new estimate in the moving average
            `λ ← (1 − α) λ + α λ̂`, in (0, 1].
        update_freq: Iterations between updates.
        rule: `"weighted"` divides by the mean of the weighted gradient,
            `λ̂ = max|∇L_r| / mean|λ ∇L_i|`, as the authors' code and the published
            version, and is stable. `"literal"` divides by mean|∇L_i|, as printed in
            the first version of the paper; it lets λ grow without bound.

        exclude: Texts; the statistics omit parameters with one of them in their path.
            `("bias", "encoder")` selects the parameters of the authors' code.
        layers: `"pooled"` takes the mean over all parameters, as in the paper;
            `"averaged"` the mean of each variable's mean, and `"largest"` the largest
            of each variable's ratios, as in the authors' code for scalar problems and
            for the cavity.

    A weight that starts at zero stays zero under the weighted rule.

    Raises:
        ValueError: If an argument is out of range, or the model has no conditions.
        TypeError: If the model is not a `PINNModel`.

    Example:

    ```python
    model.fit(epochs=40, callbacks=[keraspinn.callbacks.LearningRateAnnealing()])
    ```

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", Algorithm 1.
    """

    def __init__(
        self,
        alpha: float = 0.1,
        update_freq: int = 10,
        rule: str = "weighted",
        exclude: Collection[str] = (),
        layers: str = "pooled",
    ) -> None:
        super().__init__(GradientRatio(alpha, update_freq, rule, exclude, layers))

    __repr__ = described

    def get_config(self):
        return self.rule.get_config()
