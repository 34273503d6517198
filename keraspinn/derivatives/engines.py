"""Derivatives of a network's outputs with respect to its inputs, by two engines.

Taylor arithmetic applies to networks of layers with rules, nested Jacobian-vector
products to all others. Layers with another behaviour in training than in inference,
such as `Dropout`, act as in inference: a derivative is defined for
a fixed network, not for one that is random in each call.
"""

import warnings

import numpy as np
from keras import ops

from keraspinn.backend import jvp
from keraspinn.derivatives.taylor import IndexSet, MissingRule, Taylor, plus


def taylor_derivatives(forward, points, indices, combinations=()):
    """Compute derivatives by truncated Taylor arithmetic, in one pass.

    Args:
        forward: Function of a `Taylor` series of the points that returns the series
            of the outputs.
        points: Tensor `(..., N, d)`.
        indices: The multi-indices of the derivatives.
        combinations: Tuples of pairs `(multi-index, weight)` of the highest
            derivatives, if only these combinations matter. The values
            returned for these have the same combinations, at less cost.

    Returns:
        Dict from multi-indices to tensors `(..., N, F)`.

    Raises:
        MissingRule: If the network has a layer without a rule.
    """
    outputs = forward(Taylor.of_points(points, IndexSet(indices, combinations)))
    combined = [outputs.combination(pairs) for pairs in combinations]
    highest = sorted({index for pairs in combinations for index, _ in pairs})
    weights = [[dict(pairs).get(i, 0.0) for i in highest] for pairs in combinations]
    # The values of least norm with these combinations.
    shares = dict(zip(highest, np.linalg.pinv(weights), strict=True)) if highest else {}
    derivatives = {}
    for index in indices:
        if index in shares:
            pairs = zip(shares[index], combined, strict=True)
            terms = [share * value for share, value in pairs if share]
            derivatives[index] = sum(terms[1:], terms[0])
        else:
            derivatives[index] = outputs.derivative(index)
    return derivatives


def jvp_derivatives(function, points, indices):
    """Compute derivatives by nested Jacobian-vector products, for any Keras network.

    The cost grows exponentially with the order, unlike that of `taylor_derivatives`.

    Args:
        function: Function of points `(..., N, d)` that returns `(..., N, F)`.
        points: Tensor `(..., N, d)`.
        indices: The multi-indices of the derivatives.

    Returns:
        Dict from multi-indices to tensors `(..., N, F)`.
    """
    derivatives = _jet(function, set(indices))(points)
    return {index: derivatives[index] for index in indices}


def _jet(function, indices):
    """Return a function that computes derivatives, and intermediate ones."""
    columns = [column for index in indices for column, n in enumerate(index) if n]
    if not columns:
        return lambda points: {index: function(points) for index in indices}
    column = min(columns)
    unit = [index == column for index in range(len(next(iter(indices))))]
    lower = {tuple(np.subtract(i, unit).tolist()) for i in indices if i[column]}

    def jet(points):
        direction = ops.cast(unit, points.dtype) + ops.zeros_like(points)
        values, tangents = jvp(_jet(function, lower), points, direction)
        raised = {plus(index, unit): tangent for index, tangent in tangents.items()}
        derivatives = raised | values
        rest = indices - derivatives.keys()
        return derivatives | _jet(function, rest)(points) if rest else derivatives

    return jet


def choose_engine(forward, dimension, dtype):
    """Return `"taylor"` if every layer of the network has a rule, else `"jvp"`.

    A `UserWarning` names the layer that requires the second, which is correct but
    slower.

    Args:
        forward: Function of a `Taylor` series of the points that returns the series
            of the outputs. It runs once, outside of any compiled program, and so
            prepares the program's constants.
        dimension: Number of coordinates.
        dtype: Floating-point type of points.
    """
    points = ops.zeros((1, dimension), dtype)
    try:
        taylor_derivatives(forward, points, [(2,) + (0,) * (dimension - 1)])
    except MissingRule as error:
        where = "" if error.layer is None else f" because of layer '{error.layer.name}'"
        warnings.warn(
            "Derivatives are computed by nested Jacobian-vector products, which are "
            f"correct but slower than Taylor arithmetic{where}: {error}",
            UserWarning,
            stacklevel=2,
        )
        return "jvp"
    return "taylor"
