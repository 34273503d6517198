"""Scales from a declaration alone: intervals, coefficients, sources and given values.

Coordinates are measured from −1 to 1, and a field that no equation holds but in its
derivatives from the middle of its values, where these are far from zero. A field is as
large as its boundary and initial values and data say, or as the sources of its
equations ask for: u'' = q on an interval of half width h makes u of size q h², and
where q itself oscillates with wavenumber κ, of size q / κ². A reaction a u − b u²
settles at a / b. Fields that nothing of this is known of take what balances the others
in an equation they share, as a pressure does; what is left open is taken to be of size
one. Several fields that no condition gives are as large as in a coarse solution of all
together, where polynomials solve it. Every equation and condition is then divided by
the largest of its terms in the fields. All of it is good to a factor of a few, which is
what it is for.
"""

import math

import numpy as np
import sympy as sp

from keraspinn.expressions import NormalComponent, Parameter
from keraspinn.expressions.nodes import distinct_nodes
from keraspinn.spec.coarse import coarse_sizes
from keraspinn.spec.monomials import monomials
from keraspinn.spec.offsets import offsets_of, shifted
from keraspinn.spec.sampled import sampled, values_at
from keraspinn.spec.scales import Scales
from keraspinn.spec.terms import RESIDUAL

POINTS = 512
ROUNDING = 1e-9  # of an offset, below which what is left of a value is none
FAR = 10.0  # beyond what conditions give a field, where they give it little
LONGEST_SOURCE = 1000  # operations, above which its derivatives are not taken


def scales_of(domain, terms, field_names, given=None):
    """The `Scales` of a problem, from its declaration.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        field_names: Names of the fields.
        given: Optional dict from names of fields to sizes that are known.
    """
    strange = sorted(set(given or ()) - set(field_names))
    if strange:
        raise ValueError(
            f"`scales` must give sizes of the fields {list(field_names)}. Received "
            f"also: {strange}"
        )
    offsets = offsets_of(domain, terms, field_names)
    scales = _balanced(domain, terms, field_names, given, offsets)
    # An offset that is no larger than what varies is none.
    kept = {n: o for n, o in offsets.items() if scales.field(n) < abs(o) / 2}
    if kept == offsets:
        return scales
    return _balanced(domain, terms, field_names, given, kept)


def vanishing(problem, scales):
    """Names of the fields that nothing asks for and a coarse solution has as zero.

    Args:
        problem: The `Problem`.
        scales: `Scales` with a size for every field.
    """
    domain, terms, offsets = problem.domain, problem.terms, scales.offsets
    expected, parts = scales.fields, _parts(domain, terms, offsets)
    found = coarse_sizes(domain, terms, problem.field_names, offsets, expected)
    return {n for n in found if _is_nothing(n, found, parts, expected)}


def given_sizes(problem, scales, field):
    """Sizes of the values that conditions give a field by itself, in their scales.

    Args:
        problem: The `Problem`.
        scales: `Scales` with a size for every field.
        field: Name of the field.

    Returns:
        Dict from pairs of a condition's name and the number of its expression.
    """
    parts = _parts(problem.domain, problem.terms, scales.offsets)
    return {
        (name, k): part.source / problem.scales.sizes(problem.terms[name])[k]
        for name, own in parts.items()
        for k, part in enumerate(own)
        if name != RESIDUAL and part.holds_alone(field) and part.gives(field)
    }


def _is_nothing(field, found, parts, expected):
    asked = [
        size
        for name, own in parts.items()
        for part in own
        if part.holds_alone(field)  # another may balance what is asked for together
        for size in part.asked(field, is_equation=name == RESIDUAL)
    ]
    least = ROUNDING * expected[field]
    return found.get(field) == 0.0 and all(size < least for size in asked)


def _parts(domain, terms, offsets):
    """Dict from names of terms to their expressions, as `Balance`s."""
    return {
        name: [
            Balance(expression, target, domain, points)
            for expression, target in _with_targets(term, offsets)
        ]
        for name, term in terms.items()
        for points in [_points(domain, term)]
    }


