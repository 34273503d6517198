"""Find scales from a declaration alone: intervals, coefficients, sources, values.

Scaled coordinates run from -1 to 1. Boundary conditions, initial conditions and data
give a field's scale. A coarse solution replaces it if there are no such values, or if
it is three times as large. Ordinary differential equations are integrated from their
initial values, and beside a narrow source linear equations are solved on average. Other
scales follow term by term: u'' = q on an interval of half width h gives q h². Each
equation and condition is divided by its largest term. A factor of about three is
accurate enough.
"""

from keraspinn.declaration.probe_points import PROBES, parameter_corners
from keraspinn.declaration.scaling import spectral_solve as spectral
from keraspinn.declaration.scaling.offsets import find_offsets, needs_offset
from keraspinn.declaration.scaling.scales import Scales
from keraspinn.declaration.scaling.term_sizes import TermSizes
from keraspinn.declaration.scaling.time_integration import integrated_magnitudes
from keraspinn.declaration.terms import expressions_of

# Points of a condition, dense enough for a narrow pulse.
CONDITION_POINTS = 4096
# Relative to an offset or the largest term, a smaller value is round-off.
ROUND_OFF = 1e-9
# Scale, relative to the offset, of a field that may not be zero: T in exp(-E/T).
POSITIVE = 0.5
# Ratio to the prescribed values, from which on a coarse solution replaces them.
FAR_ABOVE = 3.0


def find_scales(domain, terms, field_names, known=None, offsets=None):
    """Return the `Scales` of a problem, from its declaration.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        field_names: Names of the fields.
        known: Optional dict from names of fields to known magnitudes.
        offsets: Optional dict from names of fields to offsets beside the terms'.
    """
    offsets = find_offsets(domain, terms, field_names) | (offsets or {})
    scales = _find_scales_from(domain, terms, field_names, known, offsets)
    # Drop an offset smaller than the variation, if the equations hold at zero.
    small = [name for name, size in offsets.items() if abs(size) <= scales.field(name)]
    dropped = {name for name in small if not needs_offset(name, terms)}
    if not dropped:
        return scales
    kept = {name: size for name, size in offsets.items() if name not in dropped}
    return _find_scales_from(domain, terms, field_names, known, kept)


def find_vanishing_fields(problem, scales):
    """Return names of fields without a source term that a coarse solution makes zero.

    Args:
        problem: The `Problem`.
        scales: `Scales` with a size for every field.
    """
    domain, terms, sizes = problem.domain, problem.all_terms, scales.fields
    parts = _term_sizes(domain, terms, scales.offsets, sizes)
    solved = _solve(domain, terms, scales.offsets, sizes)
    return {n for n in solved if _vanishes(n, solved, parts.values(), sizes)}


def _vanishes(field, solved, parts, expected):
    least = ROUND_OFF * expected[field]
    return solved.get(field) == 0.0 and all(
        p.balancing(field, {}) < least for p in parts if p.holds_alone(field)
    )


def _term_sizes(domain, terms, offsets, sizes):
    """Return a dict from names of terms and numbers of expressions to `TermSizes`."""
    parts, scales = {}, Scales({}, offsets=offsets)
    for name, term in terms.items():
        points = term.points(domain, PROBES if term.is_equation else CONDITION_POINTS)
        how = domain, points, not term.is_equation, sizes
        for k, plain in enumerate(term.pointwise):
            expression, target = scales.apply(plain), term.targets(k)
            base = 0 if term.table is None else (expression - plain).expand()
            if base and base.is_number:  # values have the same offset
                expression, target = plain, target - float(base)
            parts[name, k] = TermSizes(expression, float(abs(target).max()), *how)
    return parts


def _find_scales_from(domain, terms, field_names, known, offsets):
    """Return the `Scales` for some offsets."""
    ones = {name: 0.0 if name in offsets else 1.0 for name in field_names}
    sizes = {name: abs(offset) for name, offset in offsets.items()}
    estimated = _estimate(domain, terms, offsets, ones, known or {})
    reliable = {n: s for n, s in estimated.items() if s > ROUND_OFF * sizes.get(n, 0)}
    sizes = ones | sizes | reliable | (known or {})
    for name, offset in offsets.items():
        crosses_zero = abs(offset) <= sizes[name] and name not in (known or ())
        if crosses_zero and needs_offset(name, terms):  # exp(-E/T) would overflow
            sizes[name] = POSITIVE * abs(offset)
    soft = {name: term for name, term in terms.items() if not term.hard}
    largest = {name: [] for name in soft}
    for (name, _), part in _term_sizes(domain, soft, offsets, sizes).items():
        largest[name].append(_round(part.largest(sizes)))
    centres = zip(domain.centre.tolist(), domain.half.tolist(), strict=True)
    coordinates = dict(zip(domain.coordinates, centres, strict=True))
    fields = {name: _round(size) for name, size in sizes.items()}
    return Scales(coordinates, fields, largest, offsets)


