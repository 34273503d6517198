"""Energy of a network's fields, and rows of its second variation."""

import numpy as np
from keras import ops

from keraspinn import backend
from keraspinn.declaration.probe_points import probe_points
from keraspinn.expressions import Program, SecondVariation, columns
from keraspinn.expressions.derivatives import field_and_index, required_derivatives
from keraspinn.residuals.integral_terms import by_region

_TRIED = 128  # points at which eigenvalues of a density's Hessian are computed
_LEAST = 1024  # points of a region that stand for all of them
_RANK = 1e-10  # of the largest eigenvalue, below which another is zero


class EnergyTerm:
    """Energy of a problem: Σ w ψ over lattice points of every region.

    It may be negative. For a step of the second order it has *rows*, with

        J = √(w / 2) L ∂z/∂θ,    LᵀL = the positive part of ∂²ψ/∂z²

    and z the fields and derivatives that ψ holds, so that JᵀJ is half the energy's
    Hessian, as it is of a sum of squares, without the terms in ∂²z/∂θ². The values of
    rows, √(w / 2) L z with L constant, have no meaning.

    Args:
        term: The `declaration.terms.Term`.
        problem: The `Problem`, in whose scales the energy is taken.

    Attributes:
        passes: A list of one dict, from names of fields to the derivatives needed.
        labels: Names of the expressions' losses: `("energy",)`.
        is_convex: Whether the density's Hessian is nowhere negative, for the values of
            its fields that were tried.
    """

    is_pointwise = True

    def __init__(self, term, problem):
        self.labels = term.labels
        (size,) = problem.scales.sizes(term)
        densities = [problem.scales.apply(e, size) for e, _ in term.densities]
        pairs = zip(densities, term.blocks, strict=True)
        self._pieces = [_Piece(density, problem, block) for density, block in pairs]
        self.is_convex = all(piece.is_convex for piece in self._pieces)
        self.passes = [required_derivatives(densities, problem.coordinates)]

    def losses(self, fields, batch):
        """Return the energy, a list of one scalar."""
        return [sum(map(ops.sum, self._by_point(fields, batch)))]

    def residuals(self, fields, batch):
        """Return the energy of each point, a list of one tensor `(N,)`."""
        return [ops.concatenate(self._by_point(fields, batch))]

    def squared(self, fields, batch):
        """Return ones, `(N,)`: samplers prefer no point."""
        return ops.ones_like(batch.points[:, 0])

    def row_blocks(self, fields, batch, most=None):
        """Return pairs of points, a dict of tensors, and a function from these to rows.

        Args:
            fields: The `Fields`.
            batch: The `Batch`.
            most: Approximate number of points of a region to use; all if not given.
        """
        pairs = zip(self._pieces, by_region(batch), strict=True)
        blocks = (p.row_block(fields, _thinned(part, most)) for p, part in pairs)
        return [block for block in blocks if block]

    def _by_point(self, fields, batch):
        pairs = zip(self._pieces, by_region(batch), strict=True)
        return [part.weights * fields.at(p.density, part)[0] for p, part in pairs]


class _Piece:
    """Density of an energy on one region.

    Args:
        density: The scaled expression.
        problem: The `Problem`.
        block: The region's parts.
    """

    def __init__(self, density, problem, block):
        coordinates = problem.coordinates
        self.density = Program([density], coordinates)
        variation = SecondVariation(density)
        self._count = len(variation.nodes)
        self._nodes = Program(variation.nodes, coordinates)
        entries = [e for row in variation.hessian for e in row]
        self._hessian = Program(entries, coordinates)
        points = probe_points(problem.domain, (block,), _TRIED)
        eigenvalues = _eigenvalues(variation, self._hessian, coordinates, points)
        least = _RANK * abs(eigenvalues).max(initial=0)
        self._rank = int((abs(eigenvalues) > least).sum(axis=1).max(initial=0))
        self.is_convex = bool((eigenvalues >= -least).all())

    def row_block(self, fields, batch):
        """Return points and a function from them to rows; `None` without curvature."""
        if not self._rank:
            return None
        flat = ops.stack(fields.at(self._hessian, batch), axis=-1)
        matrix = ops.reshape(flat, (-1, self._count, self._count))
        values, vectors = ops.linalg.eigh(matrix)
        kept = ops.sqrt(ops.maximum(values, 0.0))[:, None, -self._rank :]
        factor = vectors[..., -self._rank :] * kept
        factor = factor * ops.sqrt(batch.weights / 2)[:, None, None]
        points = batch.by_point() | {"factor": ops.stop_gradient(factor)}

        def rows(points):
            factor = points["factor"]
            arguments = {n: t for n, t in points.items() if n != "factor"}
            nodes = fields.at(self._nodes, type(batch)(**arguments))
            products = ops.sum(factor * ops.stack(nodes, axis=-1)[..., None], axis=-2)
            return [products[..., k] for k in range(self._rank)]

        return points, rows


def _thinned(batch, most):
    """Return every k-th point of a batch, with k times its weight."""
    count = batch.weights.shape[0]
    step = max(1, count // max(most or count, _LEAST))
    thinned = {name: tensor[::step] for name, tensor in batch.by_point().items()}
    return batch._replace(**thinned | {"weights": thinned["weights"] * step})


def _eigenvalues(variation, program, coordinates, points):
    """Return those of a Hessian at some points, `(n, z)`, for fields of size one."""
    count, generator = len(variation.nodes), np.random.default_rng(0)
    keys = [field_and_index(node, coordinates) for node in variation.nodes]
    values = {key: generator.uniform(-1, 1, len(points)) for key in keys}
    with backend.double_precision():
        entries = program.on_host(columns(coordinates, points), values)
    matrices = np.stack(entries, axis=-1).reshape(-1, count, count)
    return np.linalg.eigvalsh(matrices[np.isfinite(matrices).all(axis=(1, 2))])