def _balanced(domain, terms, field_names, given, offsets):
    half = dict(zip(domain.coordinates, domain.half.tolist(), strict=True))
    parts = _parts(domain, terms, offsets)
    sizes = dict(given or {})
    unknown = [name for name in field_names if name not in sizes]
    _from_sources(parts, unknown, sizes, offsets)
    _from_neighbours(parts, unknown, sizes)
    if len(field_names) > 1 and unknown:
        _from_polynomials(domain, terms, parts, unknown, sizes, offsets)
    sizes = {name: abs(offset) for name, offset in offsets.items()} | sizes
    centres = zip(domain.centre.tolist(), half.values(), strict=True)
    return Scales(
        dict(zip(half, centres, strict=True)),
        {name: _rounded(sizes.get(name, 1.0)) for name in field_names},
        {
            name: [_rounded(part.largest(sizes)) for part in own]
            for name, own in parts.items()
            if not terms[name].hard
        },
        offsets,
    )


def _from_sources(parts, unknown, sizes, offsets):
    """The sizes that values, sources and reactions ask for, the largest of each."""
    rounding = {field: ROUNDING * abs(offset) for field, offset in offsets.items()}
    found = {name: [] for name in unknown}
    for name, own in parts.items():
        for part in own:
            for field in unknown:
                asked = part.asked(field, is_equation=name == RESIDUAL)
                found[field] += [s for s in asked if s > rounding.get(field, 0.0)]
    sizes |= {field: max(asked) for field, asked in found.items() if asked}


def _from_neighbours(parts, unknown, sizes):
    """Sizes that balance those known already, field after field."""
    for _ in unknown:
        for field in unknown:
            if field in sizes:
                continue
            asked = [
                part.balancing(field, sizes) for own in parts.values() for part in own
            ]
            asked = [size for size in asked if size]
            if asked:
                sizes[field] = max(asked)


def _from_polynomials(domain, terms, parts, unknown, sizes, offsets):
    """Sizes as in a coarse solution of all together; of a zero, the most it may be."""
    expected = dict.fromkeys(unknown, 1.0) | sizes
    found = coarse_sizes(domain, terms, list(expected), offsets, expected)
    every = [(name, part) for name, own in parts.items() for part in own]
    for field in unknown:
        is_given = any(name != RESIDUAL and part.gives(field) for name, part in every)
        if found.get(field, 0.0) > (FAR * expected[field] if is_given else 0.0):
            sizes[field] = found[field]
    for field in unknown:
        if _is_nothing(field, found, parts, expected):
            asked = [part.balancing(field, sizes) for _, part in every]
            sizes[field] = min((s for s in asked if s), default=expected[field])


