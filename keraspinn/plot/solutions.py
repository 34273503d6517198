import numpy as np

from keraspinn.common.checks import check_known
from keraspinn.metrics import RelativeL2
from keraspinn.plot.fields import grid_of, hide_outside
from keraspinn.plot.style import Canvas, Drawn, colours, new_figure, plain
from keraspinn.training.model import PINNModel, check_one_model

# Points per side of the grid that finds a domain's rim.
GRID = 400


def solution(
    model: PINNModel, name: str | None = None, n: int = 100, figure: Canvas = None
) -> Drawn:
    """Plot the reference, the prediction and the absolute error, side by side.

    Args:
        model: A `PINNModel` whose problem has one or two coordinates and a reference.
        name: Name of the reference to compare with; by default the first.
        n: Number of points per side, for a reference in closed form.
        figure: Matplotlib figure or subfigure to draw into; by default a new one.

    Returns:
        The figure.

    Raises:
        ValueError: If the problem has no such reference, or more coordinates.

    Example:

    ```python
    keraspinn.plot.solution(model).savefig("solution.png")
    ```
    """
    problem = model.problem
    if len(problem.coordinates) > 2:
        raise ValueError(
            "`plot.solution` draws references in one or two coordinates. Received: a "
            f"problem in {problem.domain}"
        )
    name, points, exact, predicted = compared(model, name, n)
    error = np.abs(exact - predicted)
    figure = new_figure(figure, (12, 3.4))
    draw = draw_curves if points.shape[1] == 1 else draw_maps
    draw(figure, problem, name, points, exact, predicted, error)
    constant = problem.determined_up_to_constant(name)
    metric = RelativeL2(up_to_constant=constant, dtype="float64")
    total = float(metric(exact, predicted))
    figure.suptitle(f"Relative L2 error of {plain(name)}: {total:.2e}")
    return figure


def compared(model, name, n):
    """Return a reference's name and points, its values and the prediction.

    Fields determined up to a constant, such as a pressure, are shifted to the
    reference's mean.

    Args:
        model: The `PINNModel`.
        name: Name of the reference, `None` for the first.
        n: Number of points per side, for a reference in closed form.

    Raises:
        ValueError: If there is no such reference.
    """
    check_one_model(model)
    points, values = model.problem.test_data(n)
    name = next(iter(values)) if name is None else name
    check_known("name", [name], values, "reference of the problem")
    exact = values[name]
    expression = model.problem.reference_expressions[name]
    predicted = model.predict_expression(expression, points).astype("float64")
    if model.problem.determined_up_to_constant(name):
        predicted += np.nanmean(exact - predicted)
    return name, points, exact, predicted


def draw_pair(panel, x, exact, predicted):
    order = np.argsort(x)
    panel.plot(x[order], exact[order], color="0.6", linewidth=3, label="Reference")
    panel.plot(x[order], predicted[order], "k--", label="Predicted")


def draw_curves(figure, problem, name, points, exact, predicted, error):
    order = np.argsort(points[:, 0])
    left, right = figure.subplots(1, 2)
    draw_pair(left, points[:, 0], exact, predicted)
    xlabel = plain(problem.coordinates[0].name)
    left.set(xlabel=xlabel, ylabel=plain(name))
    left.legend(frameon=False)
    right.plot(points[order, 0], error[order], "k-")
    right.set(xlabel=xlabel, ylabel="Absolute error")


def draw_maps(figure, problem, name, points, exact, predicted, error):
    symbols = problem.coordinates[:2]
    horizontal, vertical = (plain(symbol.name) for symbol in symbols)
    panels = figure.subplots(1, 3)
    maps = [
        ("Reference", exact, colours(exact)),
        ("Predicted", predicted, colours(exact)),
        ("Absolute error", error, {"cmap": "magma", "vmin": 0}),
    ]
    for panel, (title, values, options) in zip(panels, maps, strict=True):
        image = _draw_map(panel, problem.domain, points, values, options)
        panel.set(title=f"{title}: {plain(name)}", xlabel=horizontal, ylabel=vertical)
        if set(symbols) <= set(problem.domain.space_coordinates):
            panel.set_aspect("equal")
        figure.colorbar(image, ax=panel)


def _draw_map(panel, domain, points, values, options):
    x, y = (np.unique(points[:, column]) for column in (0, 1))
    if len(x) * len(y) != len(points):  # scattered, not a grid
        from matplotlib.tri import Triangulation

        known = ~np.isnan(values)
        triangles = Triangulation(*points[known].T)
        options["shading"] = "gouraud"
        image = panel.tripcolor(triangles, values[known], **options)
        axes, _, there = grid_of(domain, {}, GRID)
        hide_outside(panel, axes, there.reshape(GRID, GRID))  # as a hole
        return image
    table = values[np.lexsort((points[:, 0], points[:, 1]))].reshape(len(y), len(x))
    return panel.pcolormesh(x, y, table, shading="gouraud", **options)
