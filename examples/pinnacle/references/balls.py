"""Poisson 3d-CG, by triquadratic elements on a grid that the balls cut.

A homogeneous Neumann condition adds no term to the weak form, so that elements need not
fit the balls. This is the finite cell method (Parvizian, Düster and Rank, Computational
Mechanics 41, 2007). Quadrature points inside a ball have the weight `INSIDE`.
"""

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import cg

# Centre and radius of each ball.
BALLS = [(0.4, 0.3, 0.6, 0.2), (0.6, 0.7, 0.6, 0.2)]
BALLS += [(0.2, 0.8, 0.7, 0.1), (0.6, 0.2, 0.3, 0.1)]
# Weight of quadrature points inside a ball, so that the matrix is regular.
INSIDE = 1e-6
# Quadrature points of a cut cell along each axis, equally spaced.
CUT_POINTS = 16
# Relative residual of the conjugate gradients.
TOLERANCE = 1e-8
# Quadrature points that are evaluated at once.
CHUNK = 1_000_000


def source(x, y, z):
    first, second, third = (
        np.sin(np.pi * x),
        np.sin(10 * np.pi * y),
        np.sin(5 * np.pi * z),
    )
    square = x**2 + y**2 + z**2
    growth = 20 * np.exp(first + second + third) * (square - 1) / (square + 1)
    return growth + 100 * first * second * third


def inside(points):
    """Return whether each point `(..., 3)` lies in a ball."""
    balls = [np.linalg.norm(points - b[:3], axis=-1) < b[3] for b in BALLS]
    return np.any(balls, axis=0)


def shapes(s):
    """Return quadratic shape functions and derivatives on [0, 1], `(n, 3)` each."""
    values = [(1 - s) * (1 - 2 * s), 4 * s * (1 - s), s * (2 * s - 1)]
    slopes = [4 * s - 3, 4 - 8 * s, 4 * s - 1]
    return np.stack(values, axis=1), np.stack(slopes, axis=1)


def product(x, y, z):
    """Return products of functions `(n, 3)` along the axes, `(n³, 27)`."""
    return np.einsum("ai,bj,ck->abcijk", x, y, z).reshape(len(x) ** 3, 27)


class Rule:
    """Quadrature in a cell with sides `sides`, from a rule on [0, 1].

    Attributes:
        points: Points relative to the corner of the cell, `(q, 3)`.
        load: Weighted shape functions, `(q, 27)`.
        mass: Their weighted products, `(q, 729)`.
        stiffness: Weighted products of their gradients, `(q, 729)`.
    """

    def __init__(self, nodes, weights, sides):
        value, slope = shapes(nodes)
        axes = [value] * 3
        weight = np.einsum("a,b,c->abc", *[weights] * 3).reshape(-1, 1) * np.prod(sides)
        lattice = np.stack(np.meshgrid(*[nodes] * 3, indexing="ij"), axis=-1)
        self.points = lattice.reshape(-1, 3) * sides
        self.load = product(*axes) * weight
        self.mass = self.products(product(*axes), weight)
        self.stiffness = 0
        for axis, side in enumerate(sides):
            gradient = product(*axes[:axis], slope / side, *axes[axis + 1 :])
            self.stiffness = self.stiffness + self.products(gradient, weight)

    @staticmethod
    def products(functions, weight):
        return np.einsum("qi,qj->qij", functions * weight, functions).reshape(-1, 729)

    def matrices(self, corners):
        """Return the matrices `(n, 729)` and loads `(n, 27)` of cells."""
        points = corners[:, None] + self.points
        weights = np.where(inside(points), INSIDE, 1.0)
        decay = np.where(corners[:, 2:] < 0.5 - 1e-9, 64, 100)
        matrix = weights @ self.stiffness + decay * (weights @ self.mass)
        return matrix, (weights * source(*np.moveaxis(points, -1, 0))) @ self.load


def lattice(*axes):
    """Return all points of a grid with these axes, `(n, 3)`."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def rules(counts):
    """Yield each quadrature rule and the indices of its cells, `(n, 3)`."""
    sides = 1 / np.array(counts)
    cells = lattice(*map(np.arange, counts))
    middles = (cells + 0.5) * sides
    distances = [np.linalg.norm(middles - b[:3], axis=1) - b[3] for b in BALLS]
    cut = np.abs(distances).min(axis=0) < np.linalg.norm(sides) / 2
    gauss = np.array([0.5 - np.sqrt(0.15), 0.5, 0.5 + np.sqrt(0.15)])
    yield Rule(gauss, np.array([5, 8, 5]) / 18, sides), cells[~cut]
    even = (np.arange(CUT_POINTS) + 0.5) / CUT_POINTS
    yield Rule(even, np.full(CUT_POINTS, 1 / CUT_POINTS), sides), cells[cut]


def solve(counts):
    """Return the values at the nodes of a grid with `counts` cells along the axes."""
    shape = tuple(2 * n + 1 for n in counts)
    size, local = np.prod(shape), lattice(*[np.arange(3)] * 3)
    matrix, load = sparse.csr_matrix((size, size)), np.zeros(size)
    for rule, cells in rules(counts):
        for few in np.array_split(cells, len(cells) * len(rule.points) // CHUNK + 1):
            nodes = np.moveaxis(2 * few[:, None] + local, -1, 0)
            index = np.ravel_multi_index(nodes, shape).astype(np.int32)
            values, loads = rule.matrices(few / counts)
            rows, columns = np.repeat(index, 27, axis=1), np.tile(index, 27)
            entries = values.ravel(), (rows.ravel(), columns.ravel())
            matrix = matrix + sparse.csr_matrix(entries, (size, size))
            load += np.bincount(index.ravel(), loads.ravel(), size)
    inverse = sparse.diags(1 / matrix.diagonal())
    solution, failed = cg(matrix, load, rtol=TOLERANCE, M=inverse, maxiter=5000)
    if failed:
        raise RuntimeError("Conjugate gradients do not converge.")
    return solution.reshape(shape)


def poisson_3d_cg(size, points):
    """Solve with cells of `size` in x and z, and half of it in y."""
    count = round(1 / size)
    counts = np.array([count, 2 * count, count])
    solution = solve(counts)
    cells = np.minimum((points * counts).astype(int), counts - 1)
    x, y, z = (shapes(s)[0] for s in (points * counts - cells).T)
    nodes = 2 * cells[:, None] + lattice(*[np.arange(3)] * 3)
    values = solution[tuple(np.moveaxis(nodes, -1, 0))].reshape(-1, 3, 3, 3)
    return [np.einsum("ni,nj,nk,nijk->n", x, y, z, values)]
