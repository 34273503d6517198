import keras

from keraspinn.model import PINNModel
from keraspinn.weighting import GradientRatio


class LearningRateAnnealing(keras.callbacks.Callback):
    """Algorithm 1: balances loss terms by their back-propagated gradients.

    Every `update_freq` iterations each condition's loss weight λ moves towards the
    ratio of the largest gradient of the residual to the mean gradient of the
    condition. The update is compiled into the training step, with the gradients
    that the step takes anyway; it happens before the step's own update, as in the
    paper. The weights are the model's `loss_weights`, and in the logs as
    `<condition>_weight`.

    Args:
        alpha: Weight α of the new estimate in the moving average
            `λ ← (1 − α) λ + α λ̂`, in (0, 1].
        update_freq: Iterations from one update to the next.
        rule: `"weighted"` divides by the mean of the weighted gradient,
            `λ̂ = max|∇L_r| / mean|λ ∇L_i|`, as the authors' code and the published
            version do, and is stable. `"literal"` divides by mean|∇L_i|, as printed
            in the first version of the paper; it lets λ grow without bound.

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

    def __init__(self, alpha=0.9, update_freq=10, rule="weighted"):
        super().__init__()
        if isinstance(alpha, bool) or not 0 < alpha <= 1:
            raise ValueError(f"`alpha` must be in (0, 1]. Received: alpha={alpha}")
        if isinstance(update_freq, bool) or int(update_freq) != update_freq:
            raise ValueError(
                f"`update_freq` must be an integer. Received: {update_freq!r}"
            )
        if update_freq < 1:
            raise ValueError(
                f"`update_freq` must be at least 1. Received: {update_freq}"
            )
        if rule not in ("weighted", "literal"):
            raise ValueError(
                f'`rule` must be "weighted" or "literal". Received: rule={rule!r}'
            )
        self.rule = GradientRatio(float(alpha), int(update_freq), rule)

    def set_model(self, model):
        super().set_model(model)
        if not isinstance(model, PINNModel):
            raise TypeError(
                "LearningRateAnnealing needs a keraspinn.PINNModel, which keeps the "
                f"gradients of its loss terms apart. Received: {type(model).__name__}"
            )
        model.set_weighting(self.rule)

    def get_config(self):
        return {
            "alpha": self.rule.alpha,
            "update_freq": self.rule.update_freq,
            "rule": self.rule.rule,
        }

    @classmethod
    def from_config(cls, config):
        return cls(**config)
