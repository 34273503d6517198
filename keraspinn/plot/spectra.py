from collections.abc import Mapping

import numpy as np

from keraspinn.plot.style import Canvas, Drawn, line_styles, new_figure, plain

_DECADES = 8  # decades above the linear range of the axis


def spectrum(spectra: Mapping[str, np.ndarray], figure: Canvas = None) -> Drawn:
    """Plot all eigenvalues of the losses' Hessians, in ascending order.

    The axis is logarithmic on both sides of zero, and linear between ±1e-8 times the
    largest eigenvalue, below the resolution of single precision.

    Args:
        spectra: Dict from names to eigenvalues, the result of
            `diagnostics.hessian_spectrum`.
        figure: Matplotlib figure or subfigure to draw into; by default a new one.

    Returns:
        The figure.

    Example:

    ```python
    spectra = keraspinn.diagnostics.hessian_spectrum(model)
    keraspinn.plot.spectrum(spectra).savefig("spectra.png")
    ```

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", figure 4(a).
    """
    figure = new_figure(figure, (6, 3.8))
    panel = figure.subplots()
    largest = max(np.abs(values).max() for values in spectra.values()) or 1.0
    for (name, values), style in zip(spectra.items(), line_styles(), strict=False):
        label = f"{plain(name)}, largest {values.max():.1e}"
        panel.plot(np.arange(1, len(values) + 1), np.sort(values), label=label, **style)
    panel.set_yscale("symlog", linthresh=10.0**-_DECADES * largest)
    exponent = int(np.floor(np.log10(largest)))
    tens = 10.0 ** np.arange(exponent, exponent - _DECADES, -2)
    least = min(values.min() for values in spectra.values())
    panel.set_yticks([*(-t for t in tens if -t >= least), 0.0, *tens[::-1]])
    panel.set(xlabel="Eigenvalue, in ascending order", ylabel="Eigenvalue")
    panel.legend(frameon=False)
    panel.grid(alpha=0.3)
    return figure
