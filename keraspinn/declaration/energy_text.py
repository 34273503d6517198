"""Text on an energy, and on the equations and conditions that follow from it."""

import sympy as sp

from keraspinn.declaration.energy import HIGHEST
from keraspinn.declaration.formulas import shorten
from keraspinn.declaration.integrals import resolve_parts
from keraspinn.declaration.probe_points import probe_normals, probe_points
from keraspinn.declaration.terms import is_on
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
    for integral in problem.energy.atoms(PartIntegral):
        parts = resolve_parts(integral.region, domain)
        if parts == (domain.interior,):
            inside += integral.integrand
        elif _is_surface(domain, parts):
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
        fluxes = {}
        for (suffix, _), density in volumes.items():
            fluxes.setdefault(_flux(density, field, domain), []).append(suffix)
        for flux, suffixes in fluxes.items():
            if flux != 0:
                where = suffixes[0] if len(fluxes) > 1 else ""
                yield f"  follows: {shorten(flux)} = 0 on free boundaries{where}"
        for (suffix, parts), density in surfaces.items():
            if (push := density.diff(field)) != 0:
                flux = _flux(_beside(domain, parts, volumes), field, domain)
                if {*parts} <= {*domain.boundary}:
                    yield f"  follows: {shorten(flux + push)} = 0{suffix}"
                else:
                    pair = f"{shorten(flux)} jumps by {shorten(push)}"
                    yield f"  follows: {pair}{suffix}"


def _is_surface(domain, parts):
    """Return whether parts of a domain are faces, interfaces or slices of it."""
    try:
        probe_normals(domain, (parts,))
    except ValueError:  # there are none inside
        return any(domain.fixed(part) for part in parts)
    return True


def _beside(domain, parts, volumes):
    """Return the density beside parts of the boundary, the first that holds there."""
    points = probe_points(domain, (parts,)) - domain.centre
    on = (e for (_, block), e in volumes.items() if is_on(domain, block, points).all())
    return next(on, sp.S.Zero)


def _flux(density, field, domain):
    """Return the normal component of a density's derivative by a field's gradient."""
    pairs = zip(domain.space_coordinates, domain.normal, strict=True)
    return sum(n * density.diff(field.diff(s)) for s, n in pairs)
