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
    tables = list(distinct_nodes(expressions, Interpolation))
    points = probe_points(domain, blocks, _PART_POINTS) if tables else ()
    for node in tables:
        for argument, ends in zip(node.arguments, node.table.ranges, strict=True):
            if argument.has(AppliedUndef, Parameter):
                continue
            (values,) = evaluate_at([argument], domain.coordinates, points)
            (start, end), low, high = ends, values.min(), values.max()
            margin = _MARGIN * (end - start)
            if low < start - margin or high > end + margin:
                raise ValueError(
                    f"In {where}: the table of {node} goes from {start:.8g} to "
                    f"{end:.8g} in {argument}, which goes from {low:.8g} to {high:.8g} "
                    "there. Extend the table, declare a smaller domain, or write the "
                    "arguments in the order of the table's axes."
                )
