"""Scales from an energy, by its minimum among polynomials.

Newton's steps in products of Chebyshev polynomials that meet the linear conditions
give the fields' magnitudes and the energy's; a quadratic energy takes one step.
"""

import functools

import numpy as np

from keraspinn import backend
from keraspinn.declaration.probe_points import columns
from keraspinn.declaration.scaling.find import find_scales
from keraspinn.declaration.scaling.linearization import linearize, stack_rows
from keraspinn.declaration.scaling.polynomials import Polynomials
from keraspinn.declaration.scaling.scales import Scales
from keraspinn.declaration.terms import RESIDUAL, Term
from keraspinn.expressions import NormalComponent, PartIntegral, Program
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.second_variation import SecondVariation
from keraspinn.geometry.arrays import on_host
from keraspinn.geometry.part import quasi_random

DEGREES = {1: 12, 2: 8}  # of the polynomials, by the number of coordinates
DEGREE_BEYOND = 5
POINTS = 4096  # on each part, for integrals to about 1e-3
HELD = 1e-3  # of a condition's largest singular value: a smaller one counts as zero
NEGATIVE = 1e-9  # of the largest eigenvalue, below which curvature is negative
NOTHING = 1e-12  # of the largest eigenvalue, below which there is no curvature
STEPS = 40  # of Newton's method
SETTLED = 1e-3  # relative change of the energy that ends Newton's method
STARTS = 10.0 ** np.arange(-12, 13)  # lengths of the first steps
FAR = 1e6, 1e12  # distances along negative curvature at which the energy is compared
HALVINGS = 20
LOADED = 1e-2  # of a gradient's norm, above which a load works along a change
NUDGE = 1e-3  # of the polynomials' size, off fields that have no derivative
ROUNDING = 1e-9  # of the largest field's magnitude, below which a field is zero

FALLING = (
    "The energy has no minimum: its second derivative is negative for some changes of "
    "{}. Check its signs: stored energy is positive, and the work of loads negative, "
    "keraspinn.integral(stored) - keraspinn.integral(load * u, over=...)."
)
LOOSE = (
    "The energy falls without bound as {} move: no condition holds them against the "
    "loads. Hold them on a part, conditions={{'clamp': keraspinn.Condition([u, v], "
    "on={{x: 0}}, hard=True)}}, unless the network does by the way it is built."
)
OPEN = (
    "The energy leaves {} undetermined: they may change at no cost, as a body without "
    "support moves. Any of these fields may be learned. Hold them on a part, or by an "
    "integral, keraspinn.Condition(keraspinn.integral(u))."
)


def energy_scales(domain, terms, field_names, given=None):
    """Return the `Scales` of a problem with an energy.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s, the energy's first.
        field_names: Names of the fields.
        given: Optional dict from names of fields to sizes that are known.
    """
    coarse = coarse_energy(domain, tuple(terms.values()), tuple(field_names))
    sizes = coarse.sizes | (given or {})
    conditions = terms | {RESIDUAL: Term(RESIDUAL, (), domain.blocks("interior"))}
    scales = find_scales(domain, conditions, field_names, sizes)
    term_scales = scales.terms | {RESIDUAL: (float(f"{coarse.energy:.2e}"),)}
    return Scales(scales.coordinates, scales.fields, term_scales, scales.offsets)


@functools.lru_cache(maxsize=8)
def coarse_energy(domain, terms, field_names):
    """Return the `CoarseEnergy` of a declaration.

    Args:
        domain: The geometry.
        terms: Tuple of `Term`s, the energy's among them.
        field_names: Tuple of the fields' names.
    """
    with np.errstate(all="ignore"):  # numbers that are not finite are left out
        return CoarseEnergy(domain, terms, field_names)


