"""Splines as steps of a program: from tables to tensors."""

import functools
import math

import numpy as np
from keras import ops


@functools.lru_cache(maxsize=256)
def spline_of(table):
    """The `Spline` of a `Tabulated`, the same object each time."""
    return Spline(table)


class Spline:
    """A tensor product of B-splines, of tensors of the same shape, one for each axis.

    What follows from the table is found here, once: the coefficients, and in each cell
    of each axis the basis functions there as polynomials. A program looks up the cell
    and evaluates; nothing is solved or searched for in it.

    Args:
        table: The `Tabulated`.
    """

    def __init__(self, table):
        from scipy.interpolate import make_interp_spline

        self._axes, coefficients = [], table.values
        for place, (axis, order) in enumerate(
            zip(table.axes, table.orders, strict=True)
        ):
            moved = np.moveaxis(coefficients, place, 0)
            spline = make_interp_spline(axis, moved, table.degree)
            coefficients = np.moveaxis(spline.c, 0, place)
            self._axes.append(_Axis(axis, spline.t, table.degree, order))
        self._coefficients = coefficients.reshape(-1)
        strides = np.cumprod([1, *coefficients.shape[:0:-1]])[::-1]
        self._strides = [int(stride) for stride in strides]

    def __call__(self, *arguments):
        arguments = [ops.convert_to_tensor(a) for a in arguments]
        rows, weights = None, None
        for axis, stride, argument in zip(
            self._axes, self._strides, arguments, strict=True
        ):
            own, basis = axis(argument)
            own = own * stride
            if rows is None:
                rows, weights = own, basis
                continue
            rows = _flat(rows[..., :, None] + own[..., None, :])
            weights = _flat(weights[..., :, None] * basis[..., None, :])
        table = ops.convert_to_tensor(self._coefficients, weights.dtype)
        return ops.sum(ops.take(table, rows, axis=0) * weights, axis=-1)


class _Axis:
    """Which coefficients count at a number, and how much.

    Args:
        points: The axis, `(n,)`.
        knots: The knots of the spline along it.
        degree: Its degree.
        order: How often it is differentiated.
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
        """Rows `(..., degree + 1)` of the coefficients, and their weights."""
        x = ops.clip(x, *self._ends)
        cell = ops.take(ops.cast(self._cells, "int32"), self._interval(x), axis=0)
        start, width, basis = (
            ops.take(ops.convert_to_tensor(a, x.dtype), cell, axis=0)
            for a in (self._starts, self._widths, self._basis)
        )
        local = (x - start) / width
        powers = [ops.ones_like(local)]
        for _ in range(basis.shape[-1] - 1):
            powers.append(powers[-1] * local)
        weights = ops.sum(basis * ops.stack(powers, axis=-1)[..., None, :], axis=-1)
        steps = ops.arange(self._degree + 1, dtype="int32")
        return cell[..., None] + steps, weights

    def _interval(self, x):
        x = ops.stop_gradient(x)
        if self._step is None:
            inner = ops.convert_to_tensor(self._inner, x.dtype)
            passed = ops.cast(x[..., None] >= inner, "int32")
            return ops.sum(passed, axis=-1)
        place = ops.cast(ops.floor((x - self._ends[0]) / self._step), "int32")
        return ops.clip(place, 0, len(self._inner))


def _polynomials(knots, degree, order, starts, widths):
    """Derivatives of the basis functions on each cell, `(cells, degree + 1, powers)`.

    By powers of the distance from the cell's start in units of its width.
    """
    from scipy.interpolate import BSpline

    nodes = (np.arange(degree + 1) + 0.5) / (degree + 1)  # well inside of each cell
    points = (starts[:, None] + widths[:, None] * nodes).ravel()
    values = BSpline.design_matrix(points, knots, degree).data
    values = values.reshape(len(starts), degree + 1, degree + 1)
    powers = np.linalg.solve(np.vander(nodes, increasing=True), values)
    powers = np.moveaxis(powers, 1, 2)[:, :, order:]
    factors = [math.perm(k, order) for k in range(order, degree + 1)]
    return powers * factors / widths[:, None, None] ** order


def _flat(x):
    """The last two axes as one."""
    return ops.reshape(x, (*ops.shape(x)[:-2], x.shape[-2] * x.shape[-1]))
