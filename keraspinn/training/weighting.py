"""The rule that adapts a model's loss weights, and its state."""

import keras

from keraspinn import backend
from keraspinn.training.step import state_variables
from keraspinn.weighting import FunctionRule, WeightingRule


class Weighting:
    """The weighting rule of a model: set for a fit, and kept after it.

    Args:
        last: The rule that a saved model had.

    Attributes:
        rule: The rule of the present fit, or `None`.
        last: The rule that last adapted the loss weights, or `None`.
    """

    def __init__(self, last=None):
        self.rule, self.last = None, last
        self._memory = None  # variables by name, the state of `last`

    def set(self, rule, weights, paths):
        """Let a rule adapt the loss weights; see `PINNModel.set_weighting`.

        Args:
            rule: The rule, a function, or `None`.
            weights: Dict from condition names to the variables of their weights.
            paths: The paths of the network's trainable variables.
        """
        if rule is not None:
            if not isinstance(rule, WeightingRule):
                rule = FunctionRule(rule)
            if not weights:
                raise ValueError(
                    "There are no loss weights to adapt: the problem has no conditions."
                )
            if self.rule not in (None, rule):
                raise ValueError(
                    "Two callbacks adapt the loss weights; give `fit` one of them. "
                    f"Received: {self.rule} and {rule}"
                )
            rule.check(paths)
        self.rule = rule

    def begin(self, weights, begin):
        """Return the variables of the present rule's state, a dict.

        The rule of the last fit continues from its state.

        Args:
            weights: Dict from condition names to the variables of their weights.
            begin: Function of a rule and the weights' values that returns the rule's
                first state.
        """
        if self.rule is None:
            return {}
        if self._memory is None or self.rule != self.last:
            values = dict(zip(weights, backend.snapshot(weights.values()), strict=True))
            self.last = self.rule
            self._memory = state_variables(begin(self.rule, values), "weighting")
        return self._memory

    def continued(self, dtype, member=None):
        """Return the last rule and its state in another type.

        Args:
            dtype: The floating-point type.
            member: Number of the member of an ensemble to extract, if any.
        """
        other = Weighting(self.last)
        if self._memory is not None:
            memory = {
                name: keras.ops.cast(v, dtype if "float" in v.dtype else v.dtype)
                for name, v in self._memory.items()
            }
            if member is not None:
                memory = {name: v[member] for name, v in memory.items()}
            other._memory = state_variables(memory, "weighting")
        return other

    def get_config(self):
        """Return the last rule, or `None` if its class is not registered with Keras."""
        name = keras.saving.get_registered_name(type(self.last))
        if keras.saving.get_registered_object(name) is not type(self.last):
            return None
        return keras.saving.serialize_keras_object(self.last)

    def saved(self):
        """Return the state of the last rule, a dict of variables."""
        return self._memory or {} if self.get_config() is not None else {}

    def load(self, saved):
        """Take back the dict of arrays that `saved` returned."""
        if self._memory is None or set(self._memory) != set(saved):
            self._memory = state_variables(saved, "weighting") if saved else None
        else:
            for name, variable in self._memory.items():
                variable.assign(saved[name])
