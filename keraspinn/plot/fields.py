import numbers

import numpy as np
import sympy as sp

from keraspinn.plot.common import check_is, colours, new_figure
from keraspinn.plot.domains import bounding_box, inside, is_time
from keraspinn.spec.declaration import expression_name
from keraspinn.training.model import PINNModel


def field(model, expression, at=None, n=200, label=None, figure=None):
    """Any expression in the fields over the domain, as a map or a curve.

    Needs no reference. What is not in the domain, a hole for instance, is left out;
    lengths have one scale on both axes, and values of both signs diverging colours
    with zero in the middle.

    Args:
        model: A `PINNModel`.
        expression: SymPy expression in the problem's fields, coordinates and
            parameters.
        at: Dict from coordinates to values in the problem's units, such as
            `{t: 0.5}`: where to cut the domain. One or two coordinates must be left.
        n: Number of points a side of the grid.
        label: What the values are, in words; the expression if not given.
        figure: Matplotlib figure or subfigure to draw into; a new one if not given.

    Returns:
        The figure.

    Raises:
        TypeError: If an argument is of another kind.
        ValueError: If `at` names what is no coordinate, a value outside of the domain
            or leaves another number of coordinates than one or two.

    Example:

    ```python
    keraspinn.plot.field(model, u.diff(x), at={t: 0.5}).savefig("slope.png")
    ```
    """
    check_is("model", model, PINNModel, "a keraspinn.PINNModel")
    check_is("expression", expression, sp.Expr, "a SymPy expression, such as u.diff(x)")
    domain, coordinates = model.problem.domain, model.problem.coordinates
    at = _cut(domain, coordinates, at)
    free = [symbol for symbol in coordinates if symbol not in at]
    axes = {
        symbol: np.linspace(low, high, n)
        for symbol, low, high in zip(coordinates, *bounding_box(domain), strict=True)
    }
    mesh = np.meshgrid(*(axes[symbol] for symbol in free), indexing="ij")
    columns = dict(zip(free, mesh, strict=True))
    points = np.stack(
        [
            columns.get(s, np.full(mesh[0].shape, at.get(s))).ravel()
            for s in coordinates
        ],
        axis=-1,
    ).astype("float64")
    there = inside(domain, points)
    if not there.any():
        raise ValueError(f"There is nothing of the domain at {at}. Cut it elsewhere.")
    values = np.full(len(points), np.nan)
    values[there] = model.predict_expression(expression, points[there])
    values = np.ma.masked_invalid(values.reshape(mesh[0].shape))
    label = expression_name(expression) if label is None else label
    title = ", ".join([label, *(f"{s.name} = {value:g}" for s, value in at.items())])
    figure = new_figure(figure, (6, 4.8) if len(free) == 2 else (6, 3.4))
    panel = figure.subplots()
    panel.set(title=title, xlabel=free[0].name)
    if len(free) == 1:
        panel.plot(axes[free[0]], values, "k-")
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
        return figure
    x, y = (axes[symbol] for symbol in free)
    image = panel.pcolormesh(x, y, values.T, shading="nearest", **colours(values))
    panel.set_ylabel(free[1].name)
    if not any(is_time(domain, symbol) for symbol in free):
        panel.set_aspect("equal")
    figure.colorbar(image, ax=panel, label=label)
    return figure


def _cut(domain, coordinates, at):
    """`at` as a dict of floats, checked to leave one or two coordinates."""
    at = {} if at is None else at
    if not isinstance(at, dict):
        raise TypeError(
            "`at` must be a dict from coordinates to values, such as {t: 0.5}. "
            f"Received: {at!r}"
        )
    names = [symbol.name for symbol in coordinates]
    box = dict(zip(coordinates, zip(*bounding_box(domain), strict=True), strict=True))
    for symbol, value in at.items():
        if symbol not in box:
            raise ValueError(
                f"`at` must name coordinates of the problem, {names}. Received: {at}"
            )
        low, high = box[symbol]
        if not isinstance(value, (numbers.Real, sp.Number)) or not low <= value <= high:
            raise ValueError(
                f"`at` must cut the domain: {symbol.name} lies between {low:g} and "
                f"{high:g}. Received: {at}"
            )
    if not 1 <= len(coordinates) - len(at) <= 2:
        raise ValueError(
            f"A figure has one or two axes. Name the others of {names} in `at`, as in "
            f"at={{{names[-1]}: {box[coordinates[-1]][0]:g}}}. Received: at={at}"
        )
    return {symbol: float(value) for symbol, value in at.items()}
