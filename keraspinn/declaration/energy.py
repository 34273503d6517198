"""The energy of a problem: a sum of integrals that its fields make least."""

import sympy as sp
from sympy.calculus.euler import euler_equations

from keraspinn.declaration.integrals import resolve_parts
from keraspinn.declaration.validation.equations import shorten
from keraspinn.expressions import (
    Parameter,
    PartIntegral,
    normalize,
    required_derivatives,
)
from keraspinn.expressions.image import At
from keraspinn.expressions.line_integral import LineIntegral
from keraspinn.expressions.second_variation import SecondVariation

HIGHEST = 2  # order of a derivative in a density

_WRITE = (
    "Write energy=keraspinn.integral(density) - keraspinn.integral(load * u, "
    "over={x: 1}), SymPy expressions in the fields inside."
)


def densities_of(energy, domain):
    """Return the densities of an energy by region: a dict from `Region` to expression.

    Args:
        energy: Sum of numbers times `PartIntegral`s, or `None`.
        domain: The geometry.

    Raises:
        TypeError: If it is no SymPy expression.
        ValueError: If a summand is something else than a number times an integral, a
            density cannot be evaluated, or the domain has a time.
    """
    if energy is None:
        return {}
    if domain.time_coordinate is not None:
        raise ValueError(
            f"An energy is of fields at rest. Received a domain with the time "
            f"{domain.time_coordinate}. Leave `time=` out of the geometry, or write "
            "the equations of motion as `equations`."
        )
    found = {}
    energy = normalize(energy, "An energy")
    for summand in sp.Add.make_args(sp.expand(energy)):
        factor, own = summand.as_independent(PartIntegral)
        if not (factor.is_number and isinstance(own, PartIntegral)):
            raise ValueError(
                f"An energy is a sum of integrals, each perhaps times a number. "
                f"Received the summand {summand}. {_WRITE}"
            )
        found[own.region] = found.get(own.region, 0) + factor * own.integrand
    curvature = [_checked(density, domain).hessian for density in found.values()]
    if not any(e != 0 for own in curvature for row in own for e in row):
        raise ValueError(
            f"This energy has no least value: it is linear in its fields. Received: "
            f"{energy}. Write what is stored as well, such as "
            "keraspinn.integral(k * u.diff(x)**2 / 2 - load * u)."
        )
    return found


def _checked(density, domain):
    """Check a density, and return its `SecondVariation`."""
    if nonlocal_ := density.atoms(At, LineIntegral):
        raise ValueError(
            "The density of an energy holds its fields at the point itself. Received: "
            f"{min(map(str, nonlocal_))}. Write what relates several points as a "
            "`Condition` or an equation."
        )
    if unknown := density.atoms(Parameter):
        names = ", ".join(sorted(map(str, unknown)))
        raise ValueError(
            f"An energy holds known coefficients only: the least energy over {names} "
            "is not where the data are met. Write the problem as `equations` to find "
            "an unknown coefficient, or put a number in its place."
        )
    if (highest := _order(density, domain)) > HIGHEST:
        raise ValueError(
            f"The density of an energy holds derivatives up to the second order. "
            f"Received one of order {highest} in {density}. Integrate by parts, or "
            "write the equations themselves, as `equations`."
        )
    return SecondVariation(density)


def lines_of(problem):
    """Return the energy, and the equations and natural conditions that follow.

    Args:
        problem: The `Problem`.

    Returns:
        Lines of text; none without an energy.
    """
    if problem.energy is None:
        return []
    return [
        f"  energy: {shorten(problem.energy)} = min",
        *(f"  follows: {line}" for line in _following(problem)),
    ]


def _following(problem):
    """Yield Euler–Lagrange equations, and natural conditions of first order."""
    domain, inside, elsewhere = problem.domain, sp.S.Zero, {}
    for own in problem.energy.atoms(PartIntegral):
        if resolve_parts(own.region, domain) == (domain.interior,):
            inside += own.integrand
        else:
            elsewhere[own.region] = own.integrand
    for equation in euler_equations(inside, problem.fields, domain.coordinates):
        if isinstance(equation, sp.Eq):
            yield f"{shorten(equation.lhs)} = 0"
    if _order(inside, domain) != 1 or not domain.boundary:
        return
    pairs = list(zip(domain.space_coordinates, domain.normal, strict=True))
    for field in problem.fields:
        flux = sum(n * inside.diff(field.diff(s)) for s, n in pairs)
        if flux != 0:
            yield f"{shorten(flux)} = 0 where nothing else is declared"
        for region, own in elsewhere.items():
            if (push := own.diff(field)) != 0:
                yield f"{shorten(flux + push)} = 0{region.suffix}"


def _order(density, domain):
    """Return the highest order of a density's derivatives."""
    orders = required_derivatives([density], domain.coordinates).values()
    return max((sum(index) for own in orders for index in own), default=0)
