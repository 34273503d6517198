"""A step's own matrix products, timed alone with NumPy. It trains nothing.

Counted from the rows of the Taylor engine: a term with N points and K Taylor
coefficients multiplies N K rows by every kernel going forward, and going backward once
for the kernel's gradient and once, above the first layer, for the rows' own.
"""

import numpy as np
from contestants.keraspinn_fit import problem
from protocol import serve

from keraspinn.derivatives.taylor import IndexSet
from keraspinn.residuals import LossTerm
from keraspinn.sampling.sources import PointSources


class Products:
    def __init__(self, task):
        self.factors = []
        generator = np.random.default_rng(0)
        counts = row_counts(problem(task.problem), task.batch)
        first = 3 if task.gated else 1
        for place, (kernel, _) in enumerate(task.parameters):
            for count in counts:
                x, slope = (
                    generator.standard_normal((count, n), dtype="float32")
                    for n in kernel.shape
                )
                self.factors += [(x, kernel), (x.T, slope)]
                if place >= first:
                    self.factors.append((slope, kernel.T))
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
    """Rows of each term's product with one kernel."""
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
