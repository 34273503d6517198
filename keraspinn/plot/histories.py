from collections.abc import Mapping

import keras
import numpy as np
from numpy.typing import ArrayLike

from keraspinn.common.checks import check_type
from keraspinn.plot.style import Canvas, Drawn, line_styles, new_figure, plain


def history(history: keras.callbacks.History, figure: Canvas = None) -> Drawn:
    """Plot losses, loss weights and logs of the optimizer over training steps.

    Beside the losses there are panels, if logged, for loss weights; for logs of the
    optimizer, such as the damping, the step size η, the gain ratio and the effective
    rank of `optimizers.GaussNewton`; and for the cosines between the terms' gradients,
    if `callbacks.GradientHistogram` measured them in each epoch.

    The axis counts epochs if their number of steps is unknown, as for a generator.

    Args:
        history: The `keras.callbacks.History` that `fit` returns.
        figure: Matplotlib figure or subfigure to draw into; by default a new one.

    Returns:
        The figure.

    Raises:
        TypeError: If `history` is not a `keras.callbacks.History`.

    Example:

    ```python
    keraspinn.plot.history(model.fit(epochs=10)).savefig("history.png")
    ```
    """
    check_type("history", history, keras.callbacks.History, "the result of `fit`")
    logs = history.history
    steps, label = np.asarray(history.epoch) + 1, "Epoch"
    if history.params["steps"] is not None:
        steps, label = steps * history.params["steps"], "Training step"
    losses = [n for n in logs if n.endswith("_loss") and not n.startswith("val_")]
    weights = [name for name in logs if name.endswith("_weight")]
    optimizer = getattr(history.model, "optimizer", None)
    instruments = [n for n in getattr(optimizer, "log_names", ()) if n in logs]
    ends = "_gradient_cosine"
    cosines = [n for n in logs if n.endswith(ends) and len(logs[n]) == len(steps)]
    drawn = {
        "Loss": losses,
        "Loss weight λ": weights,
        type(optimizer).__name__: instruments,
        "Cosine between gradients": cosines,
    }
    drawn = {title: names for title, names in drawn.items() if names}
    figure = new_figure(figure, (max(10, 5 * len(drawn)), 3.4))
    panels = figure.subplots(1, len(drawn), squeeze=False)[0]
    for panel, (title, names) in zip(panels, drawn.items(), strict=True):
        traces = {n.removesuffix(ends): (steps, logs[n]) for n in names}
        _draw_traces(panel, traces, label, title)
        if names is cosines:
            panel.set(yscale="linear", ylim=(-1.05, 1.05))
    return figure


def traces(
    traces: Mapping[str, tuple[ArrayLike, ArrayLike]],
    label: str = "Largest eigenvalue of the Hessian",
    figure: Canvas = None,
) -> Drawn:
    """Plot named series over training steps, such as those that callbacks record.

    Args:
        traces: Dict from names to pairs of training steps and positive values.
        label: Name of the values, for Matplotlib, with TeX between two $.
        figure: Matplotlib figure or subfigure to draw into; by default a new one.

    Returns:
        The figure.

    Example:

    ```python
    stiffness = keraspinn.callbacks.HessianEigenvalue(every=1000)
    model.fit(epochs=10, callbacks=[stiffness])
    keraspinn.plot.traces({"M1": (stiffness.steps, stiffness.eigenvalues["loss"])})
    ```
    """
    figure = new_figure(figure, (6, 3.4))
    _draw_traces(figure.subplots(), traces, "Training step", label)
    return figure


def _draw_traces(panel, traces, xlabel, ylabel):
    styled = zip(traces.items(), line_styles(), strict=False)
    for (name, (steps, values)), style in styled:
        panel.semilogy(steps, values, label=plain(name), **style)
    panel.set(xlabel=xlabel, ylabel=ylabel)
    panel.legend(frameon=False)
    panel.grid(alpha=0.3)
