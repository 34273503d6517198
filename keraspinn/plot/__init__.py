"""Figures of solutions and of training, drawn with Matplotlib.

Functions return a Matplotlib figure (`animation` an animation) and show nothing;
`write_mesh` writes a file for ParaView. Matplotlib is imported on first use. Colour
maps are perceptually uniform, and diverging for values of both signs. Lines differ in
style, so that curves remain distinct in greyscale.
"""

from keraspinn.plot.animations import animation
from keraspinn.plot.fields import field
from keraspinn.plot.gradients import gradient_histograms
from keraspinn.plot.histories import history, traces
from keraspinn.plot.meshes import write_mesh
from keraspinn.plot.parts import domain
from keraspinn.plot.snapshots import snapshots
from keraspinn.plot.solutions import solution
from keraspinn.plot.spectra import spectrum

__all__ = [
    "animation",
    "domain",
    "field",
    "gradient_histograms",
    "history",
    "snapshots",
    "solution",
    "spectrum",
    "traces",
    "write_mesh",
]
