"""Weights of all terms as weights of the conditions alone."""

from keras import ops


def relative(weights, smallest=0.0):
    """Divide weights by that of the residual, which a model fixes at one.

    The whole loss changes by a factor, which Adam's steps do not depend on.

    Args:
        weights: Dict from term names to weights, `"residual"` among them.
        smallest: Weight below which the residual's is not taken.

    Returns:
        Dict from condition names to weights.
    """
    residual = ops.maximum(weights["residual"], smallest)
    return {name: w / residual for name, w in weights.items() if name != "residual"}
