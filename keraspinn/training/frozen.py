"""Frozen parameters of a model, for another model of the same kind.

The configurations of Keras's layers and of keraspinn's networks contain `trainable`.
That of a user's network may lack it for the layers that the network makes.
"""


def frozen(model):
    """Return the indices of frozen ones among network weights and coefficients.

    Args:
        model: A `PINNModel` or an `Ensemble`.

    Raises:
        ValueError: If the network is quantized: it could not be rebuilt.
    """
    parameters = _parameters(model)
    if any(variable.dtype == "int8" for variable in parameters):
        raise ValueError(
            "A quantized network has no configuration: its float weights are lost. "
            "Save the model before you quantize it, and quantize it again after "
            "keras.models.load_model, with `quantize('int8')`."
        )
    return [k for k, v in enumerate(parameters) if not v.trainable]


def freeze(model, indices):
    """Freeze the same parameters as in another model.

    Args:
        model: The model.
        indices: The result of `frozen` for the other model.
    """
    parameters = _parameters(model)
    chosen = [parameters[index] for index in indices]
    if model.trainer.single is not model:
        chosen += model._members.stacked(chosen)
    for variable in chosen:
        variable.trainable = False


def _parameters(model):
    single = model.trainer.single
    return [*single.network.weights, *single.coefficients.values()]
