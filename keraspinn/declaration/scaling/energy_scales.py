"""Scales from an energy, by its minimum among polynomials.

Newton's steps in products of Chebyshev polynomials that meet the linear conditions
give the fields' magnitudes and the energy's; a quadratic energy takes one step.
"""

import functools

import numpy as np

from keraspinn import backend
from keraspinn.declaration.probe_points import probe_normals, probe_points
from keraspinn.declaration.scaling.find import find_scales
from keraspinn.declaration.scaling.linearization import linearize, stack_rows
from keraspinn.declaration.scaling.offsets import find_offsets, middle_of
from keraspinn.declaration.scaling.polynomials import Polynomials
from keraspinn.declaration.scaling.scales import Scales
from keraspinn.declaration.terms import RESIDUAL, Term, condition_terms
from keraspinn.expressions import NormalComponent, Program, columns
from keraspinn.expressions.derivatives import field_and_index, fields_of
from keraspinn.expressions.second_variation import SecondVariation

DEGREES = {1: 12, 2: 8}  # of the polynomials, by the number of coordinates
DEGREE_BEYOND = 5
POINTS = 4096  # on each part, for integrals to about 1e-3
HELD = 1e-3  # of a condition's largest singular value: a smaller one counts as zero
NEGATIVE = 1e-9  # of the largest eigenvalue, below which curvature is negative
NOTHING = 1e-12  # of the largest eigenvalue, below which there is no curvature
STEPS = 40  # of Newton's method
SETTLED = 1e-3  # relative change of the energy that ends Newton's method
STARTS = 2.0 ** np.arange(-40, 41)  # lengths of the first steps
FAR = 1e6, 1e12  # distances along the softest change at which energies are compared
HALVINGS = 0.5 ** np.arange(20)  # lengths of later steps
LOADED = 1e-2  # of a gradient's norm, above which a load works along a change
NUDGE = 1e-3  # of the polynomials' size, off fields that have no derivative
ROUNDING = 1e-9  # of the largest field or energy, below which a value is round-off
SAME = 1e-5  # relative difference of energies, below which they are the same
# Half the variation, relative to the offset, up to which the minimum is a constant.
# That of an energy that is not quadratic is known to `SETTLED`.
EVEN = 1e-6

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
    conditions = terms | {RESIDUAL: Term(RESIDUAL, (), domain.blocks("interior"))}
    pointwise = [t.expressions for t in condition_terms(terms) if not t.regions]
    given_values = fields_of(sum(pointwise, ()))
    offsets = {n: v for n, v in coarse.offsets().items() if n not in given_values}
    offsets |= find_offsets(domain, conditions, field_names)
    sizes = coarse.sizes(offsets) | (given or {})
    scales = find_scales(domain, conditions, field_names, sizes, offsets)
    terms = scales.terms | {RESIDUAL: (float(f"{coarse.energy(scales.offsets):.2e}"),)}
    return Scales(scales.coordinates, scales.fields, terms, scales.offsets)


