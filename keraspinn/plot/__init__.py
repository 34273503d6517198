"""Figures of solutions and of training. Matplotlib is imported when they are drawn.

Every function returns a Matplotlib figure and shows nothing by itself. Colour maps are
perceptually uniform, diverging for values of both signs, and lines differ in style, so
that curves survive greyscale.
"""

from keraspinn.plot.fields import field
from keraspinn.plot.gradients import gradient_histograms
from keraspinn.plot.histories import history, traces
from keraspinn.plot.snapshots import snapshots
from keraspinn.plot.solutions import solution
from keraspinn.plot.spectra import spectrum

__all__ = [
    "field",
    "gradient_histograms",
    "history",
    "snapshots",
    "solution",
    "spectrum",
    "traces",
]
