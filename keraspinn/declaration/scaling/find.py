"""Scales from a declaration alone: intervals, coefficients, sources and given values.

Coordinates are measured from −1 to 1, and a field that no equation holds but in its
derivatives, or in functions, from the middle of its values, where these are far from
zero. A field is as large as its boundary and initial values say, as data where these
measure it all over the domain, or else as a coarse solution of all equations and
conditions together makes it: an integration from where all starts, or polynomials where
these solve them. Where they do not, beside a front or a pulse, sizes follow term by
term: u'' = q on an interval of half width h makes u of size q h², a wave of wavenumber
κ in q one of size q / κ², and a reaction a u − b u² settles at a / b. Fields that
nothing of this is known of take what balances the others in an equation they share;
what is left open is of size one. Every equation and condition is then divided by the
largest of its terms in the fields. It is all good to a factor of a few, as it need be.
"""

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import corners, sampled
from keraspinn.declaration.scaling.offsets import needs_offset, offsets_of, shifted
from keraspinn.declaration.scaling.scales import Scales
from keraspinn.declaration.scaling.spectral_solve import coarse_sizes
from keraspinn.declaration.scaling.term_sizes import Balance
from keraspinn.declaration.terms import RESIDUAL

POINTS, POINTS_GIVEN = 512, 4096  # in which a narrow pulse is met
ROUNDING = 1e-9  # of an offset, below which what is left of a value is none
FAR = 10.0  # beyond what conditions give a field, where they give it little


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
    # An offset that is no larger than what varies is none, if there is a value at zero.
    kept = {
        name: offset
        for name, offset in offsets.items()
        if scales.field(name) < abs(offset) / 2
        or needs_offset(name, offset, domain, terms)
    }
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
    found = _solved(domain, terms, offsets, expected)
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
        if name != RESIDUAL
        and part.holds_alone(field)
        and part.gives(field)
        and part.source > ROUNDING * part.largest(scales.fields)
    }


def _is_nothing(field, found, parts, expected):
    held = _held(field, parts)
    asked = [
        size
        for name, own in parts.items()
        for part in own
        if part.holds_alone(field)  # another may balance what is asked for together
        for size in part.asked(field, _beside(name, parts), held)
    ]
    least = ROUNDING * expected[field]
    return found.get(field) == 0.0 and all(size < least for size in asked)


def _parts(domain, terms, offsets, sizes=None):
    """Dict from names of terms to their expressions, as `Balance`s."""
    found = {}
    for name, term in terms.items():
        points = _points(domain, term, name != RESIDUAL)
        kind = name != RESIDUAL, bool(term.regions)
        found[name] = [
            Balance(expression, target, domain, points, *kind, sizes)
            for expression, target in _with_targets(term, offsets)
        ]
    return found


def _balanced(domain, terms, field_names, given, offsets):
    half = dict(zip(domain.coordinates, domain.half.tolist(), strict=True))
    start = {name: 0.0 if name in offsets else 1.0 for name in field_names}
    parts = _parts(domain, terms, offsets, start)
    sizes = dict(given or {})
    unknown = [name for name in field_names if name not in sizes]
    _from_sources(parts, unknown, sizes, offsets)
    _from_neighbours(parts, unknown, sizes)
    _from_changes(parts, unknown, sizes)
    if unknown:
        _from_solution(domain, terms, parts, unknown, sizes, offsets)
    sizes = {name: abs(offset) for name, offset in offsets.items()} | sizes
    if any(part.holds_functions for own in parts.values() for part in own):
        parts = _parts(domain, terms, offsets, dict.fromkeys(field_names, 1.0) | sizes)
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
    every = [(_beside(name, parts), p) for name, own in parts.items() for p in own]
    for field in unknown:
        is_measured = any(part.measures(field) for _, part in every)
        held = _held(field, parts)
        for equations, part in every:
            if is_measured and equations is None:
                continue
            asked = part.asked(field, equations, held)
            found[field] += [s for s in asked if s > rounding.get(field, 0.0)]
    sizes |= {field: max(asked) for field, asked in found.items() if asked}


def _beside(name, parts):
    """The equations that a condition stands beside; `None` for equations."""
    return None if name == RESIDUAL else parts[RESIDUAL]


def _held(field, parts):
    """On which sides of the bounding box conditions say what a field is: `(d, 2)`."""
    given = [p.held(field) for n, own in parts.items() if n != RESIDUAL for p in own]
    return np.any(given, axis=0) if given else None


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


def _from_changes(parts, unknown, sizes):
    """Of fields that follow others at once, as large as given changes make them.

    A pressure accelerates what the walls move. Where two equations ask for different
    sizes, a flux of heat that enters by a skin, it is between them.
    """
    given = [p for name, own in parts.items() if name != RESIDUAL for p in own]
    pace = max((part.pace() for part in given), default=1.0)
    if pace == 1.0:
        return
    for field in unknown:
        if any(p.gives(field) and p.holds_alone(field) for p in given):
            continue
        if all(part.is_instant(field) for own in parts.values() for part in own):
            asked = [p.balancing(field, sizes, pace) for p in parts[RESIDUAL]]
            asked = [size for size in asked if size]
            if asked:
                between = (min(asked) * max(asked)) ** 0.5
                sizes[field] = max(between, sizes.get(field, 0.0))


def _from_solution(domain, terms, parts, unknown, sizes, offsets):
    """Sizes as in a coarse solution of all together; of a zero, the most it may be."""
    expected = dict.fromkeys(unknown, 1.0) | sizes
    found = _solved(domain, terms, offsets, expected)
    every = [(name, part) for name, own in parts.items() for part in own]
    for field in unknown:
        if any(part.measures(field) for _, part in every):
            continue
        given = [
            size
            for name, part in every
            if name != RESIDUAL and part.gives(field) and part.holds_alone(field)
            for size in part.asked(field, parts[RESIDUAL], _held(field, parts))
        ]
        if found.get(field, 0.0) > FAR * max(given, default=0.0):
            sizes[field] = found[field]
    for field in unknown:
        if _is_nothing(field, found, parts, expected):
            asked = [part.balancing(field, sizes) for _, part in every]
            if any(asked):
                sizes[field] = min(size for size in asked if size)


def _solved(domain, terms, offsets, expected):
    """Field magnitudes of a coarse solution, the largest over values of parameters."""
    expressions = [e for term in terms.values() for e in term.pointwise]
    found = [
        coarse_sizes(domain, terms, offsets, expected, fixed)
        for fixed in corners(domain, expressions)
    ]
    if not all(found):
        return {}
    return {name: max(own[name] for own in found) for name in expected}


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


def _points(domain, term, is_given):
    """Points where a term holds, always the same, `(n, d)`."""
    if term.table is not None:
        return term.table[0]
    return sampled(domain, term.blocks, POINTS_GIVEN if is_given else POINTS)


def _rounded(size):
    """To three digits: what is shown is what is meant, on every machine alike."""
    return float(f"{size:.2e}")
