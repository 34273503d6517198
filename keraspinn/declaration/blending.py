"""Blending of values on several parts of a boundary into one expression.

The weight of a part's value is the product of the distances to all other parts. It has
no limit in a corner where parts with different values meet. Such a corner therefore has
a weight that its parts share, and an edge has the weights of both its corners. In a
convex polygon these are Wachspress's coordinates up to constants. The value of a corner
is a sum over its planes, as in Coons's patch: each plane adds its remaining error,
extended along a direction in the other planes. Derivatives of all orders are finite.

Source: Gordon & Hall, Numerische Mathematik 1973; Wachspress, A Rational Finite Element
Basis, 1975; Shepard, ACM National Conference 1968 (weights of parts that are apart).
"""

import itertools

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import probe_normals, probe_points, run_at
from keraspinn.expressions import Program
from keraspinn.geometry.part import exact_number

# Points on a part.
_PART_POINTS = 64
# Points in the domain.
_INTERIOR_POINTS = 1024
# Distance from a part, relative to the half extents, up to which a point is on it.
_TOLERANCE = 1e-6
# Relative variation of a flat part's normals and level.
_ROUND_OFF = 1e-9
# Relative distance from a corner along a part, at which `contains` is reliable.
_STEP_ASIDE = 1e-3
# Newton steps from a point on a part to an intersection.
_NEWTON_STEPS = 12


def blend(domain, values):
    """Return an expression with prescribed values on each part.

    Args:
        domain: The geometry.
        values: Dict from parts to expressions in the coordinates, equal where the
            parts meet.

    Raises:
        ValueError: If different values meet on a curved part, or if a part has no
            distance function.
    """
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    flat = {p: value for part, value in values.items() for p in part.pieces()}
    parts = tuple(flat)
    planes = {part: _plane(domain, part) for part in parts}
    weights = {}
    for node in _nodes(domain, flat, planes):
        value = _combine(domain, {p: flat[p] for p in node}, planes)
        others = domain.distance(tuple(p for p in parts if p not in node))
        weight = _typical(domain, domain.distance(node)) * others
        weights[value] = weights.get(value, 0) + weight
    total = sp.Add(*(value * weight for value, weight in weights.items()))
    return total / sp.Add(*weights.values())


def _plane(domain, part):
    """Return a flat part's normal, `(spatial,)`, and its plane's level function."""
    points = probe_points(domain, ((part,),), _PART_POINTS)
    normals = probe_normals(domain, ((part,),), _PART_POINTS)
    normal = normals[0]
    levels = (points - domain.centre)[:, : len(normal)] @ normal
    is_flat = np.ptp(normals, axis=0).max() <= _ROUND_OFF
    if not is_flat or np.ptp(levels) > _ROUND_OFF * domain.half.max():
        return None
    along = zip(domain.space_coordinates, normal, points[0], strict=False)
    return normal, sum(exact_number(n) * (s - exact_number(p)) for s, n, p in along)


def _nodes(domain, values, planes):
    """Return tuples of parts that meet, or that have the same value."""
    corners = _corners(domain, planes)
    meeting = [{values[part] for part in corner} for corner in corners]
    mixed = set().union(*(there for there in meeting if len(there) > 1))
    nodes = [c for c, there in zip(corners, meeting, strict=True) if mixed & there]
    for value in dict.fromkeys(values.values()):
        parts = [part for part in values if values[part] == value]
        if value not in mixed:
            nodes.append(tuple(parts))
        else:
            used = {part for node in nodes for part in node}
            nodes += [(part,) for part in parts if part not in used]
    return nodes


def _corners(domain, planes):
    """Return the largest tuples of parts that have a point in common."""
    levels, projections, seeds = {}, {}, {}
    for number, (part, plane) in enumerate(planes.items()):
        levels[part] = plane[1] if plane else domain.distance(part)
        projections[part] = projection(domain, [levels[part]])
        # Shuffled, so that seeds of two parts are not at the same end in every row.
        points = probe_points(domain, ((part,),), _PART_POINTS)
        seeds[part] = np.random.default_rng(number).permutation(points)
    corners = {}
    for count in range(2, len(domain.space_coordinates) + 1):
        for parts in itertools.combinations(levels, count):
            project = projection(domain, [levels[part] for part in parts])
            points = project(seeds[parts[0]])
            ends = [
                _is_end(domain, p, projections[p], points, seeds[p]) for p in levels
            ]
            for row in np.array(ends).T:
                corner = tuple(p for p, is_on in zip(levels, row, strict=True) if is_on)
                if set(parts) <= set(corner):
                    corners[corner] = None
    return [c for c in corners if not any(set(c) < set(other) for other in corners)]


def projection(domain, levels):
    """Return a function that moves points to zeros of expressions, by Gauss-Newton."""
    symbols, count = domain.coordinates, len(levels)
    rates = [level.diff(symbol) for level in levels for symbol in symbols]
    program = Program([*levels, *rates], symbols)

    def project(points):
        for _ in range(_NEWTON_STEPS):
            with np.errstate(all="ignore"):  # a gradient may have no limit
                values = run_at(program, symbols, points)
            values = np.nan_to_num(np.stack(values, axis=-1))
            jacobian = values[:, count:].reshape(len(points), count, -1)
            step = np.linalg.pinv(jacobian) @ values[:, :count, None]
            points = np.clip(points - step[..., 0], domain.lower, domain.upper)
        return points

    return project


def _is_end(domain, part, project, points, seeds):
    """Return at which points a part ends, by points beside them on the part.

    In a corner itself `contains` of a combination is not reliable.
    """
    apart = np.abs(project(points) - points) > _TOLERANCE * domain.half
    beside = project(points + _STEP_ASIDE * (seeds - points))
    inside = np.asarray(domain.contains(part, beside - domain.centre))
    near = np.abs(beside - points) < 3 * _STEP_ASIDE * 2 * domain.half
    return inside & near.all(axis=-1) & ~apart.any(axis=-1)


def _combine(domain, values, planes):
    """Return a smooth expression with the values of parts that meet."""
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    pairs = [planes[part] for part in values]
    if None in pairs:
        _refuse(values, "one of them is curved")
    normals = np.stack([normal for normal, _ in pairs])
    if np.linalg.matrix_rank(normals, tol=1e-6) < len(normals):
        _refuse(values, "their planes do not intersect in one corner")
    directions = np.linalg.pinv(normals)
    (total, *others), (_, *levels) = values.values(), (level for _, level in pairs)
    for value, level, direction in zip(others, levels, directions.T[1:], strict=True):
        foot = {
            symbol: symbol - exact_number(along) * level
            for symbol, along in zip(domain.space_coordinates, direction, strict=True)
        }
        total += (value - total).xreplace(foot)
    return total


def _refuse(parts, why):
    raise ValueError(
        f"different values meet where {' and '.join(map(str, parts))} do, and no "
        f"smooth function with all of these is known, as {why}. Write one value that "
        "holds on all of them, or declare one of the conditions without `hard=True`."
    )


def _typical(domain, distance):
    """Return the geometric mean of a distance, rounded to a power of two.

    Products of many distances differ in magnitude, and the smallest would dominate.
    """
    points = probe_points(domain, ((domain.interior,),), _INTERIOR_POINTS)
    program = Program([distance], domain.coordinates)
    (values,) = run_at(program, domain.coordinates, points)
    logarithms = np.log2(np.maximum(values, np.finfo("float64").tiny))
    return sp.Integer(2) ** round(float(np.mean(logarithms)))
