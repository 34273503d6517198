"""Residuals of a term's expressions for a network's fields, and the term's loss."""

from keras import ops

from keraspinn.expressions import Program


class LossTerm:
    """A term of the loss: Σ over expressions and blocks of mean squares, scaled.

    Args:
        term: The `declaration.terms.Term`.
        problem: The `Problem`, in whose scales residuals are taken.

    Attributes:
        program: The `Program` of the scaled expressions.
        passes: A list of dicts from names of fields to the derivatives needed: at the
            points, and at images of them.
        labels: Names of the losses of single expressions, or `()`.
    """

    is_pointwise = True

    def __init__(self, term, problem):
        self.labels = term.labels
        self._sizes = problem.scales.sizes(term)
        pairs = zip(term.expressions, self._sizes, strict=True)
        scaled = [problem.scales.apply(expression, size) for expression, size in pairs]
        self.program = Program(scaled, problem.coordinates)
        derivatives = (self.program.derivatives, *self.program.images.values())
        self.passes = [needed for needed in derivatives if needed]

    def residuals(self, fields, batch):
        """Return the residual of each expression at a batch's points: a list of `(N,)`.

        Args:
            fields: The `Fields`.
            batch: The `Batch`.
        """
        residuals = fields.at(self.program, batch)
        if batch.targets is None:
            return residuals
        pairs = enumerate(zip(residuals, self._sizes, strict=True))
        return [r - batch.targets[..., k] * (1.0 / size) for k, (r, size) in pairs]

    def losses(self, fields, batch):
        """Return the loss of each expression, a list of scalars."""
        residuals = self.residuals(fields, batch)
        return [ops.sum(batch.weights * ops.square(r)) for r in residuals]

    def squared(self, fields, batch):
        """Return the squared residual at each point, `(N,)`, of all expressions."""
        return sum(ops.square(r) for r in self.residuals(fields, batch))

    def row_blocks(self, fields, batch, most=None):
        """Return pairs of points, a dict, and a function from these to rows.

        Rows are residuals whose squares add up to the term's loss.
        """

        def rows(points):
            part = type(batch)(**points)
            factor = ops.sqrt(part.weights)
            return [factor * residual for residual in self.residuals(fields, part)]

        return [(batch.by_point(), rows)]
