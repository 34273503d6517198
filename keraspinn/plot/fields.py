from collections.abc import Mapping
from typing import SupportsFloat

import numpy as np
import sympy as sp
from scipy.ndimage import gaussian_filter

from keraspinn.common.checks import check_known, check_type, real_number
from keraspinn.declaration.formulas import expression_name
from keraspinn.geometry.grids import inside
from keraspinn.plot.style import Canvas, Drawn, colours, new_figure, plain
from keraspinn.training import Ensemble, PINNModel

# Smoothed share of a grid's cells in the domain, below which a map is covered: half a
# cell inside of the rim, where cells leave no gaps.
RIM = 0.7


def field(
    model: PINNModel | Ensemble,
    expression: sp.Expr,
    at: Mapping[sp.Symbol, SupportsFloat] | None = None,
    n: int = 400,
    label: str | None = None,
    figure: Canvas = None,
) -> Drawn:
    """Plot an expression in the fields over the domain, as a map or a curve.

    No reference is needed. Points outside the domain are left out. Lengths have one
    scale on both axes, and values of both signs a diverging scale with zero in the
    middle. For an `Ensemble` it plots the mean: a curve with a band of two standard
    deviations on either side, or a map with a map of the deviation beside it.

    Args:
        model: A `PINNModel` or an `Ensemble`.
        expression: SymPy expression in the problem's fields, coordinates and
            parameters.
        at: Dict from coordinates to values in the problem's units, such as
            `{t: 0.5}`: where to cut the domain. One or two coordinates must remain.
        n: Number of points per side of the grid.
        label: Name of the values, with TeX between two $; by default the expression.
        figure: Matplotlib figure or subfigure to draw into; by default a new one.

    Returns:
        The figure.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `at` contains an unknown coordinate or a value outside the
            domain, or does not leave one or two coordinates.

    Example:

    ```python
    keraspinn.plot.field(model, u.diff(x), at={t: 0.5}).savefig("slope.png")
    ```
    """
    domain = model.problem.domain
    at = cut(domain, at)
    axes, drawn = values_on_grid(model, expression, at, n)
    several = len(axes) == 2 and len(drawn) == 2
    figure = new_figure(figure, (6 * len(drawn), 4.8) if len(axes) == 2 else (6, 3.4))
    label = plain(expression_name(expression)) if label is None else label
    panels = figure.subplots(1, 1 + several, squeeze=False)[0]
    draw(panels[0], domain, axes, drawn, label, at)
    if several:
        draw(panels[1], domain, axes, drawn[1:], f"Standard deviation of {label}", at)
    return figure


def values_on_grid(model, expression, at, n):
    """Return a dict from the remaining coordinates to their values, and masked arrays.

    The latter are the expression's values, or an ensemble's mean and deviation.
    """
    axes, points, there = grid_of(model.problem.domain, at, n)
    if isinstance(model, PINNModel):
        predictions = [model.predict_expression(expression, points[there])]
    else:
        predictions = model.predict_mean_and_deviation(points[there], expression)
    drawn = []
    for predicted in predictions:
        values = np.full(len(points), np.nan)
        values[there] = predicted
        drawn.append(np.ma.masked_invalid(values.reshape((n,) * len(axes))))
    return axes, drawn


def draw(panel, domain, axes, drawn, label, at, limits=None):
    """Draw values on a grid in a panel: a map, or a curve for one coordinate.

    Args:
        panel: Matplotlib axes.
        domain: The domain.
        axes: Dict from the remaining coordinates to their values.
        drawn: List of a masked array with an axis for each, and of its deviation, drawn
            as a band around a curve and not in a map.
        label: Name of the values.
        at: Dict from the other coordinates to their values, for the title.
        limits: Optional list of arrays that share their scale with the values.
    """
    values = drawn[0]
    limits = [values] if limits is None else limits
    (first, x), *others = axes.items()
    cuts = (f"{plain(s.name)} = {value:g}" for s, value in at.items())
    panel.set(title=", ".join(cuts), xlabel=plain(first.name))
    if not others:
        _draw_curve(panel, x, *drawn)
        panel.set_ylabel(label)
        if len(limits) > 1:
            panel.set_ylim(min(map(np.min, limits)), max(map(np.max, limits)))
        return
    ((second, y),) = others
    image = panel.pcolormesh(x, y, values.T, shading="nearest", **colours(*limits))
    hide_outside(panel, axes, ~np.ma.getmaskarray(values))
    panel.set_ylabel(plain(second.name))
    shrink = 1.0
    if set(axes) <= set(domain.space_coordinates):
        panel.set_aspect("equal")
        # A flat domain leaves room above and below; make the bar as high as the map.
        shrink = min(1.0, 1.2 * np.ptp(y) / np.ptp(x))
    panel.figure.colorbar(image, ax=panel, label=label, shrink=shrink)


def hide_outside(panel, axes, there):
    """Cover the part of a map outside the domain, so that its rim is smooth.

    Args:
        panel: Matplotlib axes.
        axes: Dict from two coordinates to their values.
        there: Boolean array with an axis for each: which points are in the domain.
    """
    if not there.all():
        share = gaussian_filter(there.astype("float64"), 1.0)
        colour = [panel.get_facecolor()]
        rim = {"levels": [-1.0, RIM], "colors": colour, "antialiased": True}
        panel.contourf(*axes.values(), share.T, **rim)


def _draw_curve(panel, x, values, deviation=None):
    panel.plot(x, values, "k-", label=None if deviation is None else "Mean")
    panel.grid(alpha=0.3)
    if deviation is not None:
        band = values - 2 * deviation, values + 2 * deviation
        panel.fill_between(x, *band, color="0.8", label="± 2 deviations")
        panel.legend(frameon=False)


def cut(domain, at, most=2):
    """Return `at` as a dict of floats, checked to leave one to `most` coordinates."""
    at = {} if at is None else at
    check_type("at", at, dict, "a dict from coordinates to values, such as {t: 0.5}")
    names = [symbol.name for symbol in domain.coordinates]
    box = domain.intervals
    check_known("at", at, box, "coordinates of the problem")
    for symbol, value in at.items():
        low, high = box[symbol]
        if not low <= real_number(value) <= high:
            raise ValueError(
                f"`at` must cut the domain: {symbol.name} lies between {low:g} and "
                f"{high:g}. Received: {at}"
            )
    if not 1 <= len(names) - len(at) <= most:
        raise ValueError(
            f"A figure needs one to {most} axes. Name the others of {names} in `at`, "
            f"as in at={{{names[-1]}: {domain.lower[-1]:g}}}. Received: at={at}"
        )
    return {symbol: float(value) for symbol, value in at.items()}


def grid_of(domain, at, n):
    """Return a grid over the bounding box of a cut domain.

    Args:
        domain: The domain.
        at: Dict from coordinates to the values where it is cut.
        n: Number of points per side.

    Returns:
        Dict from the remaining coordinates to their values, `(n,)` each; the points in
        all coordinates, `(N, d)`; and which of them are in the domain, `(N,)`.

    Raises:
        ValueError: If no point is in the domain.
    """
    box = domain.intervals
    axes = {s: np.linspace(*ends, n) for s, ends in box.items() if s not in at}
    mesh = np.meshgrid(*(axes.get(s, at.get(s)) for s in box), indexing="ij")
    points = np.stack(mesh, axis=-1).reshape(-1, len(box))
    there = inside(domain, points)
    if not there.any():
        raise ValueError(f"No point of the domain is at {at}. Cut it elsewhere.")
    return axes, points, there
