"""Energy that changes of the fields on small cells would save.

Newton's correction contains only changes that the network expresses. Local changes of
several sizes also see a coefficient that varies faster, or a corner.

Reference:
    Ainsworth & Oden, "A posteriori error estimation in finite element analysis", 2000,
    chapter 5, on hierarchic estimators with bubbles.
"""

import itertools

import numpy as np
from keras import ops
from numpy.polynomial import Polynomial
from numpy.polynomial.legendre import leggauss

from keraspinn.declaration.probe_points import probe_points
from keraspinn.declaration.terms import RESIDUAL, condition_terms
from keraspinn.diagnostics.verdicts.extents import CONSTANT
from keraspinn.expressions import Program, SecondVariation, field_and_index
from keraspinn.geometry.grids import inside
from keraspinn.geometry.part import quasi_random
from keraspinn.sampling import Batch

# Halvings of the domain's extent, which give the widths of cells.
LEVELS = range(2, 13)
# Cells of each width, by the number of coordinates: all, or as many that are drawn.
CELLS = {1: 128, 2: 128, 3: 32, 4: 16}
# Gauss points of two rules along each coordinate. With more coordinates there are too
# many.
RULES = {1: (16, 17), 2: (8, 9), 3: (5, 6), 4: (5, 6)}
# Difference of two rules, relative to the saving, from which on the coefficients vary
# within a cell too fast for them.
UNRESOLVED = 1 / 3
# Eigenvalue of a cell's Hessian, relative to the largest, below which it is round-off.
LEAST = 1e-10
# Points on a face or line, which no cell may contain.
ON_PARTS = 500
# Largest distance from a cell's centre, relative to its edge, of a point inside.
INSIDE = 1 - 1e-6
# Step off a face or line, relative to the domain, which stays in a part inside.
STEP = 1e-4
# Distance from a face, relative to half the domain, at which a part may touch it, and
# extent of a part along it.
NEAR, FLAT = 0.1, 1e-9
# Change along a coordinate, from -1 to 1, and an odd one. Both end without curvature.
EVEN = Polynomial([1, 0, -1]) ** 3
ODD = EVEN * Polynomial([0, 1])
# Halves of an even one, which begin at a face of the domain and end inside.
LOW, HIGH = EVEN(Polynomial([1 / 2, 1 / 2])), EVEN(Polynomial([1 / 2, -1 / 2]))


def savings_on_cells(tangent):
    """Return the energy that changes on small cells would save, and shares of fields.

    Cells lie inside, and contain no face or line with a condition or an integral.
    Changes end at their edges, but not at free faces. There are no cells in more than
    four coordinates, beside an equation, or without an integral inside.

    Args:
        tangent: The `Tangent` of a model with an energy.

    Returns:
        The savings in the scales, and two arrays `(f,)`: each field's savings, relative
        to the energy that it stores alone, in all or the mean over cells, weighted by
        squares of the field's derivatives, if that is more; and the least size that
        counts for a field, relative to its own.
    """
    domain, random = tangent.model.problem.domain, np.random.default_rng(0)
    inner, avoided = _parts(tangent.model.problem)
    total, (alone, means) = 0.0, np.zeros((2, len(tangent.model.problem.fields)))
    if domain.dimension not in RULES or not inner:
        return total, alone, alone
    most = CELLS[domain.dimension]
    variation, stored = _Variation(tangent, inner), np.zeros((2, len(alone)))
    held = _held_faces(domain, avoided)
    for width in (2.0**-level for level in LEVELS):
        count = int(width**-domain.dimension)
        numbers = random.integers(count, size=most)
        if count <= most:
            numbers = np.arange(most) % count
        indices = np.unravel_index(numbers, (int(1 / width),) * domain.dimension)
        cells = width * (2 * np.stack(indices, axis=-1) + 1) - 1
        is_valid, slopes, hessians, fields = variation(cells, width)
        factor, (energies, _, squares) = max(count / most, 1.0), fields
        if not np.any(stored):
            stored = abs(fields[:2, :, :count].sum(axis=2)) * factor
        apart = abs(cells[:, None] - avoided) > INSIDE * width
        is_valid &= apart.any(axis=2).all(axis=1)
        is_valid &= np.isfinite(hessians).all(axis=(1, 2)) & (np.arange(most) < count)
        absent = variation.absent(cells, width, held)
        slopes[:, absent] = hessians[absent] = hessians.swapaxes(1, 2)[absent] = 0.0
        # Fields may differ in energy.
        sizes = np.sqrt(abs(hessians[is_valid].diagonal(axis1=1, axis2=2)))
        sizes[sizes == 0] = 1.0
        scaled = hessians[is_valid] / sizes[:, None] / sizes[..., None]
        inverse = np.linalg.pinv(scaled, LEAST, hermitian=True)
        first, second = slopes[:, is_valid] / sizes
        steps = np.einsum("cij,cj->ci", inverse, second) / 2
        shape = len(steps), len(alone), steps.shape[1] // len(alone)
        pair = [(x * steps).reshape(shape).sum(axis=2) for x in (first, second)]
        saved, other = (x.sum(axis=0) for x in pair)
        alone += _resolved(saved, other) * factor
        total += float(_resolved(saved.sum(), other.sum())) * factor
        # A weak part may vary as much as a stiff one, with little energy.
        local = abs(energies[:, is_valid].T) + abs(pair[1])
        local *= squares[:, :count].sum(axis=1)
        weights = np.zeros_like(local)
        np.divide(squares[:, is_valid].T, local, out=weights, where=local > 0)
        means += _resolved(*((weights * x).sum(axis=0) for x in pair))
    whole, least = stored[0] + alone, np.zeros_like(alone)
    shares = np.divide(alone, whole, out=0 * alone, where=whole > 0)
    np.divide(stored[0] - stored[1], stored[1], out=least, where=stored[1] > 0)
    return total, np.fmax(shares, means), np.sqrt(np.maximum(least, 0.0))