class CoarseEnergy:
    """Energy of polynomials, with its minimum.

    Args:
        domain: The geometry.
        terms: Tuple of `Term`s, the energy's among them.
        field_names: Tuple of the fields' names.

    Attributes:
        sizes: Dict from names of fields to their largest absolute values.
        energy: The energy's magnitude.
        underdetermined: Sentence if the energy has no minimum, or several as far as it
            is quadratic; or "".
    """

    def __init__(self, domain, terms, field_names):
        degree = DEGREES.get(domain.dimension, DEGREE_BEYOND)
        self._names = list(field_names)
        self._basis = Polynomials(domain, self._names, degree, {})
        (term,) = [term for term in terms if term.is_energy]
        (energy,) = term.expressions
        by_region = {i.region: i.integrand for i in energy.atoms(PartIntegral)}
        self._pieces = [
            _Piece(by_region[region], part, domain, self._basis)
            for region, block in zip(term.regions, term.blocks, strict=True)
            for part in block
        ]
        self._start, self._free = self._held(domain, terms)
        self.underdetermined = ""
        factors = self._least()
        values = abs(self._basis.inside() @ factors[:, :, None]).max(axis=(1, 2))
        start, least = self.value(self._start), self.value(factors)
        energy = max(abs(least), abs(start - least))
        self.energy = energy if 0 < energy < np.inf else 1.0
        sizes = values if np.isfinite(values).all() else np.ones(len(values))
        sizes = np.where(sizes > ROUNDING * sizes.max(), sizes, sizes.max() or 1.0)
        self.sizes = dict(zip(self._names, sizes.tolist(), strict=True))

    def value(self, factors):
        """Return the energy of factors `(f, count)`."""
        return sum(piece.value(factors) for piece in self._pieces)

    def _held(self, domain, terms):
        """Return factors that meet linear conditions, and a basis of their changes."""
        shape = len(self._names), self._basis.count
        held = {t.name: t for t in terms if not t.is_energy}
        try:
            rows = [r for r in linearize(domain, held, self._basis, {}) if r.is_linear]
        except ValueError:
            rows = []
        if not rows:
            return np.zeros(shape), np.eye(shape[0] * shape[1])
        residual, jacobian = stack_rows(rows, np.zeros(shape), np.ones(shape[0]))
        jacobian = jacobian.reshape(len(residual), -1)
        left, values, right = np.linalg.svd(jacobian)
        rank = int((values > HELD * values.max(initial=0.0)).sum())
        start = -right[:rank].T @ ((left[:, :rank].T @ residual) / values[:rank])
        free = right[rank:].T
        # The smoothest factors that meet them.
        metric = self._metric(shape)
        smoother = np.linalg.pinv(free.T @ metric @ free, NOTHING, hermitian=True)
        start = start - free @ (smoother @ (free.T @ (metric @ start)))
        return start.reshape(shape), free

    def _metric(self, shape):
        """Return the Hessian of half the squares of all fields and derivatives."""
        size = int(np.prod(shape))
        return sum(piece.metric(shape) for piece in self._pieces).reshape(size, size)

    def _least(self):
        """Return the factors of least energy that Newton's method reaches."""
        factors, last = self._start, self.value(self._start)
        is_quadratic = all(piece.is_quadratic for piece in self._pieces)
        for number in range(STEPS if self._free.shape[1] else 0):
            gradient, hessian = self._derivatives(factors)
            if not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
                if number:
                    break
                nudge = NUDGE * self._free.sum(axis=1)
                factors = factors + nudge.reshape(factors.shape)
                continue
            step = self._step(gradient, hessian, is_quadratic, factors.shape)
            if is_quadratic:
                return factors + step
            lengths = STARTS if number < 2 else 0.5 ** np.arange(HALVINGS)
            tried = [(self.value(factors + size * step), size) for size in lengths]
            tried = [pair for pair in tried if pair[0] < last]
            if not tried:
                break
            best, length = min(tried)
            factors, change, last = factors + length * step, last - best, best
            if change < SETTLED * abs(best):
                break
        if self._falls(factors):
            self.underdetermined = FALLING.format(" and ".join(self._names))
        return factors

    def _falls(self, factors):
        """Return whether the energy falls far away along its negative curvature."""
        _, hessian = self._derivatives(factors)
        if not hessian.size or not np.isfinite(hessian).all():
            return False
        values, vectors = np.linalg.eigh(hessian)
        if values[0] >= -NEGATIVE * abs(values).max():
            return False
        along = (self._free @ vectors[:, 0]).reshape(factors.shape)
        along *= 1 + abs(factors).max()
        near, far = (self.value(factors + distance * along) for distance in FAR)
        return far < 2 * near < 0

    def _derivatives(self, factors):
        """Return gradient and Hessian by the changes that conditions allow."""
        parts = [piece.derivatives(factors) for piece in self._pieces]
        gradient = sum(part for part, _ in parts).ravel()
        hessian = sum(part for _, part in parts)
        hessian = hessian.reshape(factors.size, factors.size)
        return self._free.T @ gradient, self._free.T @ hessian @ self._free

    def _step(self, gradient, hessian, is_quadratic, shape):
        """Return Newton's step in all factors, by absolute values of the curvature."""
        diagonal = abs(np.diag(hessian))
        if not diagonal.any():  # a fourth power has no curvature at zero
            hessian = self._free.T @ self._metric(shape) @ self._free
            diagonal = abs(np.diag(hessian))
        norms = np.sqrt(np.maximum(diagonal, NOTHING * diagonal.max() or 1.0))
        values, vectors = np.linalg.eigh(hessian / norms / norms[:, None])
        along = vectors.T @ (gradient / norms)
        largest = abs(values).max() or 1.0
        is_flat = abs(values) < NOTHING * largest
        if is_quadratic:
            changes = vectors / norms[:, None]
            changes = changes / np.linalg.norm(changes, axis=0)
            modes = abs((self._free @ changes).reshape(*shape, -1)).max(axis=1)
            loads = abs(changes.T @ gradient)
            is_loaded = is_flat & (loads > LOADED * np.linalg.norm(gradient))
            is_falling = values < -NEGATIVE * largest
            for text, chosen in (
                (FALLING, is_falling),
                (LOOSE, is_loaded),
                (OPEN, is_flat),
            ):
                most = modes[:, chosen].max(axis=1, initial=0.0)
                names = [
                    name
                    for name, size in zip(self._names, most, strict=True)
                    if size > HELD * most.max() > 0
                ]
                if names and not self.underdetermined:
                    self.underdetermined = text.format(" and ".join(names))
        values = np.where(is_flat, np.inf, abs(values))
        step = -self._free @ (vectors @ (along / values) / norms)
        return step.reshape(shape)


