import dataclasses
import numbers

import keras

from keraspinn.model import PINNModel
from keraspinn.weighting import LAYERS, GradientRatio


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

        exclude: Parameters that the statistics leave out: those whose path holds one
            of these texts. `("bias", "encoder")` counts what the authors' code does.
        layers: `"pooled"` takes the mean over all parameters, as the paper says;
            `"averaged"` the mean of each variable's mean, and `"largest"` the largest
            of each variable's own ratios, as the authors' code does in its scalar
            problems and in the cavity.

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
        alpha=0.9,
        update_freq=10,
        rule="weighted",
        exclude=(),
        layers="pooled",
    ):
        super().__init__()
        number = isinstance(alpha, numbers.Real) and not isinstance(alpha, bool)
        if not number or not 0 < alpha <= 1:
            raise ValueError(f"`alpha` must be in (0, 1]. Received: alpha={alpha!r}")
        whole = isinstance(update_freq, numbers.Real) and update_freq % 1 == 0
        if not whole or isinstance(update_freq, bool):
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
        if layers not in LAYERS:
            raise ValueError(f"`layers` must be one of {LAYERS}. Received: {layers!r}")
        listed = isinstance(exclude, (list, tuple, set, frozenset))
        if not listed or not all(isinstance(text, str) for text in exclude):
            raise ValueError(
                '`exclude` must be a list of texts, such as ("bias",). Received: '
                f"{exclude!r}"
            )
        self.rule = GradientRatio(
            float(alpha), int(update_freq), rule, tuple(exclude), layers
        )

    def set_model(self, model):
        super().set_model(model)
        if not isinstance(model, PINNModel):
            raise TypeError(
                "LearningRateAnnealing needs a keraspinn.PINNModel, which keeps the "
                f"gradients of its loss terms apart. Received: {type(model).__name__}"
            )
        self.rule.check_exclude([v.path for v in model.network.trainable_variables])
        model.set_weighting(self.rule)

    def get_config(self):
        return dataclasses.asdict(self.rule)

    @classmethod
    def from_config(cls, config):
        return cls(**config)
