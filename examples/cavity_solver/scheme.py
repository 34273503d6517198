"""Finite differences of the lid-driven cavity, as sparse matrices.

The state is the streamfunction at the interior nodes. All other fields are linear
functions of it. So both solvers share the steady equation and its Jacobian.
"""

import numpy as np
import scipy.sparse as sparse


class CavityScheme:
    """Second-order streamfunction-vorticity differences on a uniform grid.

    Fields are flattened arrays over the `(n + 1)` by `(n + 1)` nodes, x first;
    a streamfunction argument `psi` holds the `(n - 1)²` interior nodes only.

    Args:
        n: Number of cells a side; `h = 1 / n`.
        lid_value: Streamfunction on the lid, the row of nodes `y = 1`.

    Reference:
        S. Wang, Y. Teng, P. Perdikaris, *Understanding and mitigating gradient
        pathologies in physics-informed neural networks*, appendix on the finite
        difference approximation; wall vorticity after L. C. Woods, *A note on the
        numerical solution of fourth order differential equations* (1954).
    """

    def __init__(self, n, lid_value):
        self.n = n
        self.h = 1.0 / n
        self.shape = (n + 1, n + 1)
        self.boundary_psi = self._on_lid(lid_value, corners=True)
        self._build_differences()
        self._build_vorticity()

    def _build_differences(self):
        h, nodes = self.h, self.n + 1
        one = sparse.identity(nodes)
        first = sparse.diags([-0.5 / h, 0.5 / h], [-1, 1], shape=(nodes, nodes))
        second = sparse.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(nodes, nodes)) / h**2

        interior = np.arange(nodes**2).reshape(self.shape)[1:-1, 1:-1].ravel()
        self._embed = sparse.identity(nodes**2, format="csc")[:, interior].tocsr()
        at_interior = self._embed.T.tocsr()
        # Matrices from all nodes to the interior ones.
        self._d_dx = at_interior @ sparse.kron(first, one, format="csr")
        self._d_dy = at_interior @ sparse.kron(one, first, format="csr")
        self._laplacian = at_interior @ sparse.kronsum(second, second, format="csr")
        # Matrices from the interior streamfunction to the interior velocity.
        self._psi_x = (self._d_dx @ self._embed).tocsr()
        self._psi_y = (self._d_dy @ self._embed).tocsr()

    def _build_vorticity(self):
        """Write `vorticity = matrix @ psi + constant` on all nodes except the corners.

        Inside, `ω = −Δψ`. On a wall, with node 1 the neighbour of wall node 0 along
        the normal, Woods' formula is

            ω₀ = −ω₁ / 2 − 3 (ψ₁ − ψ₀) / h² − 3 v_τ / h.

        Its two terms with derivatives along the wall vanish here, because walls are
        impermeable and each moves with a constant speed.
        """
        wall, neighbour = self._wall_selectors()
        inside = -(self._embed @ self._laplacian)
        woods = -0.5 * neighbour @ inside - 3.0 / self.h**2 * (neighbour - wall)
        of_all_nodes = (inside + woods).tocsr()
        self._matrix = (of_all_nodes @ self._embed).tocsr()
        self._constant = of_all_nodes @ self.boundary_psi - self._on_lid(3.0 / self.h)
        # Matrices of the Jacobian.
        self._omega_x = (self._d_dx @ self._matrix).tocsr()
        self._omega_y = (self._d_dy @ self._matrix).tocsr()
        self._omega_laplacian = (self._laplacian @ self._matrix).tocsr()

    def _wall_selectors(self):
        """Return matrices that select, in wall rows, a wall node and its neighbour."""
        node = np.arange((self.n + 1) ** 2).reshape(self.shape)
        inner = slice(1, -1)
        wall = np.concatenate(
            [node[0, inner], node[-1, inner], node[inner, 0], node[inner, -1]]
        )
        neighbour = np.concatenate(
            [node[1, inner], node[-2, inner], node[inner, 1], node[inner, -2]]
        )

        def picking(columns):
            entries = (np.ones(wall.size), (wall, columns))
            return sparse.csr_matrix(entries, shape=(node.size, node.size))

        return picking(wall), picking(neighbour)

    def _on_lid(self, value, corners=False):
        field = np.zeros(self.shape)
        field[slice(None) if corners else slice(1, -1), -1] = value
        return field.ravel()

    def streamfunction(self, psi):
        """Return the streamfunction on all nodes."""
        return self._embed @ psi + self.boundary_psi

    def vorticity(self, psi):
        """Return the vorticity on all nodes, zero at the corners, which are unused."""
        return self._matrix @ psi + self._constant

    def velocity(self, psi):
        """Return the velocity `(ψ_y, −ψ_x)` at the interior nodes."""
        all_psi = self.streamfunction(psi)
        return self._d_dy @ all_psi, -(self._d_dx @ all_psi)

    def velocity_change(self, psi_change):
        """Return the largest absolute component of the velocity of a change."""
        return max(
            np.abs(self._psi_y @ psi_change).max(),
            np.abs(self._psi_x @ psi_change).max(),
        )

    def steady_residual(self, psi, nu):
        """Return `u ω_x + v ω_y − ν Δω` at interior nodes, zero in a steady flow."""
        u, v = self.velocity(psi)
        omega = self.vorticity(psi)
        return (
            u * (self._d_dx @ omega)
            + v * (self._d_dy @ omega)
            - nu * (self._laplacian @ omega)
        )

    def steady_jacobian(self, psi, nu):
        """Return the derivative of `steady_residual` by `psi`."""
        times = sparse.diags
        u, v = self.velocity(psi)
        omega = self.vorticity(psi)
        return (
            times(u) @ self._omega_x
            + times(v) @ self._omega_y
            - nu * self._omega_laplacian
            + times(self._d_dx @ omega) @ self._psi_y
            - times(self._d_dy @ omega) @ self._psi_x
        )

    def creeping_system(self):
        """Return matrix and right side of `Δω = 0`, the creeping flow."""
        return self._omega_laplacian, -(self._laplacian @ self._constant)

    def solve_poisson(self, interior_vorticity):
        """Solve `Δψ = −ω` exactly by the sine transform, which diagonalises Δ."""
        side = self.n - 1
        right = interior_vorticity + self._laplacian @ self.boundary_psi
        from scipy.fft import dstn  # takes 0.25 s to import

        sines = dstn(right.reshape(side, side), type=1, norm="ortho")
        k = np.arange(1, self.n)
        eigenvalue = (2.0 / self.h * np.sin(0.5 * np.pi * k * self.h)) ** 2
        sines /= eigenvalue[:, None] + eigenvalue[None, :]
        return dstn(sines, type=1, norm="ortho").ravel()
