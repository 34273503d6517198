"""Matrix products of a training step alone, with NumPy. It does not train.

The products are those of the Taylor engine. A term with N points and K Taylor
coefficients multiplies N K rows by each kernel in the forward pass. The backward pass
has one product for the gradient of a kernel and, except in the first layer, one for
that of the rows.
"""

import numpy as np
from contestants.keraspinn_fit import problem
from protocol import serve

from keraspinn.derivatives.taylor import IndexSet
from keraspinn.residuals.loss_terms import LossTerm
from keraspinn.sampling.sources import PointSources


class Products:
    def __init__(self, task):
        self.factors = []
        generator = np.random.default_rng(0)
        counts = row_counts(problem(task.problem), task.batch)
        first = 3 if task.gated else 1
        for number, (kernel, _) in enumerate(task.parameters):
            for count in counts:
                x, gradient = (
                    generator.standard_normal((count, n), dtype="float32")
                    for n in kernel.shape
                )
                self.factors += [(x, kernel), (x.T, gradient)]
                if number >= first:
                    self.factors.append((gradient, kernel.T))
        operations = sum(
            2 * a.shape[0] * a.shape[1] * b.shape[1] for a, b in self.factors
        )
        self.notes = {"megaflops": operations / 1e6, "rows": sum(counts)}

    def losses(self):
        return {}

    def run(self, steps):
        for _ in range(steps):
            for left, right in self.factors:
                left @ right


def row_counts(problem, batch):
    """Return the number of rows in the product of each term with a kernel."""
    sources = PointSources(problem, "float32", batch)
    counts = []
    for name, term in problem.terms.items():
        program = LossTerm(term, problem).program
        required = set().union(*program.derivatives.values())
        carried = IndexSet(required, program.combinations)
        counts.append(sources.total(name) * len(carried))
    return counts


if __name__ == "__main__":
    serve(Products, ["numpy"])
