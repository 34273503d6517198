"""Reference solutions of periodic problems: Fourier series and ETDRK4.

Cox and Matthews, "Exponential time differencing for stiff systems", J. Comput. Phys.
176, 2002, with the contour integrals of Kassam and Trefethen, SIAM J. Sci. Comput. 26,
2005.
"""

import numpy as np

# Number of points of the contour around each eigenvalue.
ROOTS = 32


def wave_numbers(count, length):
    """Return the angular wave numbers of `numpy.fft.fft` on a period."""
    return 2 * np.pi * np.fft.fftfreq(count, length / count)


def etdrk4(linear, nonlinear, initial, end, steps, stored):
    """Integrate v' = linear · v + nonlinear(v, t) for Fourier coefficients v.

    Args:
        linear: Diagonal of the linear part, with the shape of `initial`.
        nonlinear: Function of the coefficients and time.
        initial: Coefficients at t = 0.
        end: Last time.
        steps: Number of time steps, a multiple of `stored`.
        stored: Number of times in the result, without t = 0.

    Returns:
        Coefficients at stored + 1 times, `(stored + 1, ...)`.
    """
    h = end / steps
    full, half = np.exp(h * linear), np.exp(h * linear / 2)
    angles = np.exp(2j * np.pi * (np.arange(1, ROOTS + 1) - 0.5) / ROOTS)
    q = f1 = f2 = f3 = 0
    for root in angles:
        z = h * linear + root
        e = np.exp(z)
        q = q + h * (np.exp(z / 2) - 1) / z / ROOTS
        f1 = f1 + h * (-4 - z + e * (4 - 3 * z + z**2)) / z**3 / ROOTS
        f2 = f2 + h * (2 + z + e * (z - 2)) / z**3 / ROOTS
        f3 = f3 + h * (-4 - 3 * z - z**2 + e * (4 - z)) / z**3 / ROOTS
    v, kept = initial, [initial]
    for step in range(steps):
        t = step * h
        n = nonlinear(v, t)
        a = half * v + q * n
        n_a = nonlinear(a, t + h / 2)
        b = half * v + q * n_a
        n_b = nonlinear(b, t + h / 2)
        c = half * a + q * (2 * n_b - n)
        n_c = nonlinear(c, t + h)
        v = full * v + f1 * n + 2 * f2 * (n_a + n_b) + f3 * n_c
        if (step + 1) % (steps // stored) == 0:
            kept.append(v)
    return np.array(kept)


def evolution(name, linear, nonlinear, initial, interval, end, resolution, steps):
    """Return the `truth` of u_t = linear(∂ₓ) u + nonlinear(u), periodic in x.

    Args:
        name: Name of the field.
        linear: Function of i k.
        nonlinear: Function of the values u and of i k that returns the coefficients of
            the nonlinear terms.
        initial: Function of x.
        interval: Lower and upper end of the period.
        end: Last time.
        resolution: Number of grid points.
        steps: Number of time steps. A solution with half of both numbers gives the
            error.
    """
    left, right = interval

    def solved(count, steps):
        x = left + (right - left) * np.arange(count) / count
        ik = 1j * wave_numbers(count, right - left)

        def right_side(v, _):
            return nonlinear(np.fft.ifft(v).real, ik)

        v = etdrk4(linear(ik), right_side, np.fft.fft(initial(x)), end, steps, 100)
        return x, np.fft.ifft(v, axis=-1).real

    def truth():
        x, values = solved(resolution, steps)
        _, coarse = solved(resolution // 2, steps // 2)
        error = np.linalg.norm(values[:, ::2] - coarse) / np.linalg.norm(coarse)
        sparse = slice(None, None, max(1, resolution // 512))
        t, x = np.meshgrid(np.linspace(0, end, 101), x[sparse], indexing="ij")
        points = np.stack([x.ravel(), t.ravel()], axis=-1)
        return points, {name: values[:, sparse].ravel()}, float(error)

    return truth