def _resolved(saved, other):
    """Return savings by one rule, or zero where another rule differs."""
    return np.where(abs(saved - other) < UNRESOLVED * other, saved, 0.0)


def _parts(problem):
    """Return an energy's integrals inside, and points of all other parts.

    Returns:
        Pairs of densities in the problem's scales and tuples of parts, none if a
        condition stands inside, and an array relative to the domain, from -1 to 1.
    """
    domain, term = problem.domain, problem.terms[RESIDUAL]
    (size,) = problem.scales.sizes(term)
    local = [c for c in condition_terms(problem.all_terms) if not c.regions]
    avoided = [block for condition in local for block in condition.blocks]
    if any(_is_inside(block, domain) for block in avoided):
        return [], None
    inner = []
    for density, block in term.densities:
        if _is_inside(block, domain):
            inner.append((problem.scales.apply(density, size), block))
        else:
            avoided.append(block)
    far = domain.centre[None] + 3 * domain.half
    points = probe_points(domain, avoided, ON_PARTS) if avoided else far
    return inner, (points - domain.centre) / domain.half


def _held_faces(domain, points):
    """Return which lower and upper faces of the domain are not free, `(2, d)`.

    Args:
        domain: The geometry.
        points: Those of `_parts`, the same number on each part.
    """
    points = points.reshape(-1, min(ON_PARTS, len(points)), points.shape[-1])
    is_flat = np.ptp(points, axis=1) < FLAT
    # A curved part may touch a face.
    is_along = is_flat | ~is_flat.any(axis=1, keepdims=True)
    ends = [-points.min(axis=1), points.max(axis=1)]
    held = np.any((abs(np.array(ends) - 1) < NEAR) & is_along, axis=1)
    return held | np.isin(domain.coordinates, domain.periodic)


def _is_inside(block, domain):
    """Return whether a block has as many dimensions as the domain."""
    points = domain.sample(block[0], quasi_random(9, domain.draws(block[0])))
    steps = np.random.default_rng(0).uniform(-STEP, STEP, np.shape(points))
    return domain.contains(block[0], points + steps * domain.half).mean() > 0.5


