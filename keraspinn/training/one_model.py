"""The check of functions that take one model, not an ensemble."""

from keraspinn.training.ensemble import Ensemble
from keraspinn.training.model import PINNModel


def check_one_model(model):
    """Raise `TypeError` unless the model is a `PINNModel`."""
    if isinstance(model, PINNModel):
        return
    hint = ""
    if isinstance(model, Ensemble):
        hint = " Give it one member of the ensemble: `ensemble.member(0)`."
    received = type(model).__name__
    raise TypeError(
        f"`model` must be a keraspinn.PINNModel.{hint} Received: {received}"
    )
