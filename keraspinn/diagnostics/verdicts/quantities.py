"""Estimated errors of derived quantities: integrals and expressions in the fields."""

import numpy as np
import sympy as sp
from keras import ops

from keraspinn.expressions import PartIntegral

# Step of the central difference, relative to the parameters: its own error is of the
# order of the square, and that of rounding 1e-11.
STEP = 1e-5


def quantity_errors(quantities, tangent, direction, batches):
    """Return the relative change of quantities by a correction.

    Args:
        quantities: Dict from names to SymPy expressions.
        tangent: The `Tangent`.
        direction: The correction d of the parameters, `(P,)`.
        batches: Points by term; expressions without integrals are compared inside.

    Returns:
        Dict from names to numbers.
    """
    terms = tangent.model.problem.terms.items()
    points = [batches[name].coordinates for name, term in terms if term.is_equation]
    inside = ops.convert_to_numpy(ops.concatenate(points))
    reach = STEP * tangent.norm() / (np.linalg.norm(direction) or 1.0)
    errors = {}
    for name, expression in quantities.items():
        values = []
        for step in (0.0, reach, -reach):
            with tangent.moved_by(step * direction) as model:
                values.append(_value(model, sp.sympify(expression), inside))
        value, ahead, behind = values
        change = (ahead - behind) / (2 * reach)
        size = np.linalg.norm(value - change)
        errors[name] = float(np.linalg.norm(change) / size) if size else np.inf
    return errors


def _value(model, expression, points):
    """Return a number if the expression holds integrals, and an array otherwise."""
    integrals = expression.atoms(PartIntegral)
    if not integrals:
        return model.predict_expression(expression, points)
    values = {integral: model.integrate(integral) for integral in integrals}
    return np.array(float(expression.xreplace(values)))
