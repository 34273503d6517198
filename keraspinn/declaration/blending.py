"""Values on several parts of a boundary as one expression.

Each value has a weight that vanishes on all parts but its own: the product of the
distances to the others. Where parts with different values meet these weights have no
limit, and their derivatives no bound, so there the corner has a weight instead, that
of the parts which meet in it together; an edge has the weights of both its corners.
For a convex polygon these are Wachspress's coordinates up to constants. In a corner
the values are put together one plane after another, as Coons does: what a plane still
lacks is continued along a direction that lies in the others. A rectangle gives Coons's
patch; in a triangle, too, derivatives of every order are finite.

Source: Gordon & Hall, Numerische Mathematik 1973; Wachspress, A Rational Finite Element
Basis, 1975; Shepard, ACM National Conference 1968 (weights of parts that are apart).
"""

import itertools

import numpy as np
import sympy as sp
from keras import ops

from keraspinn.declaration.probe_points import sampled, sampled_normals, values_at
from keraspinn.geometry.part import exact_number

_POINTS, _INSIDE = 64, 1024  # on a part, and in the domain
_APART = 1e-6  # of the half extents, beyond which a point is not on a part
_BESIDE = 1e-3  # of the way from a corner along a part, where its sides are known
_STEPS = 12  # of Newton, from anywhere on a part to where it meets another


def blended(domain, values):
    """An expression that is on each part what is given there.

    Args:
        domain: The geometry.
        values: Dict from parts to expressions in the coordinates, which are the same
            where the parts meet.

    Raises:
        ValueError: If different values meet where a part is curved, or where a part
            has no distance.
    """
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    flat = {p: value for part, value in values.items() for p in part.pieces()}
    parts = tuple(flat)
    planes = {part: _plane(domain, part) for part in parts}
    weights = {}
    for node in _nodes(domain, flat, planes):
        own = _put_together(domain, {p: flat[p] for p in node}, planes)
        others = domain.distance(tuple(p for p in parts if p not in node))
        weight = _typical(domain, domain.distance(node)) * others
        weights[own] = weights.get(own, 0) + weight
    total = sp.Add(*(own * weight for own, weight in weights.items()))
    return total / sp.Add(*weights.values())


def _plane(domain, part):
    """The normal, `(spatial,)`, of a flat part and an expression zero on its plane."""
    points = sampled(domain, ((part,),), _POINTS)
    normals = sampled_normals(domain, ((part,),), _POINTS)
    normal = normals[0]
    places = (points - domain.centre)[:, : len(normal)] @ normal
    if (
        np.ptp(normals, axis=0).max() > 1e-9
        or np.ptp(places) > 1e-9 * domain.half.max()
    ):
        return None
    along = zip(domain.space_coordinates, normal, points[0], strict=False)
    level = sum(exact_number(n) * (s - exact_number(p)) for s, n, p in along)
    return normal, level


def _nodes(domain, values, planes):
    """Tuples of parts: what meets, or has one value and meets nothing else."""
    meetings = _meetings(domain, planes)
    mixed = {
        values[part]
        for own in meetings
        if len({values[part] for part in own}) > 1
        for part in own
    }
    nodes = [own for own in meetings if mixed & {values[part] for part in own}]
    for value in dict.fromkeys(values.values()):
        own = [part for part in values if values[part] == value]
        if value not in mixed:
            nodes.append(tuple(own))
        else:
            met = {part for node in nodes for part in node}
            nodes += [(part,) for part in own if part not in met]
    return nodes


def _meetings(domain, planes):
    """Tuples of parts that have a point in common, none within another."""
    levels = {
        part: plane[1] if plane else domain.distance(part)
        for part, plane in planes.items()
    }
    seeds = {part: sampled(domain, ((part,),), _POINTS) for part in levels}
    alone = {part: _onto(domain, [level]) for part, level in levels.items()}
    found = {}
    for count in range(2, len(domain.space_coordinates) + 1):
        for together in itertools.combinations(levels, count):
            onto = _onto(domain, [levels[part] for part in together])
            points = onto(seeds[together[0]])
            touched = [_touched(domain, p, alone[p], points, seeds[p]) for p in levels]
            for here in np.array(touched).T:
                own = tuple(p for p, on in zip(levels, here, strict=True) if on)
                if set(together) <= set(own):
                    found[own] = None
    return [own for own in found if not any(set(own) < set(other) for other in found)]


def _onto(domain, levels):
    """A function that moves points to where expressions vanish, by Gauss and Newton."""
    symbols, lower, upper = domain.coordinates, domain.lower, domain.upper
    wanted = sp.Matrix(levels)
    evaluated = [
        sp.lambdify(symbols, list(own), "numpy", cse=True)
        for own in (wanted, wanted.jacobian(symbols))
    ]

    def onto(points):
        for _ in range(_STEPS):
            with np.errstate(all="ignore"):  # where a slope has no limit
                found = [
                    np.stack([np.broadcast_to(v, len(points)) for v in own(*points.T)])
                    for own in evaluated
                ]
            value, slope = (np.nan_to_num(own).T for own in found)
            slope = slope.reshape(len(points), len(levels), -1)
            step = np.linalg.pinv(slope) @ value[..., None]
            points = np.clip(points - step[..., 0], lower, upper)
        return points

    return onto


def _touched(domain, part, onto, points, seeds):
    """At which points a part begins: whether it holds what is beside them on it.

    Not the points themselves: in a corner the sides of a combination are not known.
    """
    apart = np.abs(onto(points) - points) > _APART * domain.half
    beside = onto(points + _BESIDE * (seeds - points))
    inside = domain.contains(part, beside - domain.centre)
    inside = ops.convert_to_numpy(inside)
    near = np.abs(beside - points) < 3 * _BESIDE * 2 * domain.half
    return inside & near.all(axis=-1) & ~apart.any(axis=-1)


def _put_together(domain, values, planes):
    """The values of parts that meet, as an expression that is smooth where they do."""
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    if None in (own := [planes[part] for part in values]):
        _refuse(values, "one of them is curved")
    normals = np.stack([normal for normal, _ in own])
    if np.linalg.matrix_rank(normals, tol=1e-6) < len(normals):
        _refuse(values, "their planes do not cross in one corner")
    directions = np.linalg.pinv(normals)
    (total, *others), (_, *levels) = values.values(), (level for _, level in own)
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
        f"smooth function is known that takes them all, as {why}. Write one value that "
        "holds on all of them, or declare one of the conditions without `hard=True`."
    )


def _typical(domain, distance):
    """About the geometric mean of a distance over the domain, a power of two.

    Each distance is of size one, products of many are not, and whose is smallest would
    have all the weight.
    """
    points = sampled(domain, ((domain.interior,),), _INSIDE)
    (values,) = values_at([distance], domain.coordinates, points)
    logarithms = np.log2(np.maximum(values, np.finfo("float64").tiny))
    return sp.Integer(2) ** round(float(np.mean(logarithms)))