class _Piece:
    """Density of an energy on one part.

    Args:
        density: Expression in the user's units.
        part: The part.
        domain: The geometry.
        basis: The `Polynomials`.
    """

    def __init__(self, density, part, domain, basis):
        draws = domain.draws(part)
        uniform = quasi_random(POINTS, draws) if draws else [[]]
        with backend.double_precision():
            drawn = on_host(domain.sample(part, np.asarray(uniform, float)))
            points = on_host(domain.absolute(part, drawn))
            self._known = {}
            if density.has(NormalComponent):
                normals = on_host(domain.normals(part, drawn))
                pairs = zip(domain.normal, normals.T, strict=True)
                self._known = {symbol.name: column for symbol, column in pairs}
        self._weight = domain.measure(part) / len(points)
        self._columns = columns(domain.coordinates, points)
        variation = SecondVariation(density)
        self.is_quadratic = variation.is_quadratic
        keys = [field_and_index(node, domain.coordinates) for node in variation.nodes]
        self._nodes = [
            (key, basis.field_names.index(key[0]), basis.derivative(points, key[1]))
            for key in keys
        ]
        entries = [e for row in variation.hessian for e in row]
        self._programs = {
            "value": Program([density], domain.coordinates),
            "derivatives": Program([*variation.gradient, *entries], domain.coordinates),
        }

    def _evaluated(self, name, factors):
        nodes = {key: basis @ factors[field] for key, field, basis in self._nodes}
        with backend.double_precision():
            return self._programs[name].on_host(self._columns, nodes, self._known)

    def value(self, factors):
        """Return the energy of factors `(f, count)`."""
        (values,) = self._evaluated("value", factors)
        return self._weight * values.sum()

    def derivatives(self, factors):
        """Return its gradient `(f, count)` and Hessian `(f, count, f, count)`."""
        values = self._evaluated("derivatives", factors)
        count, gradient = len(self._nodes), np.zeros(factors.shape)
        for value, (_, field, basis) in zip(values, self._nodes, strict=False):
            gradient[field] += self._weight * (value @ basis)
        second = np.reshape(values[count:], (count, count, -1))
        return gradient, self._assembled(second, factors.shape)

    def metric(self, shape):
        """Return the Hessian of half the squares of all fields and derivatives."""
        return self._assembled(np.eye(len(self._nodes))[..., None], shape)

    def _assembled(self, second, shape):
        """Return Σ w ∂²ψ/∂z² by factors, from ∂²ψ/∂z², `(m, m, n)` or `(m, m, 1)`."""
        hessian = np.zeros((*shape, *shape))
        for i, (_, field, basis) in enumerate(self._nodes):
            for j, (_, other, theirs) in enumerate(self._nodes):
                if second[i, j].any():
                    weighted = basis * (self._weight * second[i, j])[:, None]
                    hessian[field, :, other] += weighted.T @ theirs
        return hessian