class _Variation:
    """First and second variation of an energy under changes on cells, by two rules.

    Args:
        tangent: The `Tangent`.
        inner: Pairs of densities and tuples of parts.
    """

    def __init__(self, tangent, inner):
        problem = tangent.model.problem
        self._domain, scales = problem.domain, problem.scales
        dimension = self._domain.dimension
        rules = [leggauss(count) for count in RULES[dimension]]
        grids = [np.meshgrid(*[rule] * dimension) for rule, _ in rules]
        products = [np.meshgrid(*[weights] * dimension) for _, weights in rules]
        self._points = np.concatenate([np.reshape(g, (dimension, -1)).T for g in grids])
        weights = [np.prod(p, axis=0).ravel() for p in products]
        number = np.repeat([0, 1], [len(w) for w in weights])
        weights = np.concatenate(weights) * self._domain.half.prod()
        self._weights = np.where(number == [[0], [1]], weights, 0.0)
        self._ratios = scales.half / self._domain.half
        self._names, self._pieces = problem.field_names, []
        for density, parts in inner:
            variation = SecondVariation(density)
            nodes, hessian = variation.nodes, variation.hessian
            keys = [field_and_index(n, problem.coordinates) for n in nodes]
            rates = [*variation.gradient, *itertools.chain(*hessian), *nodes]
            program = Program(rates, problem.coordinates)

            def values(points, program=program):
                batch = Batch((points - scales.centre) / scales.half, points, 1.0)
                return ops.stack(tangent.model._fields.at(program, batch))

            self._pieces.append((parts, keys, tangent.compiled(values)))
        # Along a parameter, changes may end abruptly.
        indices = [index for _, keys, _ in self._pieces for _, index in keys]
        self._varies = np.any(indices, axis=0)
        profiles = (ODD, 0), (LOW, -1), (HIGH, 1)
        pairs = itertools.product(np.flatnonzero(self._varies), profiles)
        self._kinds = [(-1, EVEN, 0), *((axis, *pair) for axis, pair in pairs)]

    def __call__(self, cells, width):
        """Return which cells lie inside, `(c,)`, and variations in each.

        These are slopes `(2, c, t)`, Hessians `(c, t, t)`, and for each field an array
        `(3, f, c)`: the energy that it stores alone with the least that counts, without
        it, and integrals of squares of its derivatives.
        """
        domain, slopes, hessians, sums = self._domain, 0.0, 0.0, 0.0
        points = domain.half * (cells[:, None] + width * self._points)
        flat = points.reshape(-1, domain.dimension)
        tested = points[:, : RULES[domain.dimension][0] ** domain.dimension]
        is_inside = inside(domain, tested + domain.centre)
        weights = self._weights * width**domain.dimension
        for parts, keys, function in self._pieces:
            values = function(flat + domain.centre)
            if parts not in domain.blocks("interior"):
                here = np.any([domain.contains(part, flat) for part in parts], axis=0)
                values = np.where(here, values, 0.0)
            values = values.reshape(len(values), len(cells), -1)
            changes, count = self._changes(keys, width), len(keys)
            slopes += np.einsum("tkq,kcq,rq->rct", changes, values[:count], weights)
            second = values[count:-count].reshape(count, count, *values.shape[1:])
            alone = np.array([[f == n for f, _ in keys] for n in self._names], float)
            nodes, is_same = values[-count:], alone.T @ alone
            work = np.einsum("klcq,kcq,lcq->klcq", second, nodes, nodes)
            by_others = abs(np.einsum("klcq,kl->kcq", work, 1 - is_same))
            work = np.einsum("klcq,kl->kcq", work, is_same)
            varies = np.array([any(index) for _, index in keys])[:, None, None]
            each = np.stack([work / 2, by_others / 2, nodes**2 * varies]) * weights[0]
            each = each[..., : is_inside.shape[1]]
            each = np.where(is_inside & np.isfinite(each), each, 0.0).sum(axis=3)
            sums += np.einsum("rkc,fk->rfc", each, alone)
            both = np.einsum("klcq,slq,q->kcsq", second, changes, weights[1])
            hessians += np.einsum("tkq,kcsq->cts", changes, both)
        plain, by_others, squares = sums
        # Loads by other fields may balance, which leaves a field of zero.
        size = np.divide(by_others, plain, out=0 * plain, where=plain > 0) / 2
        fields = np.stack([plain * (1 + (CONSTANT * size) ** 2), plain, squares])
        return is_inside.all(axis=1), slopes, hessians, fields

    def absent(self, cells, width, held):
        """Return which changes a cell lacks: halves at other faces, `(c, t)`."""
        ends = [
            (side * cells[:, axis] < 1 - 1.5 * width) | held[(side + 1) // 2, axis]
            for axis, _, side in self._kinds
        ]
        sides = np.array([side for *_, side in self._kinds])
        return np.tile(np.transpose(ends) & (sides != 0), len(self._names))

    def _changes(self, keys, width):
        """Return derivatives of all changes of all fields, `(t, k, q)`."""

        def change(other, profile, index):
            triples = zip(index, self._points.T, self._ratios / width, strict=True)
            factors = [
                (profile if axis == other else EVEN).deriv(order)(points) * rate**order
                for axis, (order, points, rate) in enumerate(triples)
                if self._varies[axis]
            ]
            return np.prod([np.ones(len(self._points)), *factors], axis=0)

        pairs = itertools.product(self._names, self._kinds)
        return np.array(
            [[(f == n) * change(*kind[:2], k) for f, k in keys] for n, kind in pairs]
        )
