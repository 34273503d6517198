import warnings

import keras
import numpy as np

from keraspinn.backend.scopes import assign
from keraspinn.callbacks.schedule import is_due
from keraspinn.common import Configured, check_count
from keraspinn.training.model import check_one_model


class RestoreOnNonFinite(Configured, keras.callbacks.TerminateOnNaN):
    """Stop training at a loss or gradient that is not finite, and restore a copy.

    Every so many steps it copies the weights, the loss weights λ and the optimizer's
    variables. If a loss or gradient becomes NaN or infinite, it restores them, warns,
    and ends `fit` without an error. Points depend on the optimizer's iterations, so a
    training that continues, for example with a lower learning rate, equals one that
    never failed.

    Without it `fit` raises `FloatingPointError` and keeps the weights before the failed
    step, which are finite but may be far off.

    Args:
        every: Number of training steps between copies; a copy is made at the end of the
            execution that reaches it.

    Raises:
        ValueError: If `every` is not a positive integer.
        TypeError: If the model is not a `PINNModel`.

    Example:

    ```python
    model.fit(epochs=40, callbacks=[keraspinn.callbacks.RestoreOnNonFinite()])
    ```
    """

    def __init__(self, every: int = 1000) -> None:
        super().__init__()
        self.every = check_count("every", every)

    def set_model(self, model):
        super().set_model(model)
        check_one_model(model)  # a member of an ensemble stops alone

    def on_train_begin(self, logs=None):
        self._kept = None

    def on_epoch_begin(self, epoch, logs=None):
        # Only here: later callbacks may restore a backup in on_train_begin.
        if self._kept is None:
            self._seen = self.model.steps_taken
            self._keep()

    def on_batch_end(self, batch, logs=None):
        loss = (logs or {}).get("loss")
        if loss is None or np.isfinite(loss):
            before, self._seen = self._seen, self.model.steps_taken
            if is_due(self.every, before, self._seen):
                self._keep()
            return
        text = self.model.trainer.explain_nonfinite(logs)
        assign(self.model.trainer.state_variables, self._kept)
        back = f"Back to iteration {self.model.steps_taken}. "
        warnings.warn(back + text, RuntimeWarning, stacklevel=2)
        self.model.stop_training = True

    def _keep(self):
        values = {id(v): v.numpy() for v in self.model.trainer.state_variables}
        # An update may overflow before the loss does.
        checked = [*self.model.weights, *self.model.optimizer.variables]
        if self._kept is None or all(np.isfinite(values[id(v)]).all() for v in checked):
            self._kept = list(values.values())
