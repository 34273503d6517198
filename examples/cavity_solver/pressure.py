"""Pressure of a steady incompressible flow, from its momentum equations."""

import numpy as np
import scipy.sparse as sparse


def pressure_of(reynolds, u, v, vorticity):
    """Return the pressure whose gradient best satisfies the momentum equations.

    In rotational form these contain the gradient of the total head `H = p + (u² +
    v²)/2`:

        H_x = v ω − ν ω_y,    H_y = −u ω + ν ω_x.

    Each edge of the grid determines a difference of H, the mean of the derivatives at
    its two ends times h. H is the solution of all these equations by weighted least
    squares, a discrete Poisson equation with natural boundary conditions.

    The derivatives grow like r⁻² toward a lid corner, and the error of their
    differences like h² r⁻⁴. The weights r⁴ prevent these errors from spreading into the
    interior.

    Args:
        reynolds: The Reynolds number, `1 / ν`.
        u, v, vorticity: Fields of shape `(n + 1, n + 1)`, x first.

    Returns:
        The pressure at all nodes, zero at the centre of the square.
    """
    nodes, nu = len(u), 1.0 / reynolds
    h = 1.0 / (nodes - 1)
    omega_x, omega_y = np.gradient(vorticity, h, edge_order=2)
    slope_x = v * vorticity - nu * omega_y
    slope_y = -u * vorticity + nu * omega_x
    along_x = 0.5 * (slope_x[1:] + slope_x[:-1])
    along_y = 0.5 * (slope_y[:, 1:] + slope_y[:, :-1])

    head = _integrate(along_x, along_y, *_edge_weights(nodes), h)
    pressure = head - 0.5 * (u**2 + v**2)
    _fill_corners(pressure)
    middle = slice((nodes - 1) // 2, nodes // 2 + 1)
    return pressure - pressure[middle, middle].mean()


def _edge_weights(nodes):
    """Return weights r⁴ of the edges along x and along y, zero for edges in a wall.

    In a wall the derivative needs the one-sided normal derivative of the vorticity. The
    edges normal to the wall reach the same nodes with central differences.
    """
    x = np.linspace(0.0, 1.0, nodes)
    to_corner = np.hypot(np.minimum(x, 1.0 - x)[:, None], 1.0 - x[None, :])
    weight = to_corner**4
    of_x = 0.5 * (weight[1:] + weight[:-1])
    of_y = 0.5 * (weight[:, 1:] + weight[:, :-1])
    of_x[:, [0, -1]] = 0.0
    of_y[[0, -1], :] = 0.0
    return of_x, of_y


def _integrate(along_x, along_y, weight_x, weight_y, h):
    """Return the nodal field whose differences along the edges fit best."""
    from scipy.sparse.linalg import splu

    nodes = along_x.shape[1]
    one = sparse.identity(nodes)
    difference = sparse.diags([-1.0, 1.0], [0, 1], shape=(nodes - 1, nodes)) / h
    gradient = sparse.vstack(
        [sparse.kron(difference, one), sparse.kron(one, difference)], format="csc"
    )
    target = np.concatenate([along_x.ravel(), along_y.ravel()])
    weight = sparse.diags(np.concatenate([weight_x.ravel(), weight_y.ravel()]))

    free = np.ones((nodes, nodes), bool)
    free[np.ix_([0, -1], [0, -1])] = False  # no weighted edge reaches the corners
    free[nodes // 2, nodes // 2] = False  # one node fixes the constant
    free = free.ravel()
    gradient = gradient[:, free]
    normal = (gradient.T @ weight @ gradient).tocsc()
    field = np.zeros(nodes**2)
    field[free] = splu(
        normal,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    ).solve(gradient.T @ (weight @ target))
    return field.reshape(nodes, nodes)


def _fill_corners(field):
    for i, next_i in ((0, 1), (-1, -2)):
        # On the floor the pressure is smooth, so it is extrapolated linearly.
        field[i, 0] = field[next_i, 0] + field[i, 1] - field[next_i, 1]
        # Below the lid it is unbounded. The mean of its neighbours is a placeholder.
        field[i, -1] = 0.5 * (field[next_i, -1] + field[i, -2])
