import keras
import numpy as np

from keraspinn.plot.common import check_is, line_styles, new_figure


def history(history, figure=None):
    """Losses, and loss weights where there are any, over training steps.

    Over epochs where nobody knows how many steps these have: in a stream of unknown
    length.

    Args:
        history: The `keras.callbacks.History` that `fit` returns.
        figure: Matplotlib figure or subfigure to draw into; a new one if not given.

    Returns:
        The figure.

    Example:

    ```python
    keraspinn.plot.history(model.fit(epochs=10)).savefig("history.png")
    ```
    """
    check_is("history", history, keras.callbacks.History, "what `fit` returns")
    logs = history.history
    steps, label = np.asarray(history.epoch) + 1, "Epoch"
    if history.params["steps"] is not None:
        steps, label = steps * history.params["steps"], "Training step"
    losses = [n for n in logs if n.endswith("_loss") and not n.startswith("val_")]
    weights = [name for name in logs if name.endswith("_weight")]
    figure = new_figure(figure, (10, 3.4))
    panels = figure.subplots(1, 2 if weights else 1, squeeze=False)[0]
    _draw_traces(panels[0], steps, {n: logs[n] for n in losses}, label, "Loss")
    if weights:
        traces = {name: logs[name] for name in weights}
        _draw_traces(panels[1], steps, traces, label, "Loss weight λ")
    return figure


def traces(traces, label="Largest eigenvalue of the Hessian", figure=None):
    """Named series over training steps, such as those that callbacks record.

    Args:
        traces: Dict from names to pairs of training steps and positive values.
        label: What the values are.
        figure: Matplotlib figure or subfigure to draw into; a new one if not given.

    Returns:
        The figure.

    Example:

    ```python
    stiffness = keraspinn.callbacks.HessianEigenvalue(every=1000)
    model.fit(epochs=10, callbacks=[stiffness])
    keraspinn.plot.traces({"M1": (stiffness.steps, stiffness.eigenvalues["loss"])})
    ```
    """
    source = "a dict from names to pairs (steps, values)"
    check_is("traces", traces, dict, source)
    figure = new_figure(figure, (6, 3.4))
    panel = figure.subplots()
    for (name, (steps, values)), style in zip(
        traces.items(), line_styles(), strict=False
    ):
        panel.semilogy(steps, values, label=name, **style)
    panel.set(xlabel="Training step", ylabel=label)
    panel.legend(frameon=False)
    panel.grid(alpha=0.3)
    return figure


def _draw_traces(panel, steps, traces, xlabel, ylabel):
    for (name, values), style in zip(traces.items(), line_styles(), strict=False):
        panel.semilogy(steps, values, label=name, **style)
    panel.set(xlabel=xlabel, ylabel=ylabel)
    panel.legend(frameon=False)
    panel.grid(alpha=0.3)
