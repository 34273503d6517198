"""Interfaces of an energy's materials, at which gradients jump."""

import sympy as sp

from keraspinn.declaration.probe_points import evaluate_at, probe_points
from keraspinn.expressions import PartIntegral, SecondVariation
from keraspinn.geometry.part import exact_number

PROBES = 1024  # points at which a polynomial must change its sign


def scaled_kinks(problem, scales):
    """Return polynomials that vanish where an energy's coefficients jump.

    Args:
        problem: The `Problem`.
        scales: `Scales` of some of its coordinates.

    Returns:
        List for `keraspinn.layers.Kinks`, in scaled coordinates; empty without an
        energy. Interfaces that are no polynomials are left out.
    """
    if problem.energy is None:
        return []
    domain, symbols = problem.domain, tuple(scales.coordinates)
    points = probe_points(domain, domain.blocks("interior"), PROBES)
    scaled = scales.in_scaled(symbols)
    polynomials = {}
    for switch in _switches(problem.energy):
        end = switch.lhs - switch.rhs
        if not end.free_symbols or not end.free_symbols <= {*symbols}:
            continue
        (values,) = evaluate_at([end], domain.coordinates, points)
        inner = end.xreplace(scaled) / exact_number(abs(values).max())
        if values.min() < 0 < values.max() and inner.is_polynomial(*symbols):
            terms = sp.Poly(inner, *symbols).terms()
            polynomials.setdefault(sp.Abs(end), [[list(p), float(c)] for p, c in terms])
    return list(polynomials.values())


def _switches(energy):
    """Yield the relations that coefficients of the second variation hold."""
    for integral in sorted(energy.atoms(PartIntegral), key=str):
        for row in SecondVariation(integral.integrand).hessian:
            for entry in row:
                yield from sorted(entry.atoms(sp.Rel), key=str)
