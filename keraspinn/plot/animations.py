from collections.abc import Mapping
from typing import TYPE_CHECKING, SupportsFloat

import numpy as np
import sympy as sp

from keraspinn.common.checks import check_count, check_known
from keraspinn.declaration.formulas import expression_name
from keraspinn.plot.fields import cut, draw, values_on_grid
from keraspinn.plot.style import new_figure, plain
from keraspinn.training.model import PINNModel, check_one_model

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation


def animation(
    model: PINNModel,
    expression: sp.Expr,
    over: sp.Symbol,
    at: Mapping[sp.Symbol, SupportsFloat] | None = None,
    frames: int = 50,
    n: int = 100,
    label: str | None = None,
    fps: float = 10,
) -> "FuncAnimation":
    """Animate an expression in the fields along a coordinate.

    All frames share one scale: of colours in a map, of the axis for a curve.

    Args:
        model: A `PINNModel`.
        expression: SymPy expression in the problem's fields, coordinates and
            parameters.
        over: The coordinate to animate, such as time, from end to end.
        at: Dict from coordinates to values, as for `field`. One or two coordinates
            must remain besides `over`.
        frames: Number of frames.
        n: Number of points per side of the grid.
        label: Name of the values; by default the expression.
        fps: Frames per second.

    Returns:
        A `matplotlib.animation.FuncAnimation`: keep it, and call its `save`, or
        `to_jshtml` in a notebook.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `over` is not a coordinate of the problem, `frames` is not a
            positive integer, or `at` does not leave one or two coordinates besides.

    Example:

    ```python
    film = keraspinn.plot.animation(model, u, over=t)
    film.save("heat.gif", writer="pillow")
    ```
    """
    check_one_model(model)
    domain, coordinates = model.problem.domain, model.problem.coordinates
    check_known("over", [over], coordinates, "coordinate of the problem")
    times = np.linspace(*domain.intervals[over], check_count("frames", frames))
    moments = [cut(domain, {**(at or {}), over: value}) for value in times]
    shown = [values_on_grid(model, expression, moment, n) for moment in moments]
    arrays = [drawn[0] for _, drawn in shown]
    label = plain(expression_name(expression)) if label is None else label
    figure = new_figure(None, (6, 4.8) if len(shown[0][0]) == 2 else (6, 3.4))

    def frame(number):
        figure.clear()
        draw(figure.subplots(), domain, *shown[number], label, moments[number], arrays)

    from matplotlib.animation import FuncAnimation

    return FuncAnimation(figure, frame, frames=len(moments), interval=1000 / fps)
