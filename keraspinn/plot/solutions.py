import numpy as np

from keraspinn.model import PINNModel
from keraspinn.plot.common import check_is, new_figure


def solution(model, name=None, n=100, figure=None):
    """The reference, the prediction and the absolute error, side by side.

    Args:
        model: A `PINNModel` whose problem has one or two coordinates and a reference.
        name: Name of the reference to compare with, the first if not given.
        n: Number of points a side, for a reference in closed form.
        figure: Matplotlib figure or subfigure to draw into; a new one if not given.

    Returns:
        The figure.

    Raises:
        ValueError: If the problem has no such reference, or more coordinates.

    Example:

    ```python
    keraspinn.plot.solution(model).savefig("solution.png")
    ```
    """
    check_is("model", model, PINNModel, "a keraspinn.PINNModel")
    problem = model.problem
    points, values = problem.test_data(n)
    name = next(iter(values)) if name is None else name
    if name not in values or points.shape[1] > 2:
        raise ValueError(
            "`plot.solution` draws references in one or two coordinates; this "
            f"problem's are {list(values)} in {points.shape[1]}. Received: "
            f"name={name!r}"
        )
    exact = values[name]
    expression = problem.reference_expressions[name]
    predicted = model.predict_expression(expression, points)
    error = np.abs(exact - predicted)
    figure = new_figure(figure, (12, 3.4))
    draw = draw_curves if points.shape[1] == 1 else draw_maps
    draw(figure, problem, name, points, exact, predicted, error)
    relative = np.linalg.norm(exact - predicted) / np.linalg.norm(exact)
    figure.suptitle(f"Relative L2 error of {name}: {relative:.2e}")
    return figure


def draw_curves(figure, problem, name, points, exact, predicted, error):
    order = np.argsort(points[:, 0])
    x = points[order, 0]
    left, right = figure.subplots(1, 2)
    left.plot(x, exact[order], "-", color="0.6", linewidth=3, label="Reference")
    left.plot(x, predicted[order], "k--", label="Predicted")
    left.set(xlabel=problem.coordinates[0].name, ylabel=name)
    left.legend(frameon=False)
    right.plot(x, error[order], "k-")
    right.set(xlabel=problem.coordinates[0].name, ylabel="Absolute error")


def draw_maps(figure, problem, name, points, exact, predicted, error):
    limits = {"vmin": exact.min(), "vmax": exact.max(), "cmap": "viridis"}
    horizontal, vertical = (symbol.name for symbol in problem.coordinates[:2])
    panels = figure.subplots(1, 3)
    maps = [
        ("Reference", exact, limits),
        ("Predicted", predicted, limits),
        ("Absolute error", error, {"cmap": "magma"}),
    ]
    for panel, (title, values, options) in zip(panels, maps, strict=True):
        image = _draw_map(panel, points, values, options)
        panel.set(title=f"{title}: {name}", xlabel=horizontal, ylabel=vertical)
        figure.colorbar(image, ax=panel)


def _draw_map(panel, points, values, options):
    x, y = (np.unique(points[:, column]) for column in (0, 1))
    if len(x) * len(y) != len(points):  # scattered, not a grid
        return panel.tripcolor(*points.T, values, shading="gouraud", **options)
    order = np.lexsort((points[:, 0], points[:, 1]))
    table = values[order].reshape(len(y), len(x))
    return panel.pcolormesh(x, y, table, shading="gouraud", **options)
