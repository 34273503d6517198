"""The check of functions that take one model, not an ensemble."""

from keraspinn.training.model import PINNModel


def check_one_model(model):
    """Raise `TypeError` unless the model is a `PINNModel`."""
    if not isinstance(model, PINNModel):
        raise TypeError(
            "`model` must be a keraspinn.PINNModel, or one member of the ensemble: "
            f"`ensemble.member(0)`. Received: {type(model).__name__}"
        )
