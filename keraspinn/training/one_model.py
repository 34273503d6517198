"""What takes one model says so, and of an ensemble what to give it."""

from keraspinn.training.ensemble import Ensemble
from keraspinn.training.model import PINNModel


def check_one_model(model):
    """Raises `TypeError` unless the model is a `PINNModel`."""
    if isinstance(model, PINNModel):
        return
    hint = ""
    if isinstance(model, Ensemble):
        hint = " Give it one member of the ensemble: `ensemble.member(0)`."
    received = type(model).__name__
    raise TypeError(
        f"`model` must be a keraspinn.PINNModel.{hint} Received: {received}"
    )
