"""Reference solution of the lid-driven cavity by Galerkin's method.

python -m examples.second_stage.cavity_flow

prints two estimates of the error of the reference: its difference from coarser
solutions, and from published extrema for a lid of constant speed.
"""

import dataclasses
import functools

import numpy as np
import sympy as sp
from numpy.polynomial import legendre

X, Y = sp.symbols("x y")
REYNOLDS = 100
# Number of polynomials in each direction.
DEGREE = 48

# Distance of the corner solutions' origin from the cavity, so that they are finite
# inside.
TINY = 1e-9


def stokes_corner(distance):
    """Return the creeping flow in the corner that a lid of speed 1 slides away from.

    Args:
        distance: Expression for the distance from the wall, along the lid.

    Returns:
        The streamfunction, and the harmonic conjugate of half its Laplacian. The
        pressure is 2 × viscosity × this function, with the sign of the x axis.

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
    """Return ψ and p of a flow with the jumps of the lid, at rest on the other walls.

    The creeping flows of both corners fade out toward the opposite walls by cubics
    whose sum is 1. So the remaining flow vanishes on all walls.
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
    """Return a speed of the lid that vanishes in the corners with its derivative."""
    return 16 * X**2 * (1 - X) ** 2


def parabolic_lid():
    """Return a speed of the lid that vanishes in the corners."""
    return 4 * X * (1 - X)


def parabolic_lift():
    """Return a streamfunction with the speed of the parabolic lid.

    Near each corner it is the creeping flow there, below a lid of speed 4 × distance.
    """
    fade = 1 - X**2 * (3 - 2 * X)
    psi = 0
    for distance, share in ((X, (1 - X) * fade), (1 - X, X * (1 - fade))):
        a, b = distance + TINY, 1 - Y
        twice = 2 * sp.atan(b / a) - sp.pi / 2
        corner = sp.pi / 2 * (a**2 - b**2) + 2 * a * b + twice * (a**2 + b**2)
        psi -= share * Y**2 * (3 - 2 * Y) * corner
    return psi


def lift(lid):
    """Return a streamfunction with the speed of the lid, at rest on the other walls."""
    if lid == 1:
        return corner_parts(1)[0]
    return parabolic_lift() if lid == parabolic_lid() else lid * (Y**3 - Y**2)


@dataclasses.dataclass(frozen=True)
class Flow:
    """Flow with the streamfunction ψ = lift + Σ c_ij φ_i(x) φ_j(y).

    φ_k'' is Legendre's polynomial of degree k + 2, so that φ_k and its derivative
    vanish at both walls.

    Attributes:
        lid: Expression for the speed of the lid. It is 1, the parabolic one, or it
            vanishes in the corners with its derivative.
        coefficients: Array c, `(n, n)`.
    """

    lid: sp.Expr
    coefficients: np.ndarray

    def velocity(self, points):
        """Return u and v at points `(m, 2)`, each `(m,)`."""
        x, y = points.T
        n = len(self.coefficients)
        bases = basis(n, x, 1), basis(n, y, 1)
        psi_x, psi_y = (
            np.einsum("mi,ij,mj->m", bases[0][i], self.coefficients, bases[1][j])
            for i, j in ((1, 0), (0, 1))
        )
        known = known_part(self.lid, points, ((0, 1), (1, 0)))
        return known[0, 1] + psi_y, -known[1, 0] - psi_x


def basis(n, x, orders):
    """Return derivatives of the n polynomials at x, a list of `(len(x), n)`."""
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
    """Return derivatives of the lift at points, a dict from orders in x and y."""
    return {
        order: sp.lambdify((X, Y), sp.diff(lift(lid), X, order[0], Y, order[1]))(
            *points.T
        )
        for order in orders
    }


@functools.lru_cache
def solve(lid, n=DEGREE, reynolds=REYNOLDS):
    """Solve for the steady flow below a lid, by Newton's method.

    The residual of ψ_y Δψ_x − ψ_x Δψ_y = Δ²ψ / Re is orthogonal to all φ_i(x) φ_j(y).
    Integrals are Gauss quadratures with 3/2 n points in each direction.

    Args:
        lid: Expression for the speed of the lid, as in `Flow`.
        n: Number of polynomials in each direction.
        reynolds: Reynolds number.
    """
    nodes, weights = legendre.leggauss(3 * n // 2)
    nodes = (nodes + 1) / 2
    points = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), -1).reshape(-1, 2)
    derivatives = basis(n, nodes, 4)
    orders = [(i, j) for i in range(5) for j in range(5 - i)]
    known = known_part(lid, points, orders)

    def part(*terms):
        matrix = sum(
            np.kron(derivatives[i], derivatives[j]) * factor for i, j, factor in terms
        )
        offset = sum(known[i, j] * factor for i, j, factor in terms)
        return matrix, offset

    parts = [
        part((1, 0, 1)),
        part((0, 1, 1)),
        part((3, 0, 1), (1, 2, 1)),
        part((2, 1, 1), (0, 3, 1)),
        part((4, 0, 1), (2, 2, 2), (0, 4, 1)),
    ]
    test = np.kron(derivatives[0], derivatives[0])
    test = (test * np.kron(weights, weights)[:, None]).T
    c = np.zeros(n * n)
    for _ in range(20):
        psi_x, psi_y, bent_x, bent_y, stress = (m @ c + offset for m, offset in parts)
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
    lids = {"regularised": regularised_lid(), "parabolic": parabolic_lid()}
    for name, lid in {**lids, "standard": sp.Integer(1)}.items():
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
