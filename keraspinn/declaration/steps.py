"""Steps and kinks in conditions of parabolic equations, from which fields diffuse.

An initial value may contradict a boundary condition, or either may jump. The solution
of u_t + v u_x = D u_xx begins there as an error function or its integral.
"""

import contextlib
import itertools

import numpy as np
import sympy as sp

from keraspinn.declaration.kinks import switches
from keraspinn.declaration.probe_points import evaluate_at, initial_values, probe_points
from keraspinn.declaration.terms import (
    condition_terms,
    equation_expressions,
    missing_normals_error,
)
from keraspinn.declaration.validation.periodicity import differs_at_ends
from keraspinn.derivatives.taylor.algebraic import is_algebraic
from keraspinn.expressions import At, Field, highest_order

# Contradiction relative to the condition's scale, up to which it is harmless.
LARGEST_MISMATCH = 0.01
# Distance from a jump, relative to the domain, at which its height is measured.
ASIDE = 1e-6
# Relative variation of the slope of a face's distance, up to which it is one.
LARGEST_VARIATION = 0.05
# Smallest diffusion coefficient, relative to the half extents: no point meets a thinner
# layer, and in float32 its derivatives overflow.
LEAST_RATE = 1e-8
# Smallest diffusion coefficient, relative to the largest one.
LEAST_RATIO = 1e-4
# Drift of a kink where a period closes, above which it is not known.
ROUND_OFF = 1e-12
# Time that has passed at a step, relative to the domain's half duration: a step itself
# has infinite derivatives.
LEAST_TIME = 1e-8
# Time before a step from which on its feature is not zero, likewise: the start of time
# in a network's units is rounded.
EARLIEST = 1e-6


def step_features(problem, scales):
    """Return solutions of parabolic equations from steps and kinks, a list.

    With τ = t − t₁, s the distance from a face less v τ, and η = s / √(4 D τ), a step
    at the time t₁ becomes erfc(η), and a kink √(4 D τ / π) exp(−η²) − s erfc(η). Both
    are zero before t₁. Along a coordinate with the period P, a kink is even in s, the
    sine P / π sin(π (x − x₁) / P), with −s erf(η) for s erfc(η).

    Args:
        problem: The `Problem`.
        scales: `Scales` of some of its coordinates.

    Reference:
        Carslaw & Jaeger, "Conduction of heat in solids", 1959, sections 2.4 and 2.9.
    """
    domain, time, features = problem.domain, problem.domain.time_coordinate, {}
    plain = {*scales.coordinates} - {*domain.periodic}
    if time not in plain:
        return []
    initial = _initial_values(problem)
    everywhere = probe_points(domain, (*domain.blocks("interior"), domain.boundary))
    for field, profile, level, points in _steps(problem, initial):
        rates = [level.diff(symbol) for symbol in domain.space_coordinates]
        slopes = np.stack(evaluate_at(rates, domain.coordinates, points), axis=-1)
        norms = np.linalg.norm(slopes, axis=1)
        column = int(np.abs(slopes[0]).argmax())
        rate, speed = _diffusion(problem, field, initial, column)
        is_even = profile is _even_kink
        within = (rate if is_even else level + rate).free_symbols <= plain - {time}
        if not (within and np.ptp(norms) < LARGEST_VARIATION * norms[0]):
            continue
        (rates,) = evaluate_at([rate], domain.coordinates, everywhere)
        (speeds,) = evaluate_at([speed], domain.coordinates, points)
        half, duration = domain.half[column], domain.half[-1]
        least = max(LEAST_RATE * half**2 / duration, LEAST_RATIO * rates.max())
        if rates.min() > least and abs(speeds[0]) < (ROUND_OFF if is_even else np.inf):
            since = (time - points[0, -1]) / duration
            elapsed = LEAST_TIME + sp.Piecewise((since, since > 0), (0, True))
            moved = speeds[0] * slopes[0, column] * duration * elapsed
            width = sp.sqrt(4 * rate * duration / half**2 * elapsed)
            value = profile((level - moved) / (norms[0] * half), width)
            features[sp.Piecewise((value, since > -EARLIEST), (0, True))] = None
    return [f for f in features if is_algebraic(f)]


def _step(position, width):
    """Return erfc(s/w) of a position s and a width w."""
    return 1 - sp.erf(position / width)


def _kink(position, width):
    """Return the integral of `_step` from a position to infinity, times two."""
    bell = width / sp.sqrt(sp.pi) * sp.exp(-((position / width) ** 2))
    return bell - position * _step(position, width)


def _even_kink(position, width):
    """Return |s| after diffusion to a width."""
    return _kink(position, width) + position


def prescribed_value(expression):
    """Return the field of a condition on its value and that value, or `None`."""
    fields = expression.atoms(Field)
    if len(fields) != 1 or expression.has(sp.Derivative, At):
        return None
    (field,) = fields
    rate = expression.diff(field)
    value = -expression.xreplace({field: sp.S.Zero}) / rate
    return None if rate.has(field) else (field, value)


