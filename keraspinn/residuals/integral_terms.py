"""What a condition's integrals come to for a network's fields, and its loss."""

import sympy as sp
from keras import ops

from keraspinn.expressions import PartIntegral, Program


class IntegralTerm:
    """A term of the loss whose equations hold integrals: Σ squares of one number each.

    An integral is Σ w f over the points of its region, with weights w that add up to
    the region's size. The sum is inside of the square: a batch is not divided, and an
    equation has one residual however many points there are.

    Args:
        term: The `declaration.terms.Term`.
        problem: The `Problem`, in whose scales residuals are taken.

    Attributes:
        passes: A list of one dict, from names of fields to the derivatives needed.
        labels: Names of the expressions' own losses: none.
        count: Number of equations.
    """

    labels = ()
    is_pointwise = False

    def __init__(self, term, problem):
        self.count = len(term.expressions)
        found = {i: None for e in term.expressions for i in e.atoms(PartIntegral)}
        numbers = {
            own: sp.Symbol(f"integral {place}") for place, own in enumerate(found)
        }
        equations = [
            problem.scales.apply(expression.xreplace(numbers), size)
            for expression, size in zip(
                term.expressions, problem.scales.sizes(term), strict=True
            )
        ]
        self._equations = Program(equations, ())
        self._by_region, needed = [], {}
        for region in term.regions:
            own = {i: symbol.name for i, symbol in numbers.items()}
            own = {i: name for i, name in own.items() if i.region == region}
            scaled = [problem.scales.apply(i.integrand) for i in own]
            program = Program(scaled, problem.coordinates)
            self._by_region.append((tuple(own.values()), program))
            for own in (program.derivatives, *program.images.values()):
                for field, indices in own.items():
                    needed.setdefault(field, set()).update(indices)
        self.passes = [needed]

    def residuals(self, fields, batch):
        """What each equation misses: a list of `(1,)`.

        Args:
            fields: The `Fields`.
            batch: The `Batch`.
        """
        numbers, start = dict(fields.coefficients()), 0
        for weights, (names, program) in zip(
            batch.weights, self._by_region, strict=True
        ):
            rows = slice(start, start + weights.shape[0])
            start = rows.stop
            points = batch.points[rows], batch.coordinates[rows]
            normals = None if batch.normals is None else batch.normals[rows]
            values = fields.evaluate(program, *points, normals)
            for name, value in zip(names, values, strict=True):
                numbers[name] = ops.sum(weights * value)
        return self._equations({"": ops.zeros_like(batch.points[:1, 0])}, {}, numbers)

    def losses(self, fields, batch):
        """The loss of each equation, a list of scalars."""
        return [ops.sum(ops.square(r)) for r in self.residuals(fields, batch)]

    def total(self, losses):
        """The term's loss from those of its equations."""
        return sum(losses)

    def squared(self, fields, batch):
        """The term's loss at each point, `(N,)`: no point is worse than another."""
        loss = self.total(self.losses(fields, batch))
        return loss * ops.ones_like(batch.points[:, 0])

    def rows(self, fields, batch):
        """Residuals, one for each equation, whose squares add up to the loss."""
        return ops.concatenate(self.residuals(fields, batch))
