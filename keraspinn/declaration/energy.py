"""Energy of a problem, a sum of integrals that its fields minimise."""

import sympy as sp
from sympy.calculus.euler import euler_equations
from sympy.core.function import AppliedUndef

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

_WRITE = (
    "Write energy=keraspinn.integral(density) - keraspinn.integral(load * u, "
    "over={x: 1}), SymPy expressions in the fields inside."
)


def densities_of(energy, domain):
    """Return the densities of an energy, a dict from `Region`s to expressions.

    Args:
        energy: Sum of numbers times `PartIntegral`s, or `None`.
        domain: The geometry.

    Raises:
        TypeError: If it is not a SymPy expression.
        ValueError: If a summand is not a number times an integral, a density cannot be
            evaluated, or the domain has a time.
    """
    if energy is None:
        return {}
    if domain.time_coordinate is not None:
        raise ValueError(
            f"An energy is of fields at rest. Received a domain with the time "
            f"{domain.time_coordinate}. Leave `time=` out of the geometry, or write "
            "the equations of motion as `equations`."
        )
    densities = {}
    energy = normalize(energy, "An energy")
    integrals = {sp.Dummy(): integral for integral in energy.atoms(PartIntegral)}
    names = {integral: name for name, integral in integrals.items()}
    expanded = sp.expand(energy.xreplace(names)).xreplace(integrals)  # not densities
    for summand in sp.Add.make_args(expanded):
        factor, integral = summand.as_independent(PartIntegral)
        if not (factor.is_number and isinstance(integral, PartIntegral)):
            raise ValueError(
                f"An energy is a sum of integrals, each perhaps times a number. "
                f"Received the summand {summand}. {_WRITE}"
            )
        density = densities.get(integral.region, 0) + factor * integral.integrand
        densities[integral.region] = density
    for density in densities.values():
        _check_density(density)
    return densities


def _check_density(density):
    """Raise `ValueError` unless an energy may hold a density."""
    if nonlocal_ := density.atoms(At, LineIntegral):
        raise ValueError(
            "The density of an energy holds its fields at the point itself. Received: "
            f"{min(map(str, nonlocal_))}. Write a relation of several points as a "
            "`Condition` or an equation."
        )
    if unknown := density.atoms(Parameter):
        names = ", ".join(sorted(map(str, unknown)))
        raise ValueError(
            f"An energy holds known coefficients only: its minimum over {names} does "
            "not fit the data. Write the problem as `equations` to identify an unknown "
            "coefficient, or insert a number."
        )
    variation = SecondVariation(density)
    for field in sorted(density.atoms(AppliedUndef), key=str):
        second = [
            number
            for number, node in enumerate(variation.nodes)
            if getattr(node, "derivative_count", 0) == 2 and node.expr == field
        ]
        entries = (variation.hessian[k][j] for k in second for j in second)
        if second and not any(entries):
            raise ValueError(
                f"The density of an energy is linear in second derivatives of {field}, "
                f"which make a divergence. Received: {density}. Integrate by parts: "
                "write u.diff(x)**2 / 2 for -u * u.diff(x, 2) / 2."
            )


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
    for integral in problem.energy.atoms(PartIntegral):
        if resolve_parts(integral.region, domain) == (domain.interior,):
            inside += integral.integrand
        else:
            elsewhere[integral.region] = integral.integrand
    for equation in euler_equations(inside, problem.fields, domain.coordinates):
        if isinstance(equation, sp.Eq):
            yield f"{shorten(equation.lhs)} = 0"
    if _order(inside, domain) != 1 or not domain.boundary:
        return
    pairs = list(zip(domain.space_coordinates, domain.normal, strict=True))
    for field in problem.fields:
        flux = sum(n * inside.diff(field.diff(s)) for s, n in pairs)
        if flux != 0:
            yield f"{shorten(flux)} = 0 on the rest of the boundary"
        for region, density in elsewhere.items():
            if (push := density.diff(field)) != 0:
                yield f"{shorten(flux + push)} = 0{region.suffix}"


def _order(density, domain):
    """Return the highest order of a density's derivatives."""
    orders = required_derivatives([density], domain.coordinates).values()
    return max((sum(index) for indices in orders for index in indices), default=0)
