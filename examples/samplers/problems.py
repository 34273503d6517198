"""Six problems with known solutions, each a function that returns a `Problem`."""

import sympy as sp

import keraspinn as kp
from examples.second_stage.problems import CASES

# Inverse square width of the peak: it falls to 1/e within 0.1 of its centre.
SHARPNESS = 100


def poisson_peak(sharpness=SHARPNESS):
    """Declare Poisson's equation for a narrow peak, exp(−s r²) around (1/2, 1/2).

    Args:
        sharpness: Inverse square s of the peak's width.

    Reference:
        Tang, Wan & Yang, "DAS-PINNs: a deep adaptive sampling method for solving
        high-dimensional partial differential equations", 2023 (arXiv 2112.14038),
        where s is 1,000.
    """
    x, y = sp.symbols("x y")
    u = sp.Function("u")(x, y)
    half = sp.Rational(1, 2)
    exact = sp.exp(-sharpness * ((x - half) ** 2 + (y - half) ** 2))
    source = exact.diff(x, 2) + exact.diff(y, 2)
    return kp.Problem(
        kp.geometry.Box({x: (-1, 1), y: (-1, 1)}),
        {"poisson": sp.Eq(u.diff(x, 2) + u.diff(y, 2), source)},
        {"boundary": kp.Condition(sp.Eq(u, exact), on="boundary")},
        {u: exact},
    )


PROBLEMS = {
    "burgers": ("Burgers, ν = 0.01/π", CASES["burgers"].problem),
    "allen_cahn": ("Allen–Cahn, ε = 1e-3", CASES["allen_cahn"].problem),
    "helmholtz": ("Helmholtz (1, 4)", CASES["helmholtz"].problem),
    "wave": ("Wave, c = 2", CASES["wave"].problem),
    "poisson_peak": (f"Poisson, peak of s = {SHARPNESS}", poisson_peak),
    "klein_gordon": ("Klein–Gordon", CASES["klein_gordon"].problem),
}
