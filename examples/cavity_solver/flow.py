"""Steady flow in the unit square, sampled on a uniform grid."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

# Number of cells around a jump without cubic splines. The effect of a jump on a spline
# decays by a factor of 3.7 a cell, to 4e-5 at this distance.
JUMP_CELLS = 8


@dataclasses.dataclass(frozen=True, eq=False)
class CavityFlow:
    """Fields of a flow in the lid-driven cavity.

    All quantities are nondimensional. The units are the side of the cavity, the speed
    of the lid, and density times the square of this speed.

    A field is an array `A` of shape `(n + 1, n + 1)` with **x first**: `A[i, j]` is
    its value at `(x[i], y[j])`, so `A[:, -1]` is the lid. For Matplotlib's `contourf`
    or `imshow(origin="lower")` pass `A.T`.

    At the two lid corners the boundary data jump and the vorticity and pressure are
    unbounded. There `u` is that of the lid, 1. `vorticity` and `pressure` are the mean
    of the two neighbours on the walls, a placeholder and not a value of the flow.

    Args:
        reynolds: The Reynolds number, lid speed times side over viscosity.
        x, y: The nodes, shape `(n + 1,)`.
        psi: Streamfunction, `u = ∂ψ/∂y` and `v = −∂ψ/∂x`; negative in the main vortex.
        vorticity: `∂v/∂x − ∂u/∂y`.
        u, v: Velocity. Exact on the walls.
        pressure: Pressure, zero at the centre of the cavity.

    Raises:
        ValueError: By `at`, if points have another shape or lie outside the square.

    Example:
        >>> flow = lid_driven_cavity(reynolds=100, n=64)
        >>> flow.u.shape
        (65, 65)
        >>> value, y = flow.centreline_extrema()["u_min"]
        >>> print(f"{value:.3f} at y = {y:.2f}")
        -0.212 at y = 0.46
    """

    reynolds: float
    x: np.ndarray
    y: np.ndarray
    psi: np.ndarray
    vorticity: np.ndarray
    u: np.ndarray
    v: np.ndarray
    pressure: np.ndarray

    @staticmethod
    def _fields():
        return "psi", "vorticity", "u", "v", "pressure"

    @property
    def n(self) -> int:
        """Return the number of cells a side."""
        return len(self.x) - 1

    @property
    def speed(self) -> np.ndarray:
        """Return the magnitude of the velocity at the nodes."""
        return np.hypot(self.u, self.v)

    @property
    def flux(self) -> float:
        """Return the flow rate through x = 1/2, `∫ u dy`, by the trapezium rule.

        In a sealed cavity it is zero up to the quadrature error, of order h².
        """
        middle = self.u[self.n // 2]
        return float(np.sum(middle[1:] + middle[:-1]) / (2 * self.n))

    def at(self, points: ArrayLike) -> dict[str, np.ndarray]:
        """Interpolate all fields at scattered points.

        The method uses bicubic splines, but they overshoot near a jump. So within eight
        cells of a lid corner (two on a grid of eight cells) the interpolation is
        bilinear, and stays between the values at the nodes. Within a few cells of these
        corners the grid does not resolve the fields.

        Args:
            points: Array of shape `(m, 2)`; columns x and y, in the unit square.

        Returns:
            A dict of arrays of shape `(m,)`: `"psi"`, `"vorticity"`, `"u"`, `"v"`,
            `"pressure"` and `"speed"`.

        Raises:
            ValueError: If the shape is another, or a point is outside the square.
        """
        points = _check_points(points)
        values = {name: self._interpolate(name, points) for name in self._fields()}
        values["speed"] = np.hypot(values["u"], values["v"])
        return values

    def _interpolate(self, name, points):
        from scipy.interpolate import RectBivariateSpline, RegularGridInterpolator

        field = getattr(self, name)
        smooth = RectBivariateSpline(self.x, self.y, field).ev(*points.T)
        linear = RegularGridInterpolator((self.x, self.y), field)(points)
        return np.where(self._near_jump(points), linear, smooth)

    def _near_jump(self, points):
        x, y = points.T
        distance = np.maximum(np.minimum(x, 1.0 - x), 1.0 - y)
        return distance < min(JUMP_CELLS, self.n // 4) / self.n

    def centreline_extrema(self) -> dict[str, tuple[float, float]]:
        """Return the usual extrema of cavity flows, which can lie between nodes.

        Returns:
            A dict of pairs (value, coordinate): `"u_min"` along `x = 1/2` with its y,
            `"v_max"` and `"v_min"` along `y = 1/2` with their x.

        Reference:
            U. Ghia, K. N. Ghia, C. T. Shin, *High-Re solutions for incompressible
            flow using the Navier-Stokes equations and a multigrid method* (1982).
        """
        from scipy.interpolate import CubicSpline

        along_y = np.column_stack([np.full_like(self.y, 0.5), self.y])
        along_x = np.column_stack([self.x, np.full_like(self.x, 0.5)])
        u = CubicSpline(self.y, self.at(along_y)["u"])
        v = CubicSpline(self.x, self.at(along_x)["v"])
        return {
            "u_min": _extremum(u, np.argmin),
            "v_max": _extremum(v, np.argmax),
            "v_min": _extremum(v, np.argmin),
        }


def _extremum(spline, locate):
    stationary = spline.derivative().roots(extrapolate=False)
    values = spline(stationary)
    index = locate(values)
    return float(values[index]), float(stationary[index])


def _check_points(points):
    points = np.asarray(points, float)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            "`points` must have shape (m, 2), with columns x and y. Received shape "
            f"{points.shape}; write np.column_stack([x, y])."
        )
    inside = np.all((points >= 0.0) & (points <= 1.0), axis=1)
    if not inside.all():
        raise ValueError(
            "`points` must lie in the unit square. Received "
            f"{tuple(map(float, points[~inside][0]))}; drop the points outside it, or "
            "scale yours to the cavity's side."
        )
    return points
