import sympy as sp

from keraspinn import geometry
from keraspinn.declaration import Condition, Problem


def poisson(c: float | sp.Expr = 1) -> Problem:
    """Return the Poisson equation on an interval, with an oscillating solution.

    u″ = −C² sin(Cx) on [0, 1] with u = sin(Cx) at both ends; a larger C is stiffer.
    Nondimensional.

    Args:
        c: The constant C, the solution's angular frequency.

    Returns:
        A `Problem` with the equation `poisson`, the condition `boundary` and the
        exact solution as reference.

    Example:

    >>> problem = keraspinn.problems.poisson(c=4)
    >>> problem.field_names
    ('u',)

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", section 2.3.
    """
    x = sp.Symbol("x")
    u = sp.Function("u")(x)
    exact = sp.sin(c * x)
    return Problem(
        domain=geometry.Box({x: (0, 1)}),
        equations={"poisson": sp.Eq(u.diff(x, 2), exact.diff(x, 2))},
        conditions={"boundary": Condition(sp.Eq(u, exact), on="boundary")},
        reference={u: exact},
        scales=None,
    )
