"""Residuals of a reference solution in its equations, by SymPy alone."""

import numpy as np
import sympy as sp

import keraspinn as kp
from keraspinn.expressions import NormalComponent
from keraspinn.expressions.image import At, with_sums


def missed(problem, **parameters):
    """By how much the reference misses each equation and condition, a dict of names.

    That is relative to the largest of the terms that are added up, or to one where
    these are small.

    Args:
        problem: Its reference is one of expressions.
        **parameters: Values of its unknown coefficients.
    """
    solved = _Solved(problem, {p: parameters[p.name] for p in problem.parameters})
    interior = problem.domain.blocks("interior")
    found = {n: solved.missed([e], interior) for n, e in problem.equations.items()}
    for name, condition in problem.conditions.items():
        if isinstance(condition, kp.Data):
            found[name] = solved.missed_values(condition)
        else:
            blocks = condition.blocks(problem.domain)
            found[name] = solved.missed(condition.expressions, blocks)
    return found


class _Solved:
    """A problem with its reference, and with its unknown coefficients' values."""

    def __init__(self, problem, values):
        self.domain, self.reference = problem.domain, problem.reference
        self.values = values

    def missed(self, expressions, blocks):
        expressions = with_sums(tuple(expressions), self.domain.coordinates)
        worst, generator = 0, np.random.default_rng(0)
        for part in dict.fromkeys(part for block in blocks for part in block):
            drawn = generator.random((20, self.domain.draws(part)))
            drawn = self.domain.sample(part, drawn)
            points, symbols = self.domain.absolute(part, drawn), self.domain.coordinates
            if any(e.has(NormalComponent) for e in expressions):
                points = np.hstack([points, self.domain.normals(part, drawn)])
                symbols += self.domain.normal
            for expression in expressions:
                terms = sp.Add.make_args(sp.expand(expression))
                terms = _values(list(map(self.exact, terms)), symbols, points)
                missed = np.abs(terms.sum(axis=0)).max()
                worst = max(worst, missed / max(np.abs(terms).max(), 1))
        return worst

    def missed_values(self, data):
        expressions = list(map(self.exact, data.expressions))
        values = _values(expressions, self.domain.coordinates, data.points)
        missed = np.abs(values.T - data.targets).max()
        return missed / max(np.abs(data.targets).max(), 1)

    def exact(self, expression):
        """An expression with the reference for the fields, also at other points."""
        expression = expression.replace(
            lambda node: isinstance(node, At),
            lambda node: self.exact(node.node).subs(node.images),
        )
        for field, exact in self.reference.items():
            expression = expression.subs(field.func, sp.Lambda(field.args, exact))
        return expression.subs(self.values).doit()


def _values(expressions, symbols, points):
    """`(expressions, points)`; a normal's symbol is no name that SymPy could print."""
    plain = [sp.Symbol(f"c{k}") for k in range(len(symbols))]
    expressions = [e.subs(dict(zip(symbols, plain, strict=True))) for e in expressions]
    found = sp.lambdify(plain, expressions, cse=True)(*points.T)
    return np.stack([np.broadcast_to(value, len(points)) for value in found])
