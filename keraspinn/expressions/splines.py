"""Splines as steps of a program."""

import functools
import math

import numpy as np
from keras import ops


class Spline:
    """Tensor product of B-splines, for tensors of one shape, one per axis.

    The constructor computes the coefficients, and the basis functions in each cell as
    polynomials. A call looks up the cell and evaluates, without solves or searches.

    Args:
        table: The `Tabulated`.
    """

    def __init__(self, table):
        from scipy.interpolate import make_interp_spline

        self._axes, coefficients = [], table.values
        pairs = zip(table.axes, table.orders, strict=True)
        for index, (axis, order) in enumerate(pairs):
            moved = np.moveaxis(coefficients, index, 0)
            spline = make_interp_spline(axis, moved, table.degree)
            coefficients = np.moveaxis(spline.c, 0, index)
            self._axes.append(_Axis(axis, spline.t, table.degree, order))
        self._coefficients = coefficients.reshape(-1)
        self._strides = np.cumprod([1, *coefficients.shape[:0:-1]])[::-1].tolist()

    def __call__(self, *arguments):
        rows, weights, count = 0, 1, len(self._axes)
        triples = zip(self._axes, self._strides, arguments, strict=True)
        for k, (axis, stride, argument) in enumerate(triples):
            indices, basis = axis(ops.convert_to_tensor(argument))
            along = (..., *[None] * k, slice(None), *[None] * (count - 1 - k))
            rows, weights = rows + stride * indices[along], weights * basis[along]
        table = ops.convert_to_tensor(self._coefficients, weights.dtype)
        products = ops.take(table, rows, axis=0) * weights
        return ops.sum(products, axis=tuple(range(-count, 0)))


# Spline of a `Tabulated`, made once.
spline_of = functools.lru_cache(maxsize=256)(Spline)


class _Axis:
    """Axis of a spline: coefficients and weights at a number.

    Args:
        points: The axis, `(n,)`.
        knots: The knots of the spline along it.
        degree: Its degree.
        order: The order of its derivative.
    """

    def __init__(self, points, knots, degree, order):
        self._ends = float(points[0]), float(points[-1])
        starts = knots[degree : len(knots) - degree - 1]
        widths = np.diff(knots[degree : len(knots) - degree])
        self._degree, self._starts, self._widths = degree, starts, widths
        self._basis = _polynomials(knots, degree, order, starts, widths)
        steps = np.diff(points)
        self._inner = points[1:-1]
        self._step = steps[0] if np.allclose(steps, steps[0], rtol=1e-9) else None
        # The cell of each interval between points; a cubic's outer cells have two.
        middles = (points[1:] + points[:-1]) / 2
        self._cells = np.searchsorted(starts, middles, side="right") - 1

    def __call__(self, x):
        """Return rows `(..., degree + 1)` of the coefficients, and their weights."""
        x = ops.clip(x, *self._ends)
        cell = ops.take(ops.cast(self._cells, "int32"), self._interval(x), axis=0)
        arrays = self._starts, self._widths, self._basis
        tensors = (ops.convert_to_tensor(array, x.dtype) for array in arrays)
        start, width, basis = (ops.take(t, cell, axis=0) for t in tensors)
        local = (x - start) / width
        weights = basis[..., -1]
        for k in range(basis.shape[-1] - 2, -1, -1):  # Horner's rule
            weights = weights * local[..., None] + basis[..., k]
        return cell[..., None] + ops.arange(self._degree + 1, dtype="int32"), weights

    def _interval(self, x):
        x = ops.stop_gradient(x)
        if self._step is None:
            inner = ops.convert_to_tensor(self._inner, x.dtype)
            return ops.sum(ops.cast(x[..., None] >= inner, "int32"), axis=-1)
        cell = ops.cast(ops.floor((x - self._ends[0]) / self._step), "int32")
        return ops.clip(cell, 0, len(self._inner))


def _polynomials(knots, degree, order, starts, widths):
    """Return derivatives of basis functions, `(cells, degree + 1, powers)`.

    Powers are of the distance from the cell's start in units of its width.
    """
    from scipy.interpolate import BSpline

    nodes = (np.arange(degree + 1) + 0.5) / (degree + 1)  # inside each cell
    points = (starts[:, None] + widths[:, None] * nodes).ravel()
    values = BSpline.design_matrix(points, knots, degree).data
    values = values.reshape(len(starts), degree + 1, degree + 1)
    powers = np.linalg.solve(np.vander(nodes, increasing=True), values)
    powers = np.moveaxis(powers, 1, 2)[:, :, order:]
    factors = [math.perm(k, order) for k in range(order, degree + 1)]
    return powers * factors / widths[:, None, None] ** order