def _initial_values(problem):
    """Return a dict from fields to their initial values, expressions."""
    terms = condition_terms(problem.all_terms)
    at_start = [t for t in terms if problem.domain.initial in t.parts]
    pairs = (prescribed_value(e) for term in at_start for e in term.expressions)
    known = dict(filter(None, pairs)).items()
    return {field: value.xreplace(initial_values(value)) for field, value in known}


def _steps(problem, initial):
    """Yield the field and order of a step, its level function and points there."""
    domain, time = problem.domain, problem.domain.time_coordinate
    for field, value in initial.items():
        smallest = LARGEST_MISMATCH * problem.scales.field(field.func.__name__)
        for column, space in enumerate(domain.space_coordinates):
            points = probe_points(domain, (domain.blocks("initial")[0],))
            aside = ASIDE * domain.half[column]
            if space in domain.periodic:
                across = domain, space, points, LARGEST_MISMATCH
                # No derivative: that of a jump inside cannot be evaluated.
                ahead, behind = (value.subs(space, space + s) for s in (aside, -aside))
                bends = differs_at_ends(ahead - behind, *across)
                if bends and not differs_at_ends(value, *across):
                    points[:, column] = domain.upper[column]
                    radian = 2 * domain.half[column] / sp.pi
                    level = radian * sp.sin((space - domain.upper[column]) / radian)
                    yield field, _even_kink, level, points
            for end in _ends(value, space, domain):
                sides = [value.subs(space, end + s) for s in (-aside, aside)]
                before, after = evaluate_at(sides, domain.coordinates, points)
                is_kink = np.abs(after - before).max() < smallest
                points[:, column] = end
                yield field, _kink if is_kink else _step, space - end, points
    conditions = [
        (expression, problem.scales.sizes(term)[number], part)
        for term in condition_terms(problem.all_terms)
        if term.table is None and not term.regions
        for number, expression in enumerate(term.expressions)
        for part in term.parts
        if not (expression.has(At) or missing_normals_error(domain, part))
    ]
    for expression, size, part in conditions:
        moments = [*_ends(expression, time, domain)]
        if _mismatch(expression, part, initial, domain) > LARGEST_MISMATCH * size:
            moments.append(domain.lower[-1])
        for piece, moment in itertools.product(part.pieces(), moments):
            with contextlib.suppress(ValueError):  # no distance is known
                level = domain.distance(piece)
                points = probe_points(domain, ((piece,),))
                points[:, -1] = moment
                for field in expression.atoms(Field):
                    is_flux = expression.has(sp.Derivative)
                    yield field, _kink if is_flux else _step, level, points


def _ends(expression, symbol, domain):
    """Yield where branches of an expression end along a coordinate."""
    column = domain.coordinates.index(symbol)
    for end, _ in switches(expression):
        rate = end.diff(symbol)
        if end.free_symbols == {symbol} and rate.is_number and rate:
            zero = float(-end.subs(symbol, 0) / rate)
            if domain.lower[column] < zero < domain.upper[column]:
                yield zero


def _mismatch(expression, part, initial, domain):
    """Return by how much initial values miss a condition, 0 if they are unknown."""
    if not expression.atoms(Field) <= {*initial}:
        return 0.0
    expression = expression.xreplace(initial_values(expression) | initial).doit()
    points = probe_points(domain, ((part,),))
    points[:, -1] = domain.lower[-1]
    with contextlib.suppress(ValueError):  # the derivative of a jump
        (values,) = evaluate_at([expression], domain.coordinates, points)
        return np.abs(values).max()
    return 0.0


def _diffusion(problem, field, initial, column):
    """Return a field's coefficients D and v along a coordinate initially, or zeros."""
    coordinates = problem.domain.coordinates
    space, time = coordinates[column], coordinates[-1]
    nodes = field.diff(time), field.diff(space, 2), field.diff(space)
    dummies = [sp.Dummy() for _ in nodes]
    for expression in equation_expressions(problem.all_terms):
        plain = expression.xreplace(dict(zip(nodes, dummies, strict=True)))
        first, second, drift = (plain.diff(dummy) for dummy in dummies)
        others = {*expression.atoms(sp.Derivative)} - {*nodes}
        is_other = 0 in (first, second) or highest_order([plain], coordinates) > 2
        if is_other or any(time in d.variables for d in others):
            continue
        coefficients = sp.Matrix([-second / first, drift / first])
        rest = {*coefficients.atoms(sp.Derivative), *dummies}
        coefficients = coefficients.xreplace(dict.fromkeys(rest, sp.S.Zero))
        known = initial_values(coefficients) | initial
        known |= {time: sp.Float(problem.domain.lower[-1])}
        coefficients = coefficients.xreplace(known)
        if not coefficients.has(Field):
            return coefficients
    return sp.S.Zero, sp.S.Zero
