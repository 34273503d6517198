"""Figures of solutions and of training. Matplotlib is imported when they are drawn.

Every function returns a Matplotlib figure, `animation` a film, and shows nothing by
itself; `write_mesh` leaves a file for ParaView. Colour maps are
perceptually uniform, diverging for values of both signs, and lines differ in style, so
that curves survive greyscale.
"""

from keraspinn.plot.animations import animation
from keraspinn.plot.fields import field
from keraspinn.plot.gradients import gradient_histograms
from keraspinn.plot.histories import history, traces
from keraspinn.plot.meshes import write_mesh
from keraspinn.plot.snapshots import snapshots
from keraspinn.plot.solutions import solution
from keraspinn.plot.spectra import spectrum

__all__ = [
    "animation",
    "field",
    "gradient_histograms",
    "history",
    "snapshots",
    "solution",
    "spectrum",
    "traces",
    "write_mesh",
]
