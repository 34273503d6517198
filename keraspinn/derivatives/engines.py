"""Derivatives of a network's outputs by its inputs, by one of two engines.

Taylor arithmetic serves networks made of layers it has rules for, nested
Jacobian-vector products all others. Layers that act otherwise in training than in
inference, such as `Dropout`, act here as in inference: a derivative by the coordinates
has a meaning for one network, not for one drawn anew at each call.
"""

import warnings

import numpy as np
from keras import ops

from keraspinn.backend import jvp
from keraspinn.derivatives.taylor import IndexSet, MissingRule, Taylor


def taylor_derivatives(forward, points, indices, combinations=()):
    """Derivatives by truncated Taylor arithmetic, all in one pass.

    Args:
        forward: Function of a `Taylor` series of the points that returns the series
            of the outputs.
        points: Tensor `(..., N, d)`.
        indices: The multi-indices asked for.
        combinations: Tuples of pairs `(multi-index, weight)`. The derivatives in them
            are the highest, and matter by these combinations alone: what is returned
            for them has the same ones, at less cost.

    Returns:
        Dict from multi-indices to tensors `(..., N, F)`.

    Raises:
        MissingRule: If the network has a layer the engine has no rule for.
    """
    outputs = forward(Taylor.of_points(points, IndexSet(indices, combinations)))
    combined = [outputs.combination(own) for own in combinations]
    highest = sorted({index for own in combinations for index, _ in own})
    weights = [[dict(own).get(index, 0.0) for index in highest] for own in combinations]
    # The least numbers that have these combinations.
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
    """Derivatives by nested Jacobian-vector products, for any Keras network.

    Costs grow exponentially with the order; those of `taylor_derivatives` do not.

    Args:
        function: Function of points `(..., N, d)` that returns `(..., N, F)`.
        points: Tensor `(..., N, d)`.
        indices: The multi-indices asked for.

    Returns:
        Dict from multi-indices to tensors `(..., N, F)`.
    """
    derivatives = _jet(function, set(indices))(points)
    return {index: derivatives[index] for index in indices}


def _jet(function, indices):
    """The derivatives of a function, and those met on the way, as a function."""
    columns = [column for index in indices for column, n in enumerate(index) if n]
    if not columns:
        return lambda points: {index: function(points) for index in indices}
    column = min(columns)
    unit = [place == column for place in range(len(next(iter(indices))))]
    lower = {
        tuple(n - one for n, one in zip(index, unit, strict=True))
        for index in indices
        if index[column]
    }

    def jet(points):
        direction = ops.cast(unit, points.dtype) + ops.zeros_like(points)
        values, slopes = jvp(_jet(function, lower), points, direction)
        raised = {
            tuple(n + one for n, one in zip(index, unit, strict=True)): slope
            for index, slope in slopes.items()
        }
        derivatives = raised | values
        rest = indices - derivatives.keys()
        return derivatives | _jet(function, rest)(points) if rest else derivatives

    return jet


def choose_engine(forward, dimension, dtype):
    """`"taylor"` if every layer of the network has a rule, else `"jvp"`.

    The second is said in a `UserWarning`, with the layer that it is for: it is right,
    but slower, and no one would know.

    Args:
        forward: Function of a `Taylor` series of the points that returns the series
            of the outputs. It runs once, outside of any compiled program, so that
            what it prepares is ready there.
        dimension: Number of coordinates.
        dtype: Floating-point type of points.
    """
    points = ops.zeros((1, dimension), dtype)
    try:
        taylor_derivatives(forward, points, [(2,) + (0,) * (dimension - 1)])
    except MissingRule as error:
        where = "" if error.layer is None else f" because of layer '{error.layer.name}'"
        warnings.warn(
            "Derivatives are taken by nested Jacobian-vector products, which are "
            f"right but slower than Taylor arithmetic{where}: {error}",
            UserWarning,
            stacklevel=2,
        )
        return "jvp"
    return "taylor"
