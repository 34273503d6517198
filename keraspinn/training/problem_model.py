"""What a model of a problem is, of one network or of many: its config, its rule."""

from collections.abc import Callable
from typing import Any, Self

import keras

from keraspinn.common.configs import restored, stamped, unstamped
from keraspinn.training import checks
from keraspinn.training.trainer import FusedModel
from keraspinn.training.weighting import Weighting
from keraspinn.weighting import WeightingRule


class ProblemModel(FusedModel):
    """What `PINNModel` and `Ensemble` have in common besides their steps.

    A subclass has the attributes `problem`, `network`, `seed` and `loss_weights`, and
    makes `_weighting` and `_sources`.
    """

    _kind = "model"  # what a saved configuration is called
    _seed_given = True
    _streams = False

    @property
    def weighting(self) -> WeightingRule | None:
        """The rule that last adapted the loss weights, or `None`."""
        return self._weighting.last

    def set_weighting(self, rule: WeightingRule | Callable[..., Any] | None) -> None:
        """Let `rule` update the loss weights in every training step.

        Meant for callbacks, in their `set_model`; `fit` begins without a rule. What a
        rule remembers is kept until another is set, and saved with the model. Each
        member of an ensemble has loss weights and memory of its own.

        Args:
            rule: A `weighting.WeightingRule`; a hashable function of `(gradients,
                weights, iteration)` that returns the new weights; or `None`.

        Raises:
            ValueError: If the model has no conditions, or a rule already.
        """
        paths = [v.path for v in self.network.trainable_variables]
        self._weighting.set(rule, self.loss_weights, paths)

    @property
    def training_settings(self):
        """What a training follows from beside the configs of `fit`'s model, a dict.

        The seed, `None` if it was drawn; what the sources of points are; whether points
        are streamed; and the weighting rule.
        """
        return {
            "seed": self.seed if self._seed_given else None,
            **self._sources.settings,
            "streamed": self._streams,
            "weighting": self._weighting.rule,
        }

    def extra_training_state(self):
        """What samplers and the weighting rule remember: arrays by name."""
        return self.training.extra()

    def restore_extra_training_state(self, arrays):
        """Put back what `extra_training_state` returned."""
        self.training.restore_extra(arrays)

    def get_config(self):
        own = {
            "problem": keras.saving.serialize_keras_object(self.problem),
            "network": keras.saving.serialize_keras_object(self.network),
            "seed": self.seed,
        }
        if (rule := self._weighting.get_config()) is not None:
            own["weighting"] = rule
        return stamped({**super().get_config(), **own})

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        config = checks.deserialized_parts(unstamped(config, cls._kind))
        rule = config.pop("weighting", None)
        model = cls(**config)
        if rule is not None:
            model._weighting = Weighting(restored(rule, WeightingRule))
        return model

    def save_own_variables(self, store):
        super().save_own_variables(store)
        self._weighting.save(store)

    def load_own_variables(self, store):
        super().load_own_variables(self._weighting.load(store))
