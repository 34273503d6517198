"""Examples of DeepXDE with an integral at each point, some of them fractional.

The fractional derivative of order α between 1 and 2 is that of Caputo, the integral of
u''(s) / |x − s|^(α − 1) from an end, if u and u' vanish there. The substitution
|x − s| = r^m with m = 1 / (2 − α) removes the pole.
"""

import sympy as sp

import keraspinn as kp
from examples.public_examples.common import function

x, y, t, s, r = sp.symbols("x y t s r")


def volterra():
    u = function("u", x)
    memory = sp.Integral(sp.exp(s - x) * u.subs(x, s), (s, 0, x))
    return kp.Problem(
        kp.geometry.Box(time={x: (0, 5)}),
        {"volterra": sp.Eq(u.diff(x) + u, memory)},
        {"initial": kp.Condition(u - 1, on="initial", hard=True)},
        {u: sp.exp(-x) * sp.cosh(x)},
    )


def ide():
    u = function("u", x)
    memory = sp.Integral(u.subs(x, s), (s, 0, x))
    source = 2 * sp.pi * sp.cos(2 * sp.pi * x) + sp.sin(sp.pi * x) ** 2 / sp.pi
    return kp.Problem(
        kp.geometry.Box(time={x: (0, 1)}),
        {"ide": sp.Eq(u.diff(x) + memory, source)},
        {"initial": kp.Condition(u, on="initial")},
        {u: sp.sin(2 * sp.pi * x)},
    )


def fractional(u, order):
    """Return the fractional derivatives from both ends of [0, 1]."""
    m = 1 / (2 - order)
    left, right = (
        sp.Integral(u.diff(x, 2).subs(x, x + sign * r**m), (r, 0, reach ** (2 - order)))
        for sign, reach in ((-1, x), (1, 1 - x))
    )
    return m / sp.gamma(2 - order) * (left + right)


def hump(order):
    """Return x³ (1 − x)³ and its fractional derivatives from both ends."""
    total = 0
    for factor, power in ((1, 3), (-3, 4), (3, 5), (-1, 6)):
        rate = sp.gamma(power + 1) / sp.gamma(power + 1 - order)
        both = x ** (power - order) + (1 - x) ** (power - order)
        total += factor * rate * both
    return x**3 * (1 - x) ** 3, total


def fractional_poisson_1d():
    u, order = function("u", x), sp.Rational(3, 2)
    exact, source = hump(order)
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {"poisson": sp.Eq(fractional(u, order), source)},
        {"ends": kp.Condition(u, on="boundary", hard=True)},
        {u: exact},
    )


def fractional_diffusion_1d():
    u, order = function("u", x, t), sp.Rational(9, 5)
    exact, source = hump(order)
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}, time={t: (0, 1)}),
        {"diffusion": u.diff(t) - fractional(u, order) + sp.exp(-t) * (exact + source)},
        {
            "ends": kp.Condition(u, on="boundary", hard=True),
            "initial": kp.Condition(u - exact, on="initial", hard=True),
        },
        {u: sp.exp(-t) * exact},
    )


DECLARED = {
    "Volterra_IDE": volterra,
    "fractional_Poisson_1d": fractional_poisson_1d,
    "fractional_diffusion_1d": fractional_diffusion_1d,
    "ide": ide,
}
