"""Comparison of a network's derivatives with difference quotients."""

import numpy as np
from keras import ops

from keraspinn.derivatives.checks import notation
from keraspinn.derivatives.taylor.indices import with_lower

BATCH = 64  # points, the number of the other checks: JAX compiles per shape
LEAST = 3  # points with quotients, in any number of dimensions
STENCIL = (-2, -1, 1, 2)  # steps from each point, along each coordinate
TOLERANCE = 2e-3  # relative error of a derivative: wrong ones were off by 1 % or more
ROUNDING = 30  # units of round-off that layers may add to values and derivatives
COUPLING = 1e-3  # change of a value, relative to its range, by the other points
WRONG_SHARE = 0.25  # of the points with a wrong derivative, or a rough one, at most
DOUBT = 3  # differences of two quotients that bound the quotients' own error
SHORT = 0.1  # second difference, relative to the spread of values, of short waves
ROUGH = 1e-4  # difference of two quotients, relative to derivatives, in float64


def check_against_differences(fields, points, required, coordinates):
    """Reject a network whose derivatives are not those of a function of a point.

    Each derivative is compared with central differences of the one below it, down to
    the values. Quotients of two steps bound their own error, so that kinks, high
    frequencies and round-off leave a point undecided. The value at one point is
    compared with its value in a batch.

    Args:
        fields: The `Fields` of the network.
        points: Tensor `(N, d)`, scaled, inside the domain.
        required: Dict from field names to sets of multi-indices.
        coordinates: Names of the coordinates, in the order of the multi-indices.

    Raises:
        ValueError: If a derivative is wrong at more than a quarter of the points, or
            the value at a point depends on the other points.
    """
    dtype = ops.dtype(points)
    rounding, dimension = float(np.finfo(dtype).eps), points.shape[-1]
    # Balances truncation, h², with round-off, eps / h.
    step = 2.0 ** round(np.log2(rounding) / 3)
    if dtype == "float64":  # no multiple of the spacing of float32, which hides it
        step *= 1.37
    units = np.eye(dimension, dtype=int)
    offsets = np.array([0 * units[0], *(k * unit for unit in units for k in STENCIL)])
    shape = max(LEAST, BATCH // len(offsets)), len(offsets)
    points = ops.convert_to_numpy(points).astype("float64")
    stencils = (points[: shape[0], None] + step * offsets).reshape(-1, dimension)
    rest = points[: max(0, BATCH - len(stencils))]
    points = ops.convert_to_tensor(np.concatenate([stencils, rest]), dtype)

    values = checked_values(fields, points, rounding)
    required = {name: with_lower(indices) for name, indices in required.items()}
    computed = fields.derivatives(points, required)
    # Values by a call of the network, not by rules.
    computed |= {key: values[key[0]] for key in computed if not any(key[1])}
    at = {key: ops.convert_to_numpy(array) for key, array in computed.items()}
    at = {k: a[: len(stencils)].astype("float64").reshape(shape) for k, a in at.items()}
    for name, index in sorted(at, key=lambda key: (sum(key[1]), key)):
        for axis in np.flatnonzero(index):
            below = tuple(np.subtract(index, units[axis]).tolist())
            lower, first = at[name, below], 1 + len(STENCIL) * axis
            # Along this coordinate, at -2, -1, 1 and 2 steps.
            far, near, after, beyond = lower[:, first : first + len(STENCIL)].T
            fine, coarse = (after - near) / (2 * step), (beyond - far) / (4 * step)
            quotient, value = (4 * fine - coarse) / 3, at[name, index][:, 0]
            doubt, noise = abs(fine - coarse), ROUNDING * rounding / step * abs(lower)
            allowed = TOLERANCE * np.maximum(abs(value), abs(quotient))
            wrong = abs(value - quotient) > allowed + DOUBT * doubt + np.nanmax(noise)
            # Quotients of waves as short as the step may agree on a wrong number.
            wrong &= abs(after - 2 * lower[:, 0] + near) < SHORT * np.ptp(lower, axis=1)
            rough = ROUGH * abs(value).max() + noise.max()
            if dtype == "float64" and np.mean(doubt > rough) > WRONG_SHARE:
                raise ValueError(
                    "A layer of the network rounds to less than float64, the model's "
                    f"type: {name} is no smooth function of {coordinates[axis]} over "
                    f"{step:.1g} of the domain. Leave out casts to float32, and layers "
                    "and arrays of that type, or use a float32 model. keras.Input does "
                    "not follow the policy: write keras.Input(..., dtype='float64')."
                )
            if np.mean(wrong) > WRONG_SHARE:
                worst = np.flatnonzero(wrong)[0]
                _reject(name, index, below, coordinates, value[worst], quotient[worst])


def checked_values(fields, points, rounding):
    """Return a dict of the fields' values, or raise if they depend on the batch."""
    # In random order, so that neighbours in the batch are far apart.
    order = np.random.default_rng(0).permutation(len(points))
    middle = len(points) // 2
    shuffled = ops.take(points, order, axis=0)
    whole = ops.convert_to_numpy(fields.scaled_values(shuffled))
    alone = ops.convert_to_numpy(fields.scaled_values(shuffled[middle : middle + 1]))
    allowed = COUPLING * np.ptp(whole, axis=0)
    allowed += ROUNDING * rounding * abs(whole).max(axis=0)
    if (abs(whole[middle] - alone[0]) > allowed).any():
        raise ValueError(
            "The network's value at a point changes with the other points of the "
            f"batch, or from call to call: {_shown(whole[middle])} among "
            f"{len(points)} points, {_shown(alone[0])} alone, and has no derivatives "
            "then. Leave out means over the batch (axis 0) and `training=True` in "
            "calls of BatchNormalization or Dropout, or use LayerNormalization."
        )
    return dict(zip(fields.names, whole[np.argsort(order)].T, strict=True))


def _reject(name, index, below, coordinates, value, quotient):
    below = notation(name, below, coordinates) if any(below) else name
    raise ValueError(
        f"The network's derivative {notation(name, index, coordinates)} is wrong: its "
        f"layers give {value:.4g} where differences of {below} between close points "
        f"give {quotient:.4g}, in the problem's scales. A layer of the network stops "
        "gradients: one that calls `ops.stop_gradient` or `ops.moments`, as "
        "LayerNormalization does on TensorFlow within a layer of your own, where "
        "keras.layers.RMSNormalization is right; or it has a custom gradient or a "
        "rule by `keraspinn.taylor.register_rule` that is not that of its `call`."
    )


def _shown(values):
    return ", ".join(f"{value:.6g}" for value in values)
