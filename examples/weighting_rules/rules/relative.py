"""Weights of all terms as weights of the conditions alone."""

from keras import ops


def relative(weights, smallest=0.0):
    """Divide weights by the residual's weight, which is always one in a model.

    This multiplies the whole loss by a factor. Steps of Adam do not depend on it.

    Args:
        weights: Dict from term names to weights, `"residual"` among them.
        smallest: Lower bound of the divisor.

    Returns:
        Dict from condition names to weights.
    """
    residual = ops.maximum(weights["residual"], smallest)
    return {name: w / residual for name, w in weights.items() if name != "residual"}
