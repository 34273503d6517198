"""The steady flow in a lid-driven cavity by Galerkin's method, to compare with.

python -m examples.second_stage.cavity_flow

prints two estimates of the reference's error: the distance of coarser ones from it,
and its own from published extrema below a lid of one speed.
"""

import dataclasses
import functools

import numpy as np
import sympy as sp
from numpy.polynomial import legendre

X, Y = sp.symbols("x y")
REYNOLDS = 100
DEGREE = 48

TINY = 1e-9
"""How far outside the cavity the corners' solutions begin: they are finite inside."""


def stokes_corner(distance):
    """Creeping flow in the corner that a lid of speed 1 slides away from.

    Args:
        distance: Expression for the distance from the wall, along the lid.

    Returns:
        The streamfunction, and the conjugate harmonic of its Laplacian's half: the
        pressure is the viscosity times twice that, with the sign of the x axis.

    Reference:
        G. K. Batchelor, "An introduction to fluid dynamics", section 4.8.
    """
    a, b = distance + TINY, 1 - Y
    angle = sp.atan(b / a)
    c = 1 / (sp.pi**2 / 4 - 1)
    d = sp.pi * c / 2
    streamfunction = angle * (c * a + d * b) - sp.pi * d / 2 * b
    return streamfunction, -(c * a + d * b) / (a**2 + b**2)


def corner_parts(viscosity):
    """ψ and p of a flow that has all of the lid's jumps, and no speed on other walls.

    Each corner's creeping flow, faded out towards the walls that are not its own by
    cubics whose sum is 1: the remainder vanishes on all walls.
    """
    fade = 1 - X**2 * (3 - 2 * X)
    psi, p = 0, 0
    for distance, share, sign in ((X, fade, 1), (1 - X, 1 - fade, -1)):
        share = share * Y**2 * (3 - 2 * Y)
        streamfunction, conjugate = stokes_corner(distance)
        psi += share * streamfunction
        p += 2 * sign * viscosity * share * conjugate
    return psi, p


def regularised_lid():
    """The lid's speed that vanishes in the corners with its slope."""
    return 16 * X**2 * (1 - X) ** 2


def lift(lid):
    """A streamfunction with the lid's speed, and no speed on other walls."""
    return corner_parts(1)[0] if lid == 1 else lid * (Y**3 - Y**2)


@dataclasses.dataclass(frozen=True)
class Flow:
    """ψ = lift + Σ c_ij φ_i(x) φ_j(y).

    φ_k'' is Legendre's polynomial of degree k + 2: so φ_k vanishes at both walls with
    its slope.

    Attributes:
        lid: Expression for the lid's speed: 1, or one that vanishes in the corners
            with its slope.
        coefficients: c, `(n, n)`.
    """

    lid: sp.Expr
    coefficients: np.ndarray

    def velocity(self, points):
        """u and v at points `(m, 2)`, each `(m,)`."""
        x, y = points.T
        n = len(self.coefficients)
        along = basis(n, x, 1), basis(n, y, 1)
        psi_x, psi_y = (
            np.einsum("mi,ij,mj->m", along[0][i], self.coefficients, along[1][j])
            for i, j in ((1, 0), (0, 1))
        )
        known = known_part(self.lid, points, ((0, 1), (1, 0)))
        return known[0, 1] + psi_y, -known[1, 0] - psi_x


def basis(n, x, orders):
    """The derivatives of the n polynomials at x, a list of `(len(x), n)`."""
    series = [legendre.legint(np.eye(n + 2)[k + 2], 2, lbnd=-1) for k in range(n)]
    return [
        np.stack(
            [
                2**m * legendre.legval(2 * x - 1, legendre.legder(one, m))
                for one in series
            ],
            axis=1,
        )
        for m in range(orders + 1)
    ]


def known_part(lid, points, orders):
    """Derivatives of the lift at points: a dict from orders in x and y."""
    return {
        order: sp.lambdify((X, Y), sp.diff(lift(lid), X, order[0], Y, order[1]))(
            *points.T
        )
        for order in orders
    }


@functools.lru_cache
def solve(lid, n=DEGREE, reynolds=REYNOLDS):
    """The steady flow below a lid, by Newton's method.

    The residual of ψ_y Δψ_x − ψ_x Δψ_y = Δ²ψ / Re is orthogonal to all φ_i(x) φ_j(y),
    by Gauss's rule of 3/2 n points in each direction.

    Args:
        lid: As in `Flow`.
        n: Number of polynomials in each direction.
        reynolds: Reynolds number.
    """
    nodes, weights = legendre.leggauss(3 * n // 2)
    nodes = (nodes + 1) / 2
    points = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), -1).reshape(-1, 2)
    one = basis(n, nodes, 4)
    orders = [(i, j) for i in range(5) for j in range(5 - i)]
    known = known_part(lid, points, orders)

    def part(*terms):
        matrix = sum(np.kron(one[i], one[j]) * factor for i, j, factor in terms)
        start = sum(known[i, j] * factor for i, j, factor in terms)
        return matrix, start

    parts = [
        part((1, 0, 1)),
        part((0, 1, 1)),
        part((3, 0, 1), (1, 2, 1)),
        part((2, 1, 1), (0, 3, 1)),
        part((4, 0, 1), (2, 2, 2), (0, 4, 1)),
    ]
    test = (np.kron(one[0], one[0]) * np.kron(weights, weights)[:, None]).T
    c = np.zeros(n * n)
    for _ in range(20):
        psi_x, psi_y, bent_x, bent_y, stress = (m @ c + start for m, start in parts)
        residual = psi_y * bent_x - psi_x * bent_y - stress / reynolds
        jacobian = psi_y[:, None] * parts[2][0]
        jacobian += bent_x[:, None] * parts[1][0]
        jacobian -= psi_x[:, None] * parts[3][0]
        jacobian -= bent_y[:, None] * parts[0][0]
        jacobian -= parts[4][0] / reynolds
        change = np.linalg.solve(test @ jacobian, test @ residual)
        c = c - change
        if np.abs(change).max() < 1e-9 * np.abs(c).max():
            return Flow(lid, c.reshape(n, n))
    raise RuntimeError(f"Newton's method did not converge: {np.abs(change).max():.1e}")


def main():
    side = np.linspace(0, 1, 100)
    points = np.stack(np.meshgrid(side, side, indexing="ij"), -1).reshape(-1, 2)
    for name, lid in (("regularised", regularised_lid()), ("standard", sp.Integer(1))):
        best = np.stack(solve(lid).velocity(points))
        for n in (16, 24, 32, 40):
            u, v = np.stack(solve(lid, n).velocity(points)) - best
            errors = [
                np.linalg.norm(np.hypot(u, v)) / np.linalg.norm(best),
                np.linalg.norm(u) / np.linalg.norm(best[0]),
                np.linalg.norm(v) / np.linalg.norm(best[1]),
            ]
            print(name, n, "velocity, u, v", *(f"{error:.1e}" for error in errors))
    line = np.linspace(0, 1, 2001)
    half = np.full_like(line, 0.5)
    flow = solve(sp.Integer(1))
    u, _ = flow.velocity(np.stack([half, line], -1))
    _, v = flow.velocity(np.stack([line, half], -1))
    print(f"standard: u_min {u.min():.6f}, v_max {v.max():.6f}, v_min {v.min():.6f}")
    print("published:      -0.214042,        0.179573,        -0.253804")


if __name__ == "__main__":
    main()
