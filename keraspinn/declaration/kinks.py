"""Places at which derivatives of fields jump, with coefficients or sources."""

import itertools

import sympy as sp

from keraspinn.declaration.probe_points import evaluate_at, probe_points
from keraspinn.declaration.terms import equation_expressions
from keraspinn.expressions import PartIntegral, SecondVariation, distinct_nodes
from keraspinn.geometry.part import exact_number


def kink_features(problem, scales):
    """Return functions whose derivatives jump where those of the fields do, a list.

    In an energy, gradients jump with a coefficient. In an equation, the highest
    derivatives across the place jump with a source. Places that are no zeros of
    polynomials are left out.

    Args:
        problem: The `Problem`.
        scales: `Scales` of some of its coordinates.
    """
    domain, features = problem.domain, {}
    symbols = {*scales.coordinates} - {*domain.periodic}
    points = probe_points(domain, domain.blocks("interior"))
    for end, order in _jumps(problem):
        within = end.free_symbols and end.free_symbols <= symbols
        if not (within and end.is_polynomial(*symbols)):
            continue
        (values,) = evaluate_at([end], domain.coordinates, points)
        if values.min() < 0 < values.max():
            power = (end / exact_number(abs(values).max())) ** order
            key = sp.Abs(end), order
            features.setdefault(key, sp.Piecewise((power, end > 0), (0, True)))
    return list(features.values())


def _jumps(problem):
    """Yield expressions that vanish where a derivative jumps, with its order."""
    if problem.energy is not None:
        for integral in sorted(problem.energy.atoms(PartIntegral), key=str):
            for entry in sp.flatten(SecondVariation(integral.integrand).hessian):
                yield from ((end, 1 + is_kink) for end, is_kink in switches(entry))
        return
    for expression in equation_expressions(problem.all_terms):
        counts = [dict(d.variable_count) for d in expression.atoms(sp.Derivative)]
        for end, is_kink in switches(expression):
            orders = (n.get(s, 0) for n in counts for s in end.free_symbols)
            if order := max(map(int, orders), default=0):
                yield end, order + is_kink


def switches(expression):
    """Yield expressions that vanish where an expression jumps, and whether it bends.

    Args:
        expression: A normalized SymPy expression.
    """
    ones, several = (sp.Heaviside, sp.sign, sp.Abs), (sp.Rel, sp.Max, sp.Min)
    for node in distinct_nodes([expression], (*ones, *several)):
        sides = (node.args[0], 0) if isinstance(node, ones) else node.args
        is_kink = isinstance(node, (sp.Abs, sp.Max, sp.Min))
        if not isinstance(node, (sp.Eq, sp.Ne)):
            for one, other in itertools.combinations(sides, 2):
                yield one - other, is_kink
