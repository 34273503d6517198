import numpy as np
from numpy.typing import ArrayLike

from keraspinn.common.checks import check_count, real_array
from keraspinn.plot.solutions import compared, draw_maps, draw_pair
from keraspinn.plot.style import Canvas, Drawn, new_figure, plain
from keraspinn.training.model import PINNModel


def snapshots(
    model: PINNModel,
    name: str | None = None,
    times: int | ArrayLike = 4,
    n: int = 30,
    figure: Canvas = None,
) -> Drawn:
    """Plot the reference and the prediction in space, at several times.

    In one dimension of space there is a panel with both curves for every time; in two,
    a row of reference, prediction and absolute error.

    Args:
        model: A `PINNModel` whose problem has a time axis, one or two dimensions of
            space, and a reference on a grid.
        name: Name of the reference to compare with; by default the first.
        times: Number of times, equidistant with both ends, or one moment or a list of
            them, in the problem's units. The grid's nearest times are drawn.
        n: Number of points per side, for a reference in closed form.
        figure: Matplotlib figure or subfigure to draw into; by default a new one.

    Returns:
        The figure.

    Raises:
        ValueError: If the problem has no time, no such reference, or more
            dimensions, or `times` is not a positive number or outside the reference's
            range.

    Example:

    ```python
    keraspinn.plot.snapshots(model, times=[0.0, 0.5, 1.0]).savefig("snapshots.png")
    ```
    """
    problem = model.problem
    space = len(problem.coordinates) - 1
    timed = problem.coordinates[-1] == problem.domain.time_coordinate
    if not timed or not 1 <= space <= 2:
        raise ValueError(
            "`plot.snapshots` draws references in time and one or two dimensions of "
            f"space. Received: a problem in {problem.domain}"
        )
    name, points, reference, predicted = compared(model, name, n)
    moments = _nearest(np.unique(points[:, -1]), times)
    size = (3.2 * len(moments), 3.2) if space == 1 else (12, 3.2 * len(moments))
    figure = new_figure(figure, size)
    shape = (1, len(moments)) if space == 1 else (len(moments), 1)
    parts = figure.subfigures(*shape, squeeze=False).ravel()
    panel = None
    for index, (part, moment) in enumerate(zip(parts, moments, strict=True)):
        rows = points[:, -1] == moment
        exact, approximation = reference[rows], predicted[rows]
        if space == 1:
            panel = part.add_subplot(sharey=panel)
            draw_pair(panel, points[rows, 0], exact, approximation)
            panel.grid(alpha=0.3)
            panel.set(xlabel=plain(problem.coordinates[0].name))
            if index == 0:
                panel.set_ylabel(plain(name))
                panel.legend(frameon=False)
        else:
            maps = exact, approximation, np.abs(exact - approximation)
            draw_maps(part, problem, name, points[rows, :2], *maps)
        part.suptitle(f"{plain(problem.coordinates[-1].name)} = {moment:.3g}")
    return figure


def _nearest(grid, times):
    if isinstance(times, (int, np.integer)):
        times = np.linspace(grid[0], grid[-1], check_count("times", times))
    moments = np.atleast_1d(real_array("times", times))
    if not (within := (grid[0] <= moments) & (moments <= grid[-1])).all():
        raise ValueError(
            f"`times` must lie between {grid[0]:g} and {grid[-1]:g}, where the "
            f"reference is known. Received: {moments[~within].tolist()}"
        )
    return [grid[np.abs(grid - moment).argmin()] for moment in moments]
