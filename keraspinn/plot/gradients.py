import math
from collections.abc import Sequence

import numpy as np

from keraspinn.common.checks import check_known
from keraspinn.diagnostics import GradientStatistics
from keraspinn.plot.style import Canvas, Drawn, line_styles, new_figure, plain

_BINS = 81  # bins of a histogram; odd, so that zero is in the middle of one
_MOST_COLUMNS = 4  # panels in a row


def gradient_histograms(
    statistics: GradientStatistics,
    weighted: bool = True,
    layers: Sequence[str] | None = None,
    title: str | None = None,
    figure: Canvas = None,
) -> Drawn:
    """Plot histograms of the gradient of every loss term, layer by layer.

    A term whose gradients are all near zero has a peak there: training neglects it.
    The density axis is logarithmic, so that one panel shows peaks and flat
    distributions.

    Args:
        statistics: `diagnostics.GradientStatistics`.
        weighted: Whether to plot λ_i ∂L_i/∂θ, which training follows, or ∂L_i/∂θ.
        layers: Names of the layers; by default all of them.
        title: Title of the figure; by default the number of training steps.
        figure: Matplotlib figure or subfigure to draw into; by default a new one.

    Returns:
        The figure.

    Raises:
        ValueError: If a layer is unknown.

    Example:

    ```python
    statistics = keraspinn.diagnostics.gradient_statistics(model)
    keraspinn.plot.gradient_histograms(statistics).savefig("gradients.png")
    ```

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", figure 2.
    """
    layers = list(layers or statistics.layers)
    check_known("layers", layers, statistics.layers, "layer of the network")
    rows = math.ceil(len(layers) / _MOST_COLUMNS)
    columns = math.ceil(len(layers) / rows)
    figure = new_figure(figure, (3.2 * columns, 0.7 + 2.5 * rows))
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel, layer in zip(panels, layers, strict=False):
        _draw(panel, statistics, layer, weighted)
    for panel in panels[len(layers) :]:
        panel.remove()
    entries = panels[0].get_legend_handles_labels()
    options = {"ncols": len(statistics.terms), "frameon": False}
    figure.legend(*entries, loc="outside lower center", **options)
    usual = f"Gradients after {statistics.iteration} training steps"
    figure.suptitle(usual if title is None else title)
    return figure


def _draw(panel, statistics, layer, weighted):
    terms = statistics.terms
    quantiles = {t: statistics.distribution(t, layer, weighted) for t in terms}
    # The widest term's central 98 %: outliers would compress the rest.
    limit = max(np.abs(q[[1, -2]]).max() for q in quantiles.values()) or 1.0
    edges = np.linspace(-limit, limit, _BINS + 1)
    for term, style in zip(terms, line_styles(), strict=False):
        counts = statistics.counts(term, layer, edges, weighted)
        density = counts / statistics.sizes[layer] / (edges[1] - edges[0])
        weight = "λ " if weighted and term != "residual" else ""
        style |= {"label": f"{weight}∂L/∂θ, {plain(term)}", "linewidth": 1.4}
        panel.stairs(density, edges, baseline=None, **style)
    panel.set_yscale("log", nonpositive="clip")
    panel.ticklabel_format(axis="x", scilimits=(-2, 3), useMathText=True)
    panel.set(title=plain(layer), xlabel="Gradient", ylabel="Density")
    panel.set_xlim(-limit, limit)
    panel.grid(alpha=0.3)
