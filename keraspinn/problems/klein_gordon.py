import sympy as sp

from keraspinn import geometry
from keraspinn.common.checks import check_count
from keraspinn.declaration import Condition, Problem


def klein_gordon(
    alpha: float | sp.Expr = -1,
    beta: float | sp.Expr = 0,
    gamma: float | sp.Expr = 1,
    power: int = 3,
) -> Problem:
    """Return the nonlinear Klein–Gordon equation with a manufactured solution.

    u_tt + α u_xx + β u + γ uᵏ = f on [0, 1] × [0, 1] with
    u = x cos(5πt) + (xt)³, f chosen to fit, Dirichlet conditions at both ends, and
    initial conditions for u and u_t. The boundary loss is the sum of the two ends'
    means. Nondimensional.

    Args:
        alpha: Coefficient α of u_xx.
        beta: Coefficient β of u.
        gamma: Coefficient γ of the nonlinear term.
        power: Its exponent k, a positive integer: u takes both signs.

    Returns:
        A `Problem` with the equation `klein_gordon`, the conditions `boundary` and
        `initial`, and the exact solution as reference.

    Raises:
        ValueError: If the exponent is not a positive integer.

    Example:

    >>> problem = keraspinn.problems.klein_gordon()
    >>> list(problem.terms)
    ['residual', 'boundary', 'initial']

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", section 3.2. The paper prints
        u(x, 0) = 0; its solution, and its code, have u(x, 0) = x.
    """
    power = check_count("power", power)  # u takes both signs
    x, t = sp.symbols("x t")
    u = sp.Function("u")(x, t)
    exact = x * sp.cos(5 * sp.pi * t) + (x * t) ** 3
    operator = u.diff(t, 2) + alpha * u.diff(x, 2) + beta * u + gamma * u**power
    return Problem(
        domain=geometry.Box({x: (0, 1)}, time={t: (0, 1)}),
        equations={"klein_gordon": sp.Eq(operator, operator.subs(u, exact).doit())},
        conditions={
            "boundary": Condition(sp.Eq(u, exact), on=[{x: 0}, {x: 1}]),
            "initial": Condition([sp.Eq(u, x), sp.Eq(u.diff(t), 0)], on="initial"),
        },
        reference={u: exact},
        scales=None,
    )
