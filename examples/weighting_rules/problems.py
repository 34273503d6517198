"""Problems of the study, each a function that returns a `Problem`."""

import sympy as sp

import keraspinn as kp
from examples.second_stage import problems

X, T = sp.symbols("x t")

# Loss weight of both conditions of `heat`, far too small on purpose.
TOO_SMALL = 1e-4


def heat():
    """Declare u_t = u_xx + q with conditions whose weight is far too small."""
    u = sp.Function("u")(X, T)
    exact = sp.exp(-T) * sp.sin(sp.pi * X) + X * T
    source = exact.diff(T) - exact.diff(X, 2)
    ends, initial = (
        kp.Condition(sp.Eq(u, exact), on=part, weight=TOO_SMALL)
        for part in ("boundary", "initial")
    )
    return kp.Problem(
        kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)}),
        {"heat": sp.Eq(u.diff(T) - u.diff(X, 2), source)},
        {"ends": ends, "initial": initial},
        reference={u: exact},
    )


PROBLEMS = {
    "helmholtz": ("Helmholtz (1, 4)", kp.problems.helmholtz),
    "klein_gordon": ("Klein–Gordon", kp.problems.klein_gordon),
    "wave": ("Wave, c = 2", problems.wave),
    "burgers": ("Burgers, 0.01/π", problems.burgers),
    "allen_cahn": ("Allen–Cahn, 1e-3", problems.allen_cahn),
    "heat": ("Heat, weights 1e-4", heat),
}
