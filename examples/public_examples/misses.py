"""Residuals of a reference solution in its equations, by SymPy alone."""

import numpy as np
import sympy as sp

import keraspinn as kp
from keraspinn.expressions import NormalComponent
from keraspinn.expressions.image import At, with_sums


def missed(problem, **parameters):
    """Return the largest residual of the reference by name of equation or condition.

    Residuals are relative to the largest of the terms that are summed, or to one if
    these are smaller.

    Args:
        problem: A `Problem` with expressions as reference.
        **parameters: Values of the unknown coefficients of the problem.
    """
    solved = _Solved(problem, {p: parameters[p.name] for p in problem.parameters})
    interior = problem.domain.blocks("interior")
    residuals = {n: solved.missed([e], interior) for n, e in problem.equations.items()}
    for name, condition in problem.conditions.items():
        if isinstance(condition, kp.Data):
            residuals[name] = solved.missed_values(condition)
        else:
            blocks = condition.blocks(problem.domain)
            residuals[name] = solved.missed(condition.expressions, blocks)
    return residuals


class _Solved:
    """Problem with the reference and the values of unknown coefficients inserted."""

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
        """Insert the reference for all fields of an expression, also in images."""
        expression = expression.replace(
            lambda node: isinstance(node, At),
            lambda node: self.exact(node.node).subs(node.images),
        )
        for field, exact in self.reference.items():
            expression = expression.subs(field.func, sp.Lambda(field.args, exact))
        return expression.subs(self.values).doit()


def _values(expressions, symbols, points):
    """Evaluate expressions at points, `(expressions, points)`.

    Plain symbols replace all others, because SymPy cannot print those of a normal.
    """
    plain = [sp.Symbol(f"c{k}") for k in range(len(symbols))]
    expressions = [e.subs(dict(zip(symbols, plain, strict=True))) for e in expressions]
    values = sp.lambdify(plain, expressions, cse=True)(*points.T)
    return np.stack([np.broadcast_to(value, len(points)) for value in values])
