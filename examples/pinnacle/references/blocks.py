"""Poisson 2d-MS: a conductivity and a source for each of 25 blocks."""

import itertools

import numpy as np
import skfem
from skfem.helpers import dot, grad

from examples.pinnacle.common import table
from examples.pinnacle.references.flow import clustered
from examples.pinnacle.references.meshes import values_at

# Half the side of the square, and blocks along a side.
HALF, BLOCKS = 10, 5


def coefficients(x, y):
    """Return conductivity and source at points inside the blocks."""
    _, conductivity, mean, wave = table("poisson_2d_ms_blocks")
    side = 2 * HALF / BLOCKS
    across, up = (x + HALF) / side, (y + HALF) / side
    row, column = (np.clip(c.astype(int), 0, BLOCKS - 1) for c in (across, up))
    block = BLOCKS * row + column
    bump = np.sin(np.pi * (across - row)) * np.sin(np.pi * (up - column))
    return conductivity[block], mean[block] + wave[block] * bump


def poisson_2d_ms(size, points, scaled=True, jumps=True):
    """Solve −∇·(a ∇u) = f with the Robin condition u_n = −u.

    Args:
        scaled: If false, solve with the condition a u_n = −u.
        jumps: If false, solve a Δu + f = 0, with a continuous gradient.
    """
    cells = round(2 * HALF / BLOCKS / size)
    edges = np.linspace(-HALF, HALF, BLOCKS + 1)
    parts = [clustered(*ends, cells)[:-1] for ends in itertools.pairwise(edges)]
    line = np.append(np.concatenate(parts), HALF)
    domain = skfem.MeshTri.init_tensor(line, line)
    basis = skfem.Basis(domain, skfem.ElementTriP2(), intorder=4)
    side = skfem.FacetBasis(domain, skfem.ElementTriP2(), intorder=4)

    @skfem.BilinearForm
    def conduction(u, v, w):
        return (coefficients(*w.x)[0] if jumps else 1) * dot(grad(u), grad(v))

    @skfem.BilinearForm
    def exchange(u, v, w):
        return (coefficients(*w.x)[0] if scaled and jumps else 1) * u * v

    @skfem.LinearForm
    def source(v, w):
        conductivity, heating = coefficients(*w.x)
        return (heating if jumps else heating / conductivity) * v

    matrix = conduction.assemble(basis) + exchange.assemble(side)
    return [values_at(basis, skfem.solve(matrix, source.assemble(basis)), points)]
