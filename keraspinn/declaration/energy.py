"""Energy of a problem, a sum of integrals that its fields minimise."""

import sympy as sp

from keraspinn.declaration.integrals import resolve_parts
from keraspinn.expressions import At, Field, Parameter, PartIntegral, highest_order
from keraspinn.expressions.line_integral import LineIntegral
from keraspinn.expressions.normal_form import normalize
from keraspinn.expressions.second_variation import SecondVariation

HIGHEST = 2  # order of a derivative in a density


def densities_of(energy, domain):
    """Return the densities of an energy, a dict from `Region`s to expressions.

    Args:
        energy: Sum of numbers times `PartIntegral`s, or `None`.
        domain: The geometry.

    Raises:
        TypeError: If it is not a SymPy expression.
        ValueError: If a summand is not a number times an integral, a density cannot be
            evaluated or is a divergence, terms cancel, or the domain has a time.
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
                "An energy is a sum of integrals, each perhaps times a number. "
                f"Received the summand {summand}. Write energy=keraspinn.integral("
                "density) - keraspinn.integral(load * u, over={x: 1}), SymPy "
                "expressions in the fields inside."
            )
        density = densities.get(integral.region, 0) + factor * integral.integrand
        densities[integral.region] = sp.expand(density) and density
    if cancelled := [region for region, density in densities.items() if not density]:
        raise ValueError(
            f"Terms of this energy cancel{cancelled[0].suffix}. Received: {energy}. "
            "Leave them out, or check their signs."
        )
    curvature = [_checked(density, domain).hessian for density in densities.values()]
    if not any(e != 0 for hessian in curvature for row in hessian for e in row):
        raise ValueError(
            f"This energy has no minimum: it is linear in its fields. Received: "
            f"{energy}. Add the stored energy, such as "
            "keraspinn.integral(k * u.diff(x)**2 / 2 - load * u)."
        )
    if all(_is_divergence(*pair, domain) for pair in densities.items()):
        raise ValueError(
            "This energy is a divergence: by Gauss's theorem it depends on boundary "
            f"values alone, and no equation follows. Received: {energy}. Write "
            "energies of the boundary as integrals over it, "
            "keraspinn.integral(..., over='boundary')."
        )
    return densities


def _is_divergence(region, density, domain):
    """Return whether a density of the interior has no Euler–Lagrange equation."""
    if resolve_parts(region, domain) != (domain.interior,):
        return False
    fields = sorted(density.atoms(Field), key=str)
    equations = sp.euler_equations(density, fields, domain.coordinates)
    return not any(isinstance(equation, sp.Eq) for equation in equations)


def _checked(density, domain):
    """Check a density, and return its `SecondVariation`."""
    if nonlocal_ := density.atoms(At, LineIntegral):
        raise ValueError(
            "The density of an energy holds its fields at the point itself. Received: "
            f"{min(map(str, nonlocal_))}. Relate several points by a `Condition`."
        )
    if unknown := density.atoms(Parameter):
        names = ", ".join(sorted(map(str, unknown)))
        raise ValueError(
            f"An energy holds known coefficients only: its minimum over {names} does "
            "not fit the data. Write the problem as `equations` to identify an unknown "
            "coefficient, or insert a number."
        )
    if (highest := highest_order(density, domain.coordinates)) > HIGHEST:
        raise ValueError(
            f"The density of an energy holds derivatives up to the second order. "
            f"Received one of order {highest} in {density}. Integrate by parts, or "
            "write the equations themselves, as `equations`."
        )
    variation = SecondVariation(density)
    for field in sorted(density.atoms(Field), key=str):
        second = [
            number
            for number, node in enumerate(variation.nodes)
            if getattr(node, "derivative_count", 0) == HIGHEST and node.expr == field
        ]
        if second and not any(variation.hessian[k][j] for k in second for j in second):
            raise ValueError(
                f"The density of an energy is linear in second derivatives of {field}, "
                f"which make a divergence. Received: {density}. Integrate by parts: "
                "write u.diff(x)**2 / 2 for -u * u.diff(x, 2) / 2."
            )
    return variation


def check_loads(terms):
    """Raise `ValueError` if hard conditions fix the fields of a term of the energy.

    Args:
        terms: Dict from names to `Term`s.
    """
    held = {}
    for term in terms.values():
        if term.hard:
            for expression in term.expressions:
                for field in expression.atoms(Field):
                    held.setdefault(field, set()).update(term.parts)
    energy = next(term for term in terms.values() if term.is_energy)
    for density, block in energy.densities:
        fields = density.atoms(Field)
        is_held = fields and all({*block} <= held.get(f, set()) for f in fields)
        if is_held and not density.has(sp.Derivative):
            raise ValueError(
                "A term of the energy has no effect: hard conditions fix its fields "
                f"on {' and '.join(map(str, block))}. Received: {density}. Load "
                "another part, or leave it out."
            )
