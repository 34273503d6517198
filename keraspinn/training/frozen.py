"""Which of a model's parameters are frozen, for another model of the same kind.

The configurations of Keras's layers and of networks here say whether they are trained.
A network of a user's own need not tell it of the layers that it makes.
"""

from keraspinn.backend.compatibility import inner_layers


def frozen(model):
    """Places of the frozen ones among the network's weights and the coefficients.

    Args:
        model: A `PINNModel` or an `Ensemble`.
    """
    return _places(_parameters(model))


def freeze(model, places):
    """Freeze what is frozen in another.

    Args:
        model: The model.
        places: What `frozen` of the other returned.
    """
    parameters = _parameters(model)
    chosen = [parameters[place] for place in places]
    if model.trainer.single is not model:
        chosen += model._members.stacked(chosen)
    for variable in chosen:
        variable.trainable = False


def freeze_as(layer, copy):
    """Freeze in the copy of a network, or of a layer of it, what is frozen there.

    Args:
        layer: The layer, perhaps not built and without weights.
        copy: One of the same configuration, built.
    """
    if layer.built:
        for place in _places(layer.weights):
            copy.weights[place].trainable = False
    elif not layer.trainable:
        copy.trainable = False
    else:
        # What building makes comes after what was there.
        for pair in zip(inner_layers(layer), inner_layers(copy), strict=False):
            freeze_as(*pair)


def _places(variables):
    return [k for k, variable in enumerate(variables) if not variable.trainable]


def _parameters(model):
    single = model.trainer.single
    return [*single.network.weights, *single.coefficients.values()]
