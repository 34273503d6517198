"""Frozen parameters of a model, for another model of the same kind.

The configurations of Keras's layers and of keraspinn's networks contain `trainable`.
That of a user's network may lack it for the layers that the network makes.
"""

from keraspinn.backend.compatibility import inner_layers


def frozen(model):
    """Return the indices of frozen ones among network weights and coefficients.

    Args:
        model: A `PINNModel` or an `Ensemble`.
    """
    return _indices(_parameters(model))


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


def freeze_as(layer, copy):
    """Freeze the same parameters in the copy of a network, or of a layer.

    Args:
        layer: The layer, perhaps not built and without weights.
        copy: One of the same configuration, built.
    """
    if layer.built:
        for index in _indices(layer.weights):
            copy.weights[index].trainable = False
    elif not layer.trainable:
        copy.trainable = False
    else:
        # Layers made by building come after those that were there.
        for pair in zip(inner_layers(layer), inner_layers(copy), strict=False):
            freeze_as(*pair)


def _indices(variables):
    return [k for k, variable in enumerate(variables) if not variable.trainable]


def _parameters(model):
    single = model.trainer.single
    return [*single.network.weights, *single.coefficients.values()]
