import sympy as sp

from keraspinn import geometry
from keraspinn.declaration import Condition, Problem


def helmholtz(
    a1: float | sp.Expr = 1, a2: float | sp.Expr = 4, k: float | sp.Expr = 1
) -> Problem:
    """Return the Helmholtz equation with a manufactured solution.

    Δu + k² u = q on (−1, 1)² with u = sin(a₁πx) sin(a₂πy), q chosen to fit, and
    Dirichlet conditions. The boundary loss is the sum of the four sides' means.
    Nondimensional.

    Args:
        a1: Half-waves of the solution along x per unit of length.
        a2: The same along y.
        k: Wavenumber.

    Returns:
        A `Problem` with the equation `helmholtz`, the condition `boundary` and the
        exact solution as reference.

    Example:

    >>> problem = keraspinn.problems.helmholtz(a1=1, a2=4)
    >>> problem.field_names
    ('u',)

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", sections 2.2 and 3.1. The paper does
        not state k, and has one mean over the boundary; its code has k = 1 and sums
        the sides.
    """
    x, y = sp.symbols("x y")
    u = sp.Function("u")(x, y)
    exact = sp.sin(a1 * sp.pi * x) * sp.sin(a2 * sp.pi * y)
    operator = u.diff(x, 2) + u.diff(y, 2) + k**2 * u
    sides = [{x: -1}, {x: 1}, {y: -1}, {y: 1}]
    return Problem(
        domain=geometry.Box({x: (-1, 1), y: (-1, 1)}),
        equations={"helmholtz": sp.Eq(operator, operator.subs(u, exact).doit())},
        conditions={"boundary": Condition(sp.Eq(u, exact), on=sides)},
        reference={u: exact},
        scales=None,
    )
