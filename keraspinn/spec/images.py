"""Whether fields that are taken at other points are taken inside of the domain."""

import numpy as np
from keras import ops

from keraspinn import backend
from keraspinn.expressions.image import At
from keraspinn.expressions.nodes import distinct_nodes
from keraspinn.expressions.program import moved
from keraspinn.spec.sampled import columns, sampled

_POINTS = 256


def check_images(expressions, domain, blocks, where):
    """Raises `ValueError` if a field is taken at a point outside of the domain.

    Args:
        expressions: Normalized SymPy expressions.
        domain: The geometry.
        blocks: The parts of the domain where the expressions should hold.
        where: String that names them in errors.
    """
    found = {node.images: node for node in distinct_nodes(expressions, At)}
    if not found:
        return
    points = sampled(domain, blocks, _POINTS)
    for images, node in found.items():
        with backend.double_precision():
            known = columns(domain, points)
            other = moved(images, domain.coordinates)(known)
            other = np.stack([ops.convert_to_numpy(c) for c in other], axis=-1)
        inside = domain.contains(domain.interior, other - domain.centre)
        if not np.all(inside):
            row = int(np.argmin(inside))
            raise ValueError(
                f"In {where}: {node} is taken at {other[row]} for the point "
                f"{points[row]}, and that is outside of the domain, {domain}."
            )