def _estimate(domain, terms, offsets, ones, known):
    """Return magnitudes of the fields, a dict that may lack some."""
    unknown = [name for name in ones if name not in known]
    if not unknown:
        return known
    flat = _term_sizes(domain, terms, offsets, ones).values()
    sizes, prescribed = _from_terms(flat, unknown, offsets, known), {}
    expected = dict.fromkeys(unknown, 1.0) | sizes
    for field in unknown:
        least = ROUND_OFF * abs(offsets.get(field, 0.0))
        values = [p.balancing(field, {}) for p in flat if p.gives(field)]
        prescribed[field] = max((v for v in values if v > least), default=0.0)
        # Newton's method begins where nonlinear terms matter.
        reactions = [s for p in flat for s in p.reactions(field, and_derivatives=True)]
        expected[field] = max([expected[field], *reactions])
    has_data = any(term.table is not None for term in terms.values())
    has_time = domain.time_coordinate is not None and not has_data
    slow = [p for p in flat if not (has_time and p.prescribes_rate)]
    has_rates = len(slow) < len(flat)
    how = domain, terms, offsets, expected
    least = prescribed | _from_single_terms(slow, unknown, offsets)
    reached = _solve(*how, least, find=integrated_magnitudes)
    if reached:  # polynomials find other solutions of a nonlinear problem, too
        return sizes | {f: reached[f] for f in unknown if reached.get(f)}
    is_strict = not domain.space_coordinates or domain.dimension == 1
    solved = _solve(*how, is_strict)
    if is_strict and not (solved or has_rates):
        solved = _solve(*how)
    if has_rates and not solved:
        early = _solve(*how, find=spectral.magnitudes_at_the_beginning)
        early = {f: max(size, least.get(f, 0.0)) for f, size in early.items() if size}
        return sizes | {f: s for f, s in early.items() if s < sizes.get(f, 0.0)}
    is_missed = domain.space_coordinates and not (has_data or any(solved.values()))
    if is_missed and any(p.is_narrow for p in flat):
        average = _solve(*how, find=spectral.projected_magnitudes)
        if has_time or len(unknown) > 1:  # it damps waves, and is stiff in bending
            average = {f: v for f, v in average.items() if v > sizes.get(f, 0.0)}
        solved = average or solved
    for field in unknown:
        if solved.get(field, 0.0) > FAR_ABOVE * prescribed[field]:
            sizes[field] = solved[field]
        elif solved and prescribed[field]:
            sizes[field] = prescribed[field]
    for field in unknown:
        if _vanishes(field, solved, flat, expected):
            if balanced := [size for p in flat if (size := p.balancing(field, sizes))]:
                sizes[field] = min(balanced)
    return sizes


def _from_terms(parts, unknown, offsets, known):
    """Return magnitudes that follow term by term, a dict that may lack some."""
    sizes = known | _from_single_terms(parts, unknown, offsets)
    values = [part for part in parts if part.relates_values]
    for _ in unknown:  # fields that balance known ones, one after the other
        for field in [name for name in unknown if name not in sizes]:
            # At an interface values are equal, and a poor conductor's is no larger.
            pairs = [part for part in values if not part.holds_alone(field)]
            same = max((part.balancing(field, sizes) for part in pairs), default=0.0)
            if size := same or max(part.balancing(field, sizes) for part in parts):
                sizes[field] = size
    return sizes


def _from_single_terms(parts, unknown, offsets):
    """Return magnitudes that follow without other fields, a dict that may lack some."""
    sizes = {}
    for field in unknown:
        alone = [p.balancing(field, {}) for p in parts if p.holds_alone(field)]
        alone += [s for p in parts if not p.is_condition for s in p.reactions(field)]
        if (size := max(alone, default=0.0)) > ROUND_OFF * abs(offsets.get(field, 0.0)):
            sizes[field] = size
    return sizes


def _solve(domain, terms, offsets, expected, *how, find=spectral.spectral_magnitudes):
    """Return magnitudes of a coarse solution, the largest over parameter values."""
    corners = parameter_corners(domain, expressions_of(terms.values()))
    problem = domain, terms, offsets, expected
    magnitudes = [find(*problem, fixed, *how) for fixed in corners]
    names = [name for name in expected if all(name in m for m in magnitudes)]
    return {name: max(m[name] for m in magnitudes) for name in names}


def _round(size):
    """Round to three digits, so that all machines train in the same scales."""
    return float(f"{size:.2e}")