class Balance:
    """One expression as terms with sizes: coefficients with the coordinates' scales.

    Args:
        expression: Normalized SymPy expression.
        target: The size of what it should equal, beside the source it holds.
        domain: The geometry.
        points: Points at which coefficients are looked at, `(n, d)`.
    """

    def __init__(self, expression, target, domain, points):
        found = monomials(expression, domain.coordinates)
        source = found.pop(frozenset(), None)
        self._half = domain.half.tolist()
        sizes = _sizes(list(found.values()), domain, points)
        if not any(sizes):  # each holds an unknown number that starts from zero
            sizes = _sizes(list(found.values()), domain, points, zero=1.0)
        self.terms = {
            monomial: size
            for monomial, size in zip(found, sizes, strict=True)
            if size > 0
        }
        self.source, self._slopes = target, {}
        if source is not None:
            orders = {index for m in self.terms for (_, index), _ in m if any(index)}
            self._look_at(source, sorted(orders), domain, points)

    def _look_at(self, source, orders, domain, points):
        """The sizes of the source and of its own derivatives."""
        self.source = max(self.source, *_sizes([source], domain, points))
        if not self.source or source.count_ops() > LONGEST_SOURCE:
            return
        for order in orders:
            derivative = source
            for symbol, count in zip(domain.coordinates, order, strict=True):
                derivative = derivative.diff(symbol, count)
            (size,) = _sizes([derivative], domain, points)
            self._slopes[order] = size / self.source

    def size(self, monomial, sizes, slopes=None):
        """A term's size, fields being of given sizes and derivatives of theirs."""
        total = self.terms[monomial]
        for (field, index), power in monomial:
            rate = math.prod(h**-n for h, n in zip(self._half, index, strict=False))
            rate = max(rate, (slopes or {}).get(index, 0.0))
            total *= (sizes.get(field, 1.0) * rate) ** power
        return float(total)

    def largest(self, sizes):
        """The largest term's size, 1 where all vanish.

        The source is none of them. One that oscillates is as large as the derivatives
        of a solution that does, but those of a network that is not there yet are as
        small as its coordinates' scales make them: divided by the source, Helmholtz's
        equation is neglected beside its boundary, and nothing is learned.
        """
        found = [self.size(monomial, sizes) for monomial in self.terms]
        largest = max(found, default=0.0)
        return largest if math.isfinite(largest) and largest > 0 else 1.0

    def asked(self, field, is_equation):
        """Sizes of a field that this expression asks for by itself."""
        own = {m: p for m in self.terms if (p := _degree(m, field)) and len(m) == 1}
        asked = []
        if self.source and own:
            found = {m: self._settling(m, p) for m, p in own.items()}
            values = [size for m, size in found.items() if not _is_derivative(m)]
            # A condition with the value itself, Robin's too, says it.
            known = values if values and not is_equation else found.values()
            asked.append(min(known))
        if is_equation:
            asked += self._reactions(field)
        return [size for size in asked if math.isfinite(size) and size > 0]

    def holds_alone(self, field):
        """Whether no other field stands here."""
        return all(name == field for m in self.terms for (name, _), _ in m)

    def gives(self, field):
        """Whether this says how large the field itself is."""
        own = [m for m in self.terms if _degree(m, field) and len(m) == 1]
        return self.source > 0 and not all(map(_is_derivative, own))

    def _settling(self, monomial, power):
        return (self.source / self.size(monomial, {}, self._slopes)) ** (1 / power)

    def _reactions(self, field):
        """Sizes at which undifferentiated terms that differ by the field balance."""
        plain = [m for m in self.terms if m and not _is_derivative(m)]
        for low in plain:
            for high in plain:
                more = _degree(high, field) - _degree(low, field)
                if more > 0 and _without(low, field) == _without(high, field):
                    yield (self.terms[low] / self.terms[high]) ** (1 / more)

    def balancing(self, field, sizes):
        """The size at which a field's terms match the others', 0 if none is known."""
        known, own = [self.source], []
        for monomial in self.terms:
            power = _degree(monomial, field)
            others = {f for (f, _), _ in monomial} - {field}
            if not others <= set(sizes):
                continue
            if power:
                own.append((monomial, power))
            else:
                known.append(self.size(monomial, sizes))
        if not own or not max(known):
            return 0.0
        return min(
            (max(known) / self.size(m, sizes | {field: 1.0})) ** (1 / p) for m, p in own
        )


def _degree(monomial, field):
    return sum(power for (name, _), power in monomial if name == field)


def _without(monomial, field):
    return frozenset(pair for pair in monomial if pair[0][0] != field)


def _is_derivative(monomial):
    return any(any(index) for (_, index), _ in monomial)


def _with_targets(term, offsets):
    """Pairs of an expression in shifted fields, and the size that it should have."""
    expressions = [shifted(expression, offsets) for expression in term.pointwise]
    if term.table is None:
        return [(expression, 0.0) for expression in expressions]
    pairs, measured = [], term.table[1].T
    for expression, own, target in zip(
        term.pointwise, expressions, measured, strict=True
    ):
        base = sp.expand(own - expression)
        if base and base.is_number:  # values are measured from the same offset
            own, target = expression, target - float(base)
        pairs.append((own, float(abs(target).max())))
    return pairs


def _points(domain, term):
    """Points where a term holds, always the same, `(n, d)`."""
    if term.table is not None:
        return term.table[0]
    return sampled(domain, term.blocks, POINTS)


def _sizes(expressions, domain, points, zero=0.0):
    """The largest absolute values at points; unknown numbers are as at the start.

    One that starts from zero may come to any size: what it multiplies counts for
    nothing beside what is known, as a correction does.
    """
    stand_ins = {}
    for node in distinct_nodes(expressions):
        if isinstance(node, Parameter):
            stand_ins[node] = sp.Float(node.initial or zero)
        elif isinstance(node, NormalComponent):
            stand_ins[node] = sp.S.One
    return [
        _size(sp.sympify(expression).xreplace(stand_ins), domain, points)
        for expression in expressions
    ]


def _size(expression, domain, points):
    try:
        values = abs(values_at([expression], domain.coordinates, points)[0])
    except ValueError:  # a derivative that cannot be evaluated, of |x| for one
        return 0.0
    values = values[np.isfinite(values)]
    # Not the very largest: a coefficient may have a pole.
    return float(np.quantile(values, 0.99, method="higher")) if len(values) else 0.0


def _rounded(size):
    """To three digits: what is shown is what is meant, on every machine alike."""
    return float(f"{size:.2e}")
