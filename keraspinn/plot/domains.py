"""What figures ask of a domain: its box, its inside, its time."""

import numpy as np
from keras import ops


def bounding_box(domain):
    """Lower and upper ends of the box around a domain, `(d,)` each."""
    if hasattr(domain, "lower"):
        return domain.lower, domain.upper
    corners = domain.grid(2)
    return corners.min(axis=0), corners.max(axis=0)


def inside(domain, points):
    """Which of points `(n, d)`, in the user's units, are in a domain."""
    ((interior,),) = domain.blocks("interior")
    centre = getattr(domain, "centre", 0.0)
    return np.asarray(ops.convert_to_numpy(domain.contains(interior, points - centre)))


def is_time(domain, symbol):
    """Whether a coordinate is the domain's time, and no length."""
    return symbol == getattr(domain, "time_coordinate", None) or symbol in (
        getattr(domain, "time", None) or ()
    )
