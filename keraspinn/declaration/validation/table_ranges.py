"""Whether tables in equations cover what they are taken of."""

from sympy.core.function import AppliedUndef

from keraspinn.declaration.probe_points import sampled, values_at
from keraspinn.expressions import Interpolation, Parameter
from keraspinn.expressions.nodes import distinct_nodes

_POINTS = 1_000
_MARGIN = 1e-3  # of a table's extent, beyond which its edge's value is meant


def check_tables(expressions, domain, blocks, where):
    """Raises `ValueError` if a table ends before the points that it is needed at.

    What is taken of fields or unknown coefficients is not known yet, and not looked at.

    Args:
        expressions: Normalized SymPy expressions.
        domain: The geometry.
        blocks: The parts of the domain where the expressions should hold.
        where: String that names them in errors.
    """
    taken = {}
    for node in distinct_nodes(expressions):
        if isinstance(node, Interpolation):
            for argument, ends in zip(node.arguments, node.table.ranges, strict=True):
                if not argument.has(AppliedUndef, Parameter):
                    taken[argument, ends] = node
    if not taken:
        return
    points = sampled(domain, blocks, _POINTS)
    values = values_at([a for a, _ in taken], domain.coordinates, points)
    for ((argument, (start, end)), node), value in zip(
        taken.items(), values, strict=True
    ):
        low, high = value.min(), value.max()
        margin = _MARGIN * (end - start)
        if low < start - margin or high > end + margin:
            raise ValueError(
                f"In {where}: the table of {node} goes from {start:.8g} to {end:.8g} "
                f"in {argument}, which goes from {low:.8g} to {high:.8g} there. Give "
                "values for all of it, or a smaller domain."
            )
