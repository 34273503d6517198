"""Rules for layers that standardize the features of each point.

Nested Jacobian-vector products are wrong here: Keras takes the variance by
`tf.nn.moments`, which stops the gradient of the mean, so that on TensorFlow first
derivatives are right and second ones are not.
"""

from keras import layers, ops

from keraspinn.derivatives.taylor.activations import power
from keraspinn.derivatives.taylor.functional import reject
from keraspinn.derivatives.taylor.rules import check_axis, register_rule, spread


@register_rule(layers.LayerNormalization)
def layer_normalization(layer, x):
    if layer.rms_scaling:
        reject(layer, "has `rms_scaling`; its Taylor rule is for centred features")
    check_axis(layer, x)
    return _standardized(layer, x, groups=1)


@register_rule(layers.GroupNormalization)
def group_normalization(layer, x):
    if len(x.value.shape) != 2:
        reject(layer, "normalizes more than the features of each point, (N, F)")
    check_axis(layer, x)
    return _standardized(layer, x, layer.groups)


def _standardized(layer, x, groups):
    """Return γ (x − mean) / √(variance + ε) + β, with moments over feature groups."""
    width = x.value.shape[-1]

    def mean(coefficient):
        whole = spread(coefficient, width)
        shape = (*ops.shape(whole)[:-1], groups, width // groups)
        means = ops.mean(ops.reshape(whole, shape), axis=-1)
        return ops.repeat(means, width // groups, axis=-1)

    x = x.cast(layer.compute_dtype)
    centred = x - x.map(mean)
    variance = (centred * centred).map(mean) + layer.epsilon
    y = centred * variance.compose(power(-0.5))
    if layer.gamma is not None:
        y = y * ops.cast(layer.gamma, y.dtype)
    return y if layer.beta is None else y + ops.cast(layer.beta, y.dtype)
