"""Find scales from a declaration alone: intervals, coefficients, sources, values.

Coordinates run from -1 to 1. A field is as large as boundary conditions, initial
conditions and data make it. A coarse solution of all equations and conditions is
believed for fields without such values, and where it is three times as large as these.
Without a coarse solution, beside a front or a pulse, magnitudes follow term by term:
u'' = q on an interval of half width h makes u of magnitude q h². Each equation and
condition is then divided by the largest of its terms. All of it is right to a factor of
about three, which is enough.
"""

import sympy as sp

from keraspinn.declaration.probe_points import corners, sampled
from keraspinn.declaration.scaling.offsets import needs_offset, offsets_of, shifted
from keraspinn.declaration.scaling.scales import Scales
from keraspinn.declaration.scaling.spectral_solve import coarse_sizes
from keraspinn.declaration.scaling.term_sizes import Balance
from keraspinn.declaration.terms import RESIDUAL

# Points of an equation at which coefficients are evaluated.
POINTS = 512
# Points of a condition, which meet a narrow pulse.
POINTS_GIVEN = 4096
# Relative to an offset or the largest term, a smaller value is round-off.
ROUNDING = 1e-9
# Times the given values, from which on a coarse solution is believed instead.
FAR = 3.0


def scales_of(domain, terms, field_names, given=None):
    """Return the `Scales` of a problem, from its declaration.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        field_names: Names of the fields.
        given: Optional dict from names of fields to known magnitudes.
    """
    strange = sorted(set(given or ()) - set(field_names))
    if strange:
        raise ValueError(
            f"`scales` must give sizes of the fields {list(field_names)}. Received "
            f"also: {strange}"
        )
    offsets = offsets_of(domain, terms, field_names)
    scales = _balanced(domain, terms, field_names, given, offsets)
    # An offset smaller than the variation is dropped, if there is a value at zero.
    kept = {
        name: offset
        for name, offset in offsets.items()
        if scales.field(name) < abs(offset) or needs_offset(name, offset, domain, terms)
    }
    if kept == offsets:
        return scales
    return _balanced(domain, terms, field_names, given, kept)


def vanishing(problem, scales):
    """Return names of fields that are zero in a coarse solution, without a source.

    Args:
        problem: The `Problem`.
        scales: `Scales` with a size for every field.
    """
    domain, terms, offsets = problem.domain, problem.terms, scales.offsets
    parts = _parts(domain, terms, offsets)
    found = _solved(domain, terms, offsets, scales.fields)
    return {n for n in found if _vanishes(n, found, parts, scales.fields)}


def given_sizes(problem, scales, field):
    """Return magnitudes of values that conditions prescribe for a field, scaled.

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
        if part.gives(field) and part.source > ROUNDING * part.largest(scales.fields)
    }


def _vanishes(field, found, parts, expected):
    every = (part for own in parts.values() for part in own if part.holds_alone(field))
    least = ROUNDING * expected[field]
    return found.get(field) == 0.0 and all(
        p.balancing(field, {}) < least for p in every
    )


def _parts(domain, terms, offsets, sizes=None):
    """Return a dict from names of terms to a `Balance` for each expression."""
    found = {}
    for name, term in terms.items():
        is_given = name != RESIDUAL
        if term.table is not None:
            points = term.table[0]
        else:
            count = POINTS_GIVEN if is_given else POINTS
            points = sampled(domain, term.blocks, count, evenly=True)
        found[name] = [
            Balance(expression, target, domain, points, is_given, sizes)
            for expression, target in _with_targets(term, offsets)
        ]
    return found


def _balanced(domain, terms, field_names, given, offsets):
    start = {name: 0.0 if name in offsets else 1.0 for name in field_names}
    parts = _parts(domain, terms, offsets, start)
    sizes = dict(given or {})
    unknown = [name for name in field_names if name not in sizes]
    if unknown:
        _estimate(domain, terms, parts, unknown, sizes, offsets)
    sizes = {name: abs(offset) for name, offset in offsets.items()} | sizes
    if any(part.holds_functions for own in parts.values() for part in own):
        parts = _parts(domain, terms, offsets, dict.fromkeys(field_names, 1.0) | sizes)
    centres = zip(domain.centre.tolist(), domain.half.tolist(), strict=True)
    return Scales(
        dict(zip(domain.coordinates, centres, strict=True)),
        {name: _rounded(sizes.get(name, 1.0)) for name in field_names},
        {
            name: [_rounded(part.largest(sizes)) for part in own]
            for name, own in parts.items()
            if not terms[name].hard
        },
        offsets,
    )


def _estimate(domain, terms, parts, unknown, sizes, offsets):
    """Add magnitudes of the unknown fields to `sizes`."""
    every = [part for own in parts.values() for part in own]
    stated = {}
    for field in unknown:
        least = ROUNDING * abs(offsets.get(field, 0.0))
        values = [p.balancing(field, {}) for p in every if p.gives(field)]
        stated[field] = max((v for v in values if v > least), default=0.0)
        found = [p.balancing(field, {}) for p in every if p.holds_alone(field)]
        found += [s for p in parts[RESIDUAL] for s in p.reactions(field)]
        if any(size > least for size in found):
            sizes[field] = max(found)
    for _ in unknown:  # those that balance known ones, field after field
        for field in [name for name in unknown if name not in sizes]:
            found = max(part.balancing(field, sizes) for part in every)
            if found:
                sizes[field] = found
    expected = dict.fromkeys(unknown, 1.0) | sizes
    for field in unknown:  # Newton's method begins where nonlinear terms are felt
        found = [s for p in every for s in p.reactions(field, and_derivatives=True)]
        expected[field] = max([expected[field], *found])
    solved = _solved(domain, terms, offsets, expected)
    for field in unknown:
        if solved.get(field, 0.0) > FAR * stated[field]:
            sizes[field] = solved[field]
        elif solved and stated[field]:
            sizes[field] = stated[field]
    for field in unknown:
        if _vanishes(field, solved, parts, expected):
            found = [s for p in every if (s := p.balancing(field, sizes))]
            if found:
                sizes[field] = min(found)


def _solved(domain, terms, offsets, expected):
    """Return magnitudes of a coarse solution, the largest over values of parameters."""
    expressions = [e for term in terms.values() for e in term.pointwise]
    found = [
        coarse_sizes(domain, terms, offsets, expected, fixed)
        for fixed in corners(domain, expressions)
    ]
    if not all(found):
        return {}
    return {name: max(own[name] for own in found) for name in expected}


def _with_targets(term, offsets):
    """Return pairs of an expression in shifted fields and its target's magnitude."""
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


def _rounded(size):
    """Round to three digits, so that every machine trains in the same scales."""
    return float(f"{size:.2e}")
