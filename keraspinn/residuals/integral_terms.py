"""Integrals of a condition for a network's fields, and the condition's loss."""

import sympy as sp
from keras import ops

from keraspinn.expressions import PartIntegral, Program


class IntegralTerm:
    """A term of the loss whose equations contain integrals: one residual each.

    An integral is Σ w f over the points of its region, with weights w that add up to
    the region's measure. The sum is inside the square, so a batch is not divided, and
    an equation has one residual for any number of points.

    Args:
        term: The `declaration.terms.Term`.
        problem: The `Problem`, in whose scales residuals are taken.

    Attributes:
        passes: A list of one dict, from names of fields to the derivatives needed.
        labels: Names of the losses of single expressions: none.
        count: Number of equations.
    """

    labels = ()
    is_pointwise = False

    def __init__(self, term, problem):
        self.count = len(term.expressions)
        atoms = [i for e in term.expressions for i in e.atoms(PartIntegral)]
        numbers = {i: sp.Symbol(f"integral {k}") for k, i in enumerate(atoms)}
        pairs = zip(term.expressions, problem.scales.sizes(term), strict=True)
        equations = [problem.scales.apply(e.xreplace(numbers), s) for e, s in pairs]
        self._equations = Program(equations, ())
        self._by_region, needed = [], {}
        for region in term.regions:
            names = {i: s.name for i, s in numbers.items() if i.region == region}
            scaled = [problem.scales.apply(i.integrand) for i in names]
            program = Program(scaled, problem.coordinates)
            self._by_region.append((tuple(names.values()), program))
            for derivatives in (program.derivatives, *program.images.values()):
                for field, indices in derivatives.items():
                    needed.setdefault(field, set()).update(indices)
        self.passes = [needed]

    def residuals(self, fields, batch):
        """Return the residual of each equation: a list of `(1,)`.

        Args:
            fields: The `Fields`.
            batch: The `Batch`.
        """
        numbers = dict(fields.coefficients())
        pairs = zip(by_region(batch), self._by_region, strict=True)
        for part, (names, program) in pairs:
            for name, value in zip(names, fields.at(program, part), strict=True):
                numbers[name] = ops.sum(part.weights * value)
        return self._equations({"": ops.zeros_like(batch.points[:1, 0])}, {}, numbers)

    def losses(self, fields, batch):
        """Return the loss of each equation, a list of scalars."""
        return [ops.sum(ops.square(r)) for r in self.residuals(fields, batch)]

    def squared(self, fields, batch):
        """Return the term's loss for each point, `(N,)`: all points count alike."""
        return sum(self.losses(fields, batch)) * ops.ones_like(batch.points[:, 0])


def by_region(batch):
    """Yield a batch for each region, whose points are consecutive."""
    start = 0
    for weights in batch.weights:
        rows = slice(start, start + weights.shape[0])
        start = rows.stop
        normals = None if batch.normals is None else batch.normals[rows]
        points = batch.points[rows], batch.coordinates[rows]
        yield type(batch)(*points, weights, None, normals)
