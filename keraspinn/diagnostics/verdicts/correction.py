"""Newton correction of a model in the tangent space of its network."""

import keras
import numpy as np
from keras import ops

from keraspinn.diagnostics.verdicts.extents import without_largest
from keraspinn.optimizers.linear_solves import dense_solver, smaller_product
from keraspinn.training.tangent import stacked

# Damping to try, relative to the sum of squares of all rows; the one that leaves least
# at other points counts. All give the same error if the network resolves the solution.
# With too few points, as around a shock, little damping overfits them.
DAMPING = (1e-14, 1e-10, 1e-6)
# Weight of a row of Data relative to one of an equation. The corrected fields solve the
# equations, and data determine the rest, so that noise does not bend the equations.
DATA = 1e-2


def row_norms(problem, rows):
    """Return the norms of each expression's Jacobian, by which its rows are divided.

    Args:
        problem: The `Problem`.
        rows: Dict as `Tangent.rows` returns it.

    Returns:
        Dict from names of terms to lists, and the same with `Data` of less weight.
    """
    norms = {n: [np.linalg.norm(j) or 1.0 for _, j in p] for n, p in rows.items()}
    weights = {name: DATA if name in problem.measured else 1.0 for name in norms}
    return norms, {n: [v / weights[n] for v in values] for n, values in norms.items()}


def correction(tangent, rows, batches, norms):
    """Return the correction d of the parameters, and residuals along it.

    Args:
        tangent: The `Tangent`.
        rows: Dict as `tangent.rows` returns it.
        batches: Other points, which decide on the damping.
        norms: Dict from names of terms to lists of numbers that rows are divided by.

    Returns:
        d, `(P,)`, the two dicts that `tangent.moved` returns at `batches`, and their
        difference, the residuals that are left and the corrected fields.
    """
    residual, jacobian = map(ops.convert_to_tensor, scaled_rows(rows, norms))
    product, count = smaller_product(jacobian), sum(map(len, norms.values()))
    tried = []
    for damping in DAMPING:
        solve, _ = dense_solver(jacobian, damping * count, product)
        direction = ops.convert_to_numpy(solve(residual))
        values, changes = tangent.moved(batches, direction)
        left = keras.tree.map_structure(np.subtract, values, changes)
        tried.append((direction, values, changes, left))
    norm = [total_norm(left, norms, rows) for *_, left in tried]
    return tried[int(np.argmin(np.nan_to_num(norm, nan=np.inf)))]


def scaled_rows(rows, norms):
    """Return all residuals `(N,)` and their Jacobian `(N, P)`, divided by norms."""
    pairs = [pair for term in rows.values() for pair in term]
    return stacked(pairs, [norm for term in norms.values() for norm in term])


def total_norm(values, norms, rows=None, rare=0.0):
    """Return the norm of all rows, each divided by its expression's norm.

    Args:
        values: Dict from names of terms to lists of residuals.
        norms: Dict from names of terms to lists of numbers.
        rows: Optional dict of the rows whose Jacobians have these norms. Residuals at
            more points then count as if they were as many.
        rare: Share of the residuals, the largest ones, that do not count.
    """
    total = 0.0
    for name, divisors in norms.items():
        for k, norm in enumerate(divisors):
            value = without_largest(values[name][k], rare)
            count = len(value) if rows is None else len(rows[name][k][0])
            total += count * np.mean(np.square(value / norm))
    return np.sqrt(total)
