import warnings

import keras

from keraspinn.common import check_type
from keraspinn.training import Ensemble, PINNModel
from keraspinn.weighting import WeightingRule


class LossWeighting(keras.callbacks.Callback):
    """Adaptation of the loss weights in every step by a weighting rule.

    The update is part of the training step and uses its gradients. The weights are the
    model's `loss_weights`, logged as `<condition>_weight`. The model keeps the rule's
    state.

    Args:
        rule: A `weighting.WeightingRule`, such as `weighting.GradientRatio()`.

    Raises:
        ValueError: If the model has no conditions, or an energy, or the rule does not
            fit it.
        TypeError: If the model is not a `PINNModel` or `Ensemble`.

    Warns:
        UserWarning: If all conditions are hard constraints: nothing is left to adapt.

    Example:

    ```python
    rule = keraspinn.weighting.GradientRatio(alpha=0.1)
    model.fit(epochs=40, callbacks=[keraspinn.callbacks.LossWeighting(rule)])
    ```
    """

    def __init__(self, rule: WeightingRule) -> None:
        super().__init__()
        self.rule = rule

    def set_model(self, model):
        super().set_model(model)
        kinds = PINNModel, Ensemble
        check_type("model", model, kinds, "a keraspinn.PINNModel or Ensemble")
        if model.problem.energy is not None:
            raise ValueError(
                f"{type(self).__name__} would lower the weights of penalties until the "
                "energy outweighs them. Declare conditions beside an energy with "
                "hard=True, or with a number, weight=100."
            )
        if model.problem.hard and not model.loss_weights:
            warnings.warn(
                f"{type(self).__name__} has nothing to balance: no condition is soft. "
                "Training continues without it.",
                stacklevel=2,
            )
            return
        model.set_weighting(self.rule)

    def __repr__(self):
        return f"{type(self).__name__}({self.rule!r})"

    def get_config(self):
        """Return the serialized rule."""
        return {"rule": keras.saving.serialize_keras_object(self.rule)}

    @classmethod
    def from_config(cls, config):
        """Create a callback from the result of `get_config`."""
        return cls(**keras.saving.deserialize_keras_object(config))