class CoarseEnergy:
    """Energy of polynomials, with its minimum.

    Args:
        domain: The geometry.
        terms: Tuple of `Term`s, the energy's among them.
        field_names: Tuple of the fields' names.

    Attributes:
        underdetermined: Sentence if the energy has no minimum, or several as far as it
            is quadratic; or "".
    """

    @np.errstate(all="ignore")  # numbers that are not finite are left out
    def __init__(self, domain, terms, field_names):
        degree = DEGREES.get(domain.dimension, DEGREE_BEYOND)
        self._names = list(field_names)
        self._basis = Polynomials(domain, self._names, degree, {})
        (term,) = [term for term in terms if term.is_energy]
        pairs = [(e, part) for e, block in term.densities for part in block]
        self._pieces = [_Piece(*pair, domain, self._basis) for pair in pairs]
        self._is_quadratic = all(piece.is_quadratic for piece in self._pieces)
        self._start, self._free = self._held(domain, terms)
        self._factors, self.underdetermined = self._least()
        self._values = (self._basis.inside() @ self._factors[:, :, None])[..., 0]

    @np.errstate(all="ignore")
    def offsets(self):
        """Return a dict from names of fields to nonzero middles of their values.

        Empty if the opposite fields have the same energy, as two phases do.
        """
        states = self._factors, -self._factors, np.zeros_like(self._factors)
        least, opposite, zero = map(self.value, states)
        is_finite = np.isfinite(self._values).all() and np.isfinite(least)
        if not is_finite or abs(least - opposite) <= SAME * max(abs(least), abs(zero)):
            return {}
        smallest = EVEN if self._is_quadratic else SETTLED
        pairs = zip(self._names, self._values, strict=True)
        middles = {n: middle_of(v, smallest=smallest) for n, v in pairs}
        return {name: middle for name, middle in middles.items() if middle}

    @np.errstate(all="ignore")
    def energy(self, offsets):
        """Return the energy's magnitude: that of the change from constant offsets.

        The slope at the minimum, which conditions may leave, does not count.
        """
        constants = np.zeros_like(self._start)
        constants[:, self._basis.degrees == 0] = self._column(offsets)
        change, slopes = constants - self._factors, self._derivatives(self._factors)[0]
        first, least, start = map(self.value, (constants, self._factors, self._start))
        smallest = ROUNDING * max(abs(first), abs(least))
        sizes = first - least - np.sum(slopes * change), start - least, least
        return next((abs(s) for s in sizes if smallest < abs(s) < np.inf), 1.0)

    def _column(self, offsets):
        return np.array([[offsets.get(name, 0.0)] for name in self._names])

    def sizes(self, offsets):
        """Return a dict from names of fields to largest distances from offsets."""
        shifts = 0.0, self._column(offsets)
        values, sizes = (abs(self._values - s).max(axis=1) for s in shifts)
        if not np.isfinite(sizes).all():
            sizes = values = np.ones(len(sizes))
        least = ROUNDING * values.max()
        largest = sizes.max() if sizes.max() > least else values.max() or 1.0
        sizes = np.where(sizes > least, sizes, largest)
        return dict(zip(self._names, sizes.tolist(), strict=True))

    def value(self, factors):
        """Return the energy of factors `(f, count)`."""
        return sum(piece.value(factors) for piece in self._pieces)

    def _derivatives(self, factors):
        parts = [piece.derivatives(factors) for piece in self._pieces]
        return [sum(kind) for kind in zip(*parts, strict=True)]

    def _held(self, domain, terms):
        """Return factors that meet linear conditions, and a basis of their changes."""
        shape = len(self._names), self._basis.count
        held = {t.name: t for t in terms if not t.is_energy}
        try:
            rows = [r for r in linearize(domain, held, self._basis, {}) if r.is_linear]
            residual, jacobian = stack_rows(rows, np.zeros(shape), np.ones(shape[0]))
        except ValueError:  # no condition, or one that cannot be linearized
            return np.zeros(shape), np.eye(shape[0] * shape[1])
        left, values, right = np.linalg.svd(jacobian)
        rank = int((values > HELD * values.max(initial=0.0)).sum())
        start = -right[:rank].T @ ((left[:, :rank].T @ residual) / values[:rank])
        free = right[rank:].T
        # The smoothest factors that meet them.
        rough = np.tile((1.0 + self._basis.degrees) ** 2, len(self._names))
        start -= free @ np.linalg.lstsq(rough[:, None] * free, rough * start)[0]
        return start.reshape(shape), free

    def _least(self):
        """Return factors of least energy by Newton's method, and a fault or ""."""
        factors = self._start if self._is_quadratic else self._best_constants()
        last, modes = self.value(factors), None
        for number in range(STEPS if self._free.shape[1] else 0):
            reached, modes = modes, self._modes(factors)
            if modes is None:
                if number:
                    modes = reached
                    break
                # A power may have no curvature at zero, or an infinite one.
                smooth = np.tile(1.0 / (1.0 + self._basis.degrees), len(self._names))
                nudge = NUDGE * self._free @ (self._free.T @ smooth)
                factors = factors + nudge.reshape(factors.shape)
                continue
            slopes, curvatures, changes = modes
            step = -changes @ np.where(curvatures, slopes / abs(curvatures), 0.0)
            lengths = STARTS if number < 2 else HALVINGS
            lengths = (1.0,) if self._is_quadratic else lengths
            best, length = self._first_minimum(factors, step, lengths)
            factors, change, last = factors + length * step, last - best, best
            if self._is_quadratic or change <= SETTLED * abs(best):
                break
        return factors, self._fault(factors, modes) if modes else ""

    def _best_constants(self):
        """Return the start, or constants of least energy if no condition holds it."""
        factors = self._start
        if self._free.shape[1] < factors.size:
            return factors
        for row in range(len(factors)):
            step = np.zeros_like(factors)
            step[row, self._basis.degrees == 0] = 1.0
            search = functools.partial(self._first_minimum, factors, step)
            factors = factors + min(search(STARTS), search(-STARTS))[1] * step
        return factors

    def _first_minimum(self, factors, step, lengths):
        """Return the first minimum along a step, and its length.

        It is nearer than that of an energy with T⁵, which falls for negative T.
        """
        last = np.nan_to_num(self.value(factors), nan=np.inf)
        best, slack = (last, 0.0), ROUNDING * abs(last)
        for length in lengths:
            value = self.value(factors + length * step)
            if value < best[0]:
                best = value, length
            elif (best[1] or lengths is not HALVINGS) and value > best[0] + slack:
                break  # half of a first length that is too long may be less
        return best

    def _modes(self, factors):
        """Return slopes and curvatures along normal modes, and these, `(f, count, k)`.

        Curvatures are relative to the largest, and zero if they are round-off. `None`
        if they are not finite, or all zero where another state may have some.
        """
        gradient, hessian = self._derivatives(factors)
        gradient = self._free.T @ gradient.ravel()
        hessian = hessian.reshape(factors.size, factors.size)
        hessian = self._free.T @ hessian @ self._free
        diagonal = abs(np.diag(hessian))
        is_finite = np.isfinite(gradient).all() and np.isfinite(hessian).all()
        if not is_finite or not (diagonal.any() or self._is_quadratic):
            return None
        norms = np.sqrt(np.maximum(diagonal, NOTHING * diagonal.max() or 1.0))
        values, vectors = np.linalg.eigh(hessian / norms / norms[:, None])
        values = np.where(abs(values) < NOTHING * abs(values).max(), 0.0, values)
        changes = (self._free @ (vectors / norms[:, None])).reshape(*factors.shape, -1)
        return vectors.T @ (gradient / norms), values, changes

    def _fault(self, factors, modes):
        """Return a sentence if the energy has no minimum or several, or ""."""
        slopes, curvatures, changes = modes
        lengths = np.linalg.norm(changes, axis=(0, 1))
        loads, changes = abs(slopes) / lengths, changes / lengths
        softest = changes[..., 0] * (1 + abs(factors).max())
        sides = [[self.value(factors + s * d * softest) for d in FAR] for s in (1, -1)]
        falls = [far < 2 * near < 0 for near, far in sides]
        is_falling = falls[0] & (curvatures < -NEGATIVE * abs(curvatures).max())
        is_falling |= all(falls) & (curvatures == curvatures.min())
        is_flat = (curvatures == 0) & self._is_quadratic
        is_loaded = is_flat & (loads > LOADED * np.linalg.norm(loads))
        faults = (FALLING, is_falling), (LOOSE, is_loaded), (OPEN, is_flat)
        for text, chosen in faults:
            most = abs(changes[..., chosen]).max(axis=(1, 2), initial=0.0)
            pairs = zip(self._names, most, strict=True)
            if names := [name for name, size in pairs if size > HELD * most.max() > 0]:
                return text.format(" and ".join(names))
        return ""


