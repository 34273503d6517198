"""Tabulated functions: coefficients and source terms given as numbers."""

import functools
import hashlib
from typing import Any, Self

import sympy as sp
from numpy.typing import ArrayLike

from keraspinn.expressions.resampling import on_a_grid


class Tabulated(sp.Atom):
    """Function of one to three variables, interpolated from a table.

    Call `k = keraspinn.Tabulated((xs, ys), values)` like a SymPy function. `k(x, y)`
    may occur in equations, conditions and references, and can be differentiated. Its
    arguments may be any expressions, also fields: a viscosity `mu(T)`. It is a spline
    between the points. Beyond the table it keeps the edge value; a problem with a
    larger domain is rejected.

    Args:
        points: The axes of a grid, a tuple of arrays, each increasing; one array `(n,)`
            for a function of one variable; or scattered points, an array `(n, d)`,
            whose values SciPy's thin-plate splines resample to a grid.
        values: Array of the grid's shape, `values[i, j]` at `(xs[i], ys[j])`; or
            `(n,)`. In the units of the equations.
        degree: 3 for cubic splines, 1 for linear ones, which do not ring at jumps.
            Derivatives of a higher order are rejected.
        name: Its name in printed equations.
        resolution: Number of points per axis of the grid for scattered points; about
            twice as fine as they are by default.

    Attributes:
        ranges: List of pairs of the ends of its axes.

    Raises:
        ValueError: If `points` and `values` are not arrays of finite numbers, shapes
            do not match, an axis does not increase or is too short, or two scattered
            points coincide.

    Warns:
        UserWarning: If the grid misses a value at scattered points by 5 % of their
            range.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> u = sp.Function("u")(x, y)
    >>> xs, ys = np.linspace(0, 1, 11), np.linspace(0, 2, 21)
    >>> k = keraspinn.Tabulated((xs, ys), 1 + xs[:, None] * ys, name="k")
    >>> (k(x, y) * u.diff(x)).diff(x)
    Derivative(u(x, y), x)*k_1(x, y) + Derivative(u(x, y), (x, 2))*k(x, y)

    Reference:
        de Boor, "A Practical Guide to Splines"; Duchon, "Splines minimizing
        rotation-invariant semi-norms in Sobolev spaces", 1977.
    """

    def __new__(
        cls,
        points: ArrayLike,
        values: ArrayLike,
        degree: int = 3,
        name: str = "table",
        resolution: int | None = None,
    ) -> Self:
        if str(degree) not in ("1", "3"):  # arguments in another order
            raise ValueError(f"`degree` must be 1 or 3. Received: {degree!r}")
        axes, values = on_a_grid(points, values, resolution)
        _check_grid(axes, values, degree)
        return cls._made(axes, values, int(degree), name, (0,) * len(axes))

    @classmethod
    def _made(cls, axes, values, degree, name, orders):
        self = super().__new__(cls)
        self.axes, self.values = axes, values
        self.ranges = [(float(axis[0]), float(axis[-1])) for axis in axes]
        self.degree, self.name, self.orders = degree, name, orders
        return self

    def __call__(self, *arguments: sp.Expr | float) -> "Interpolation":
        return Interpolation(self, *map(sp.sympify, arguments))

    def differentiated(self, axis: int) -> Self:
        """Return its derivative in the argument of an axis."""
        orders = tuple(n + (k == axis) for k, n in enumerate(self.orders))
        return self._made(self.axes, self.values, self.degree, self.name, orders)

    def check_order(self) -> None:
        """Raise `ValueError` if the order of its derivative exceeds the spline's."""
        if max(self.orders) > self.degree:
            raise ValueError(
                f"The table {self.name} is differentiated {max(self.orders)} times, "
                f"but is a spline of degree {self.degree}. Declare it with degree=3, "
                "or write the equation with fewer derivatives of it."
            )

    @functools.cached_property
    def digest(self) -> str:
        """Hash of its numbers."""
        digest = hashlib.sha256(f"{self.degree} {self.values.shape}".encode())
        for array in (*self.axes, self.values):
            digest.update(array.tobytes())
        return digest.hexdigest()

    def __reduce__(self):
        arguments = self.axes, self.values, self.degree, self.name, self.orders
        return type(self)._made, arguments

    def _hashable_content(self):
        return self.digest, self.name, self.orders

    @property
    def _by(self):
        return "".join(str(k + 1) * n for k, n in enumerate(self.orders))

    def _sympystr(self, printer):
        return f"{self.name}_{self._by}" if self._by else self.name

    _sympyrepr = _sympystr

    def _latex(self, printer):
        return rf"\mathrm{{{self.name}}}" + (f"_{{{self._by}}}" if self._by else "")


class Interpolation(sp.Expr):
    """Value of a `Tabulated` function, or of a derivative of it.

    Args:
        table: The `Tabulated`.
        *arguments: SymPy expressions, one for each of its axes.

    Raises:
        TypeError: If `table` is not a `Tabulated` with as many axes as arguments.

    Example:

    >>> x = sp.Symbol("x")
    >>> k = keraspinn.Tabulated(np.linspace(0, 1, 5), np.ones(5), name="k")
    >>> k(x**2).diff(x)
    2*x*k_1(x**2)
    """

    is_commutative = True

    def __new__(cls, table: Tabulated, *arguments: sp.Expr, **options: Any) -> Self:
        count = len(table.axes) if isinstance(table, Tabulated) else 0
        if not count or len(arguments) != count:
            raise TypeError(
                f"{table} is a function of {count} variable(s). Received: "
                f"{len(arguments)}"
            )
        return super().__new__(cls, table, *arguments)

    @property
    def table(self) -> Tabulated:
        """`Tabulated` that is evaluated, with the orders of its derivatives."""
        return self.args[0]

    @property
    def arguments(self) -> tuple[sp.Expr, ...]:
        """Expressions at which the table is evaluated."""
        return self.args[1:]

    def _eval_derivative(self, symbol):
        rates = (argument.diff(symbol) for argument in self.arguments)
        tables = map(self.table.differentiated, range(len(self.arguments)))
        slopes = (self.func(table, *self.arguments) for table in tables)
        return sp.Add(*(s * rate for s, rate in zip(slopes, rates, strict=True)))

    def _sympystr(self, printer):
        arguments = ", ".join(map(printer._print, self.arguments))
        return f"{printer._print(self.table)}({arguments})"

    _sympyrepr = _sympystr

    def _latex(self, printer):
        arguments = ", ".join(map(printer._print, self.arguments))
        return rf"{printer._print(self.table)}\left({arguments}\right)"


def _check_grid(axes, values, degree):
    if values.shape != (shape := tuple(len(axis) for axis in axes)):
        raise ValueError(
            f"`values` must have the shape of the grid, {shape}. Received: "
            f"{values.shape}"
        )
    for index, axis in enumerate(axes):
        if len(axis) <= degree or not (axis[1:] > axis[:-1]).all():
            raise ValueError(
                f"Axis {index + 1} must increase from each point to the next, and have "
                f"at least {degree + 1} points for a spline of degree {degree}. "
                f"Received: {len(axis)} points, {axis[:6]}…"
            )
