"""Check that tables in equations cover their arguments."""

from sympy.core.function import AppliedUndef

from keraspinn.declaration.probe_points import evaluate_at, probe_points
from keraspinn.expressions import Interpolation, Parameter
from keraspinn.expressions.nodes import distinct_nodes

# Points on each part.
_PART_POINTS = 1_000
# Part of a table's extent, up to which it may be extrapolated by its edge's value.
_MARGIN = 1e-3


def check_tables(expressions, domain, blocks, where):
    """Raise `ValueError` if a table does not cover the values of its arguments.

    Arguments that hold fields or unknown coefficients are not checked.

    Args:
        expressions: Normalized SymPy expressions.
        domain: The geometry.
        blocks: The parts of the domain where the expressions should hold.
        where: String that names them in errors.
    """
    arguments = {}
    for node in distinct_nodes(expressions):
        if isinstance(node, Interpolation):
            for argument, ends in zip(node.arguments, node.table.ranges, strict=True):
                if not argument.has(AppliedUndef, Parameter):
                    arguments[argument, ends] = node
    if not arguments:
        return
    points = probe_points(domain, blocks, _PART_POINTS)
    values = evaluate_at([a for a, _ in arguments], domain.coordinates, points)
    pairs = zip(arguments.items(), values, strict=True)
    for ((argument, (start, end)), node), value in pairs:
        low, high = value.min(), value.max()
        margin = _MARGIN * (end - start)
        if low < start - margin or high > end + margin:
            raise ValueError(
                f"In {where}: the table of {node} goes from {start:.8g} to {end:.8g} "
                f"in {argument}, which goes from {low:.8g} to {high:.8g} there. Extend "
                "the table, declare a smaller domain, or write the arguments in the "
                "order of the table's axes."
            )
