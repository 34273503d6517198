from typing import Any

import numpy as np

from keraspinn.common.checks import check_type
from keraspinn.declaration.probe_points import probe_normals, probe_points
from keraspinn.declaration.problem import Problem
from keraspinn.geometry.base import Geometry
from keraspinn.plot.style import Canvas, Drawn, line_styles, new_figure, plain

_ARROWS = 12  # normals on each condition, enough to see which way they point
_LENGTH = 0.08  # of an arrow, relative to the domain's largest extent
_MARKERS = "os^vDP*X"


def domain(problem: Problem | Geometry, n: int = 300, figure: Canvas = None) -> Drawn:
    """Plot a domain with points on the parts where conditions hold.

    Points inside are grey. Each condition, and each integral of an energy over a part,
    has a colour and a marker. In the plane arrows show outward normals. Look at it
    before training: a condition on the wrong face, a hole outside the plate and a
    normal that points inward are easy to see.

    Args:
        problem: A `Problem`, or a geometry, whose boundary is drawn.
        n: Number of points inside, and on each part.
        figure: Matplotlib figure or subfigure to draw into; by default a new one.

    Returns:
        The figure.

    Raises:
        TypeError: If `problem` is neither.
        ValueError: If the domain has more than three coordinates.

    Example:

    ```python
    keraspinn.plot.domain(problem)
    ```
    """
    check_type("problem", problem, (Problem, Geometry), "a Problem or a geometry")
    geometry = problem.domain if isinstance(problem, Problem) else problem
    symbols = geometry.coordinates
    if len(symbols) > 3:
        raise ValueError(
            "`plot.domain` draws up to three coordinates. Received: "
            f"{', '.join(map(str, symbols))}"
        )
    is_plane = len(symbols) == 2 == len(geometry.space_coordinates)
    figure = new_figure(figure, (6, 4.5 if len(symbols) > 1 else 1.2))
    panel: Any = figure.add_subplot(projection="3d" if len(symbols) == 3 else None)
    part = geometry.interior  # random points: a lattice looks like strokes
    uniform = np.random.default_rng(0).random((n, geometry.draws(part)))
    inside = geometry.absolute(part, geometry.sample(part, uniform))
    panel.scatter(*_columns(inside), s=4, color="0.8")
    styles = zip(_named_points(problem, geometry, n), line_styles(), strict=False)
    for index, ((name, blocks, points), style) in enumerate(styles):
        colour = style["color"]
        options = {"s": 10, "color": colour, "marker": _MARKERS[index % len(_MARKERS)]}
        panel.scatter(*_columns(points), label=plain(name), **options)
        if is_plane:
            _draw_normals(panel, geometry, blocks, colour)
    labels = [plain(symbol.name) for symbol in symbols]
    panel.set(**dict(zip(("xlabel", "ylabel", "zlabel"), labels, strict=False)))
    if is_plane:
        panel.set_aspect("equal")
    if len(symbols) == 1:
        panel.set_yticks([])
    if panel.get_legend_handles_labels()[0]:
        figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure


def _named_points(problem, geometry, n):
    """Yield name, blocks and points of conditions and loads, or of a boundary."""
    if isinstance(problem, Geometry):
        initial = (geometry.initial,) if geometry.initial else ()
        for name, block in (("boundary", geometry.boundary), ("initial", initial)):
            if block:
                yield name, [block], probe_points(geometry, [block], n)
        return
    for name in problem.conditions:
        term = problem.all_terms[name]
        yield name, term.blocks, term.points(geometry, n)
    energy = problem.all_terms["residual"]  # without regions if there is no energy
    for region, block in zip(energy.regions, energy.blocks, strict=False):
        if block != (geometry.interior,):
            yield f"energy{region.suffix}", [block], probe_points(geometry, [block], n)


def _draw_normals(panel, geometry, blocks, colour):
    """Draw arrows along the outward normals of parts that have them."""
    for part in (part for block in blocks for part in block):
        try:
            normals = probe_normals(geometry, [(part,)], _ARROWS)
        except ValueError:  # a corner, a point inside
            continue
        points = probe_points(geometry, [(part,)], _ARROWS)
        ends = points + _LENGTH * 2 * np.max(geometry.half) * normals
        for point, end in zip(points, ends, strict=True):
            arrow = {"arrowstyle": "->", "color": colour, "alpha": 0.6}
            panel.annotate("", xy=end, xytext=point, arrowprops=arrow)
            panel.update_datalim([end])
    panel.autoscale_view()


def _columns(points):
    """Return the columns of points; a single coordinate is drawn along a line."""
    columns = list(np.asarray(points).T)
    return columns if len(columns) > 1 else [*columns, np.zeros(len(points))]
