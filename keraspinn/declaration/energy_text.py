"""Text on an energy, and on the equations and conditions that follow from it."""

import numpy as np
import sympy as sp

from keraspinn.declaration.energy import HIGHEST
from keraspinn.declaration.formulas import shorten
from keraspinn.declaration.integrals import resolve_parts
from keraspinn.declaration.probe_points import probe_points
from keraspinn.declaration.terms import is_on, missing_normals_error
from keraspinn.expressions import PartIntegral, highest_order


def lines_of(problem):
    """Yield lines of text on the energy, and on the equations that follow.

    These are the Euler–Lagrange equations, and natural conditions of first order.

    Args:
        problem: The `Problem`.
    """
    if problem.energy is None:
        return
    yield f"  energy: {shorten(problem.energy)} = min"
    domain, inside, volumes, surfaces = problem.domain, sp.S.Zero, {}, {}
    for integral in sorted(problem.energy.atoms(PartIntegral), key=str):
        parts = resolve_parts(integral.region, domain)
        if parts == (domain.interior,):
            inside += integral.integrand
        elif all(
            domain.fixed(p) or not missing_normals_error(domain, p) for p in parts
        ):
            surfaces[integral.region.suffix, parts] = integral.integrand
        else:
            volumes[integral.region.suffix, parts] = integral.integrand
    volumes = {key: inside + density for key, density in volumes.items()}
    if inside != 0:
        volumes[" elsewhere" * bool(volumes), (domain.interior,)] = inside
    for (suffix, _), density in volumes.items():
        for equation in sp.euler_equations(density, problem.fields, domain.coordinates):
            if isinstance(equation, sp.Eq):
                yield f"  follows: {shorten(equation.lhs)} = 0{suffix}"
    if not domain.boundary:
        return
    if highest_order(volumes.values(), domain.coordinates) == HIGHEST:
        yield "  natural conditions follow, too: not shown for second derivatives"
        return
    for field in problem.fields:
        fluxes, _ = _fluxes_beside(domain, domain.boundary, volumes, field)
        for flux, suffix in fluxes.items():
            if flux != 0:
                where = suffix if len(fluxes) > 1 else ""
                yield f"  follows: {shorten(flux)} = 0 on free boundaries{where}"
        for (suffix, parts), density in surfaces.items():
            if (push := density.diff(field)) != 0:
                fluxes, is_outside = _fluxes_beside(domain, parts, volumes, field)
                if is_outside:
                    for flux in fluxes:
                        yield f"  follows: {shorten(flux + push)} = 0{suffix}"
                else:
                    flux = " or ".join(str(shorten(flux)) for flux in fluxes)
                    yield f"  follows: {flux} jumps by {shorten(push)}{suffix}"


def _fluxes_beside(domain, parts, volumes, field):
    """Return normal fluxes of the volumes beside some parts, and whether these bound.

    Returns:
        Dict from derivatives of densities by the field's normal derivative to the names
        of the volumes, and whether the parts lie on the domain's boundary.
    """
    points, fluxes = probe_points(domain, (parts,)) - domain.centre, {}
    normals = list(zip(domain.space_coordinates, domain.normal, strict=True))
    is_free = np.ones(len(points), bool)
    for (suffix, block), density in volumes.items():
        is_here = is_on(domain, block, points)
        is_part = block != (domain.interior,)
        if (is_here & (is_part | is_free)).any():
            flux = sum(n * density.diff(field.diff(s)) for s, n in normals)
            fluxes.setdefault(flux, suffix)
        is_free &= ~is_here
    return fluxes, is_on(domain, domain.boundary, points).all()
