"""Whether fields that are taken at other points are taken inside of the domain."""

import numpy as np

from keraspinn.expressions.image import At
from keraspinn.expressions.nodes import distinct_nodes
from keraspinn.spec.sampled import sampled, values_at

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
        known = dict(images)
        there = [known.get(symbol, symbol) for symbol in domain.coordinates]
        other = np.stack(values_at(there, domain.coordinates, points), axis=-1)
        inside = domain.contains(domain.interior, other - domain.centre)
        if not np.all(inside):
            row = int(np.argmin(inside))
            raise ValueError(
                f"In {where}: {node} is taken at {other[row]} for the point "
                f"{points[row]}, and that is outside of the domain, {domain}."
            )
