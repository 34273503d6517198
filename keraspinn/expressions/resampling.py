"""Resampling of a table's points and values to a grid."""

import warnings

import numpy as np

from keraspinn.common.checks import finite_array

_GLOBAL_POINTS = 1000  # scattered points up to which each value depends on all
_NEIGHBOURS = 50  # nearest points that each value depends on, for more points
_MOST = {2: 256, 3: 48}  # points per axis in 2-D and 3-D: 65,536 and 110,592 in all
_LEAST = 16  # points per axis, enough for a cubic spline of a smooth function
_TOLERANCE = 0.05  # largest error at the points, relative to the range of values


def on_a_grid(points, values, resolution=None):
    """Return axes, a tuple of float64 arrays, and values on their grid.

    Args:
        points: As for `Tabulated`.
        values: As for `Tabulated`.
        resolution: Number of points on each axis, for scattered points.
    """
    values = finite_array("values of a table", values)
    if isinstance(points, tuple):
        axes = tuple(finite_array("axes of a table", axis) for axis in points)
        if not 1 <= len(axes) <= 3 or any(axis.ndim != 1 for axis in axes):
            raise ValueError(
                "A grid has one to three axes, each an array (n,). Received: shapes "
                f"{[axis.shape for axis in axes]}"
            )
        return axes, values
    points = finite_array("points of a table", points)
    if points.ndim == 1:
        return (points,), values
    if points.ndim != 2 or not 1 <= points.shape[1] <= 3 or len(points) < 4:
        raise ValueError(
            "`points` must be a tuple of axes, or scattered points, an array (n, d) in "
            f"one to three variables, four at least. Received: shape {points.shape}"
        )
    if values.shape not in ((len(points),), (len(points), 1)):
        raise ValueError(
            f"`values` must have shape ({len(points)},), one for each point. Received: "
            f"{values.shape}"
        )
    if len(np.unique(points, axis=0)) < len(points):
        raise ValueError("Two of the points coincide. Give one value for each point.")
    if points.shape[1] == 1:
        order = np.argsort(points[:, 0])
        return (points[order, 0],), values.reshape(-1)[order]
    return _interpolated(points, values.reshape(-1), resolution)


def _interpolated(points, values, resolution):
    from scipy.interpolate import RBFInterpolator, RegularGridInterpolator

    lower, extent = points.min(axis=0), np.ptp(points, axis=0)
    if not extent.all():
        raise ValueError(
            "The points lie on a line or in a plane: a function of fewer variables."
        )
    scaled, dimension = (points - lower) / extent, points.shape[1]
    if resolution is None:
        fine = int(np.ceil(2 * len(points) ** (1 / dimension)))
        resolution = min(max(fine, _LEAST), _MOST[dimension])
    near = None if len(points) <= _GLOBAL_POINTS else _NEIGHBOURS
    axis = np.linspace(0, 1, resolution)
    grid = np.stack(np.meshgrid(*[axis] * dimension, indexing="ij"), axis=-1)
    interpolator = RBFInterpolator(scaled, values, neighbors=near)
    resampled = interpolator(grid.reshape(-1, dimension)).reshape(grid.shape[:-1])
    again = RegularGridInterpolator((axis,) * dimension, resampled)(scaled)
    if (missed := abs(again - values).max()) > _TOLERANCE * np.ptp(values):
        warnings.warn(
            f"A grid of {resolution} points per axis misses values of the table by "
            f"up to {missed:.3g}, of a range of {np.ptp(values):.3g}. Give "
            f"resolution={2 * resolution}, or smoother values.",
            stacklevel=4,
        )
    return tuple(lower[k] + extent[k] * axis for k in range(dimension)), resampled
