"""Which of a model's parameters are frozen, for another model of the same kind.

The configurations of Keras's layers and of networks here say whether they are trained.
A network of a user's own need not tell it of the layers that it makes.
"""


def frozen(model):
    """Places of the frozen ones among the network's weights and the coefficients.

    Args:
        model: A `PINNModel` or an `Ensemble`.
    """
    return [
        k for k, variable in enumerate(_parameters(model)) if not variable.trainable
    ]


def freeze(model, places):
    """Freeze what is frozen in another.

    Args:
        model: The model.
        places: What `frozen` of the other returned.
    """
    parameters = _parameters(model)
    for place in places:
        parameters[place].trainable = False


def _parameters(model):
    single = model._single()
    return [*single.network.weights, *single.coefficients.values()]
