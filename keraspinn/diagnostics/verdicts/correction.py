"""Newton correction of a model in the tangent space of its network."""

import numpy as np
from keras import ops

from keraspinn.declaration.conditions import Data
from keraspinn.optimizers.linear_solves import dense_solver

# Relative to the sum of squares of all rows. The damping that leaves least at other
# points counts. Where the network resolves the solution all of them give the same
# error; where points are too few, as around a shock, little damping overfits them.
DAMPING = (1e-14, 1e-10, 1e-6)
# Weight of a row of Data relative to one of an equation: the corrected fields solve the
# equations, and data determine only what these leave free. Noise does not bend them.
DATA = 1e-2


def row_norms(problem, rows):
    """Return the norms of each expression's Jacobian, by which its rows are divided.

    Args:
        problem: The `Problem`.
        rows: Dict as `Tangent.rows` returns it.

    Returns:
        Dict from names of terms to lists, and the same with `Data` of less weight.
    """
    norms = {n: [np.linalg.norm(j) or 1.0 for _, j in own] for n, own in rows.items()}
    data = {n for n, c in problem.conditions.items() if isinstance(c, Data)}
    weighted = {
        name: [norm / DATA if name in data else norm for norm in own]
        for name, own in norms.items()
    }
    return norms, weighted


def correction(tangent, rows, batches, norms):
    """Return the correction d of the parameters, and residuals along it.

    Args:
        tangent: The `Tangent`.
        rows: Dict as `tangent.rows` returns it.
        batches: Other points, which decide on the damping.
        norms: Dict from names of terms to lists of numbers that rows are divided by.

    Returns:
        d, `(P,)`, and the two dicts that `tangent.moved` returns at `batches`.
    """
    pairs = [pair for own in rows.values() for pair in own]
    flat = [norm for own in norms.values() for norm in own]
    scaled = [(r / n, j / n) for (r, j), n in zip(pairs, flat, strict=True)]
    residual, jacobian = (
        ops.convert_to_tensor(np.concatenate(own)) for own in zip(*scaled, strict=True)
    )
    tried = []
    for damping in DAMPING:
        solve, _ = dense_solver(jacobian, damping * len(scaled))
        direction = ops.convert_to_numpy(solve(residual))
        tried.append((direction, *tangent.moved(batches, direction)))
    return min(tried, key=lambda own: _unexplained(*own[1:], norms))


def _unexplained(values, changes, norms):
    """Return the norm of the residual that a correction leaves."""
    left = {
        name: [v - c for v, c in zip(values[name], changes[name], strict=True)]
        for name in norms
    }
    total = total_norm(left, norms)
    return total if np.isfinite(total) else np.inf


def total_norm(values, norms):
    """Return the norm of all rows, each expression's in its own weight."""
    squares = (
        np.sum(np.square(value / norm))
        for name, own in norms.items()
        for value, norm in zip(values[name], own, strict=True)
    )
    return np.sqrt(sum(squares))