# The `CoarseEnergy` of a declaration, made once.
coarse_energy = functools.lru_cache(maxsize=8)(CoarseEnergy)


class _Piece:
    """Density of an energy on one part.

    Args:
        density: Expression in the user's units.
        part: The part.
        domain: The geometry.
        basis: The `Polynomials`.
    """

    def __init__(self, density, part, domain, basis):
        points, self._known = probe_points(domain, ((part,),), POINTS), {}
        if density.has(NormalComponent):
            normals = probe_normals(domain, ((part,),), POINTS)
            self._known = columns(domain.normal, normals)
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
        self._value = Program([density], domain.coordinates)
        self._rates = Program([*variation.gradient, *entries], domain.coordinates)

    def _evaluated(self, program, factors):
        nodes = {key: basis @ factors[field] for key, field, basis in self._nodes}
        with backend.double_precision():
            return program.on_host(self._columns, nodes, self._known)

    def value(self, factors):
        """Return the energy of factors `(f, count)`."""
        (values,) = self._evaluated(self._value, factors)
        return self._weight * values.sum()

    def derivatives(self, factors):
        """Return its gradient `(f, count)` and Hessian `(f, count, f, count)`."""
        values = self._evaluated(self._rates, factors)
        count, gradient = len(self._nodes), np.zeros(factors.shape)
        hessian = np.zeros((*factors.shape, *factors.shape))
        second = np.reshape(values[count:], (count, count, -1))
        rows = zip(values, second, self._nodes, strict=False)
        for value, row, (_, field, basis) in rows:
            gradient[field] += self._weight * (value @ basis)
            for factor, (_, other, theirs) in zip(row, self._nodes, strict=True):
                if factor.any():
                    weighted = basis * (self._weight * factor)[:, None]
                    hessian[field, :, other] += weighted.T @ theirs
        return gradient, hessian
