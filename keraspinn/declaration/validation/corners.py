"""Detect conditions that contradict a hard value where two faces meet."""

import functools
import itertools

import numpy as np
import sympy as sp

from keraspinn.declaration.blending import projection
from keraspinn.declaration.probe_points import evaluate_at, probe_normals, probe_points
from keraspinn.declaration.terms import condition_terms, is_on
from keraspinn.expressions import At, Field, Parameter

# Contradiction relative to the largest term nearby, up to which it is harmless.
LARGEST_MISMATCH = 0.01
# Round-off: of distances to faces that meet, and of the network's influence on a flux,
# relative to that nearby.
ROUND_OFF = 1e-6
# Contradiction relative to terms of a field of this size, up to which it is round-off.
LEAST = 1e-9
# Distance to probe points on a part, relative to the domain's half extent, up to which
# its ends are near: about ten times that of neighbours in the plane.
NEAR = 0.04


def describe_contradictory_corners(domain, terms, forms):
    """Return a sentence on a flux that contradicts a hard value at an edge, or "".

    On a face with a hard value, derivatives along the face follow from the value. A
    Neumann or Robin condition on a face at a right angle prescribes such a derivative.
    A flux that is switched on initially contradicts a hard initial value in this way:
    the error of a heated pipe was 1.8e-3 after its loss had fallen to 1e-11.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s, hard ones included.
        forms: Dict from names of fields to their `HardForm`.
    """
    conditions, hard_parts = condition_terms(terms), {*domain.boundary, domain.initial}
    hard_faces = {p: None for t in conditions if t.hard for p in t.parts}
    soft = [t for t in conditions if not (t.hard or t.regions)]
    common_points = functools.cache(functools.partial(_common_points, domain))
    is_face = functools.cache(functools.partial(_is_face, domain))
    for term, hard in itertools.product(soft, hard_faces):
        for face, expression in itertools.product(term.parts, term.expressions):
            if hard not in hard_parts - {face} or not is_face(face):
                continue
            if expression.has(At) or not expression.has(sp.Derivative):
                continue
            begun = {p: sp.Float(p.initial or 1) for p in expression.atoms(Parameter)}
            expression = expression.xreplace(begun)
            edge = common_points(hard, face)
            if missed := _mismatch(domain, expression, forms, face, edge):
                return (
                    f"Condition '{term.name}' contradicts the hard value on {hard} "
                    f"where it meets {face}, by {missed:.2g}. Fluxes are wrong "
                    "there. Declare one that agrees, or the value without hard=True."
                )
    return ""


def _mismatch(domain, expression, forms, face, edge):
    """Return an expression's value where a face meets a hard one, 0 if unknown."""
    if not len(edge):
        return 0.0
    fields = [f for f in expression.atoms(Field) if f.func.__name__ in forms]
    known = {f: forms[f.func.__name__].value for f in fields}
    constrained = {f: known[f] + forms[f.func.__name__].factor * f for f in fields}
    whole = expression.subs(constrained).doit()
    networks = sorted(whole.atoms(Field, sp.Derivative), key=str)
    missed = whole.xreplace(dict.fromkeys(networks, sp.S.Zero))
    some = {network: sp.Rational(k + 3, 2) for k, network in enumerate(networks)}
    parts = [p.subs(known).doit() for p in sp.Add.make_args(expression)]
    parts = [part for part in parts if not part.has(Field)]
    symbols = *domain.coordinates, *domain.normal
    nearby = probe_points(domain, ((face,), *domain.blocks("interior")))
    normals = probe_normals(domain, ((face,),))
    normals = np.resize(normals, (len(nearby), normals.shape[1]))
    at_edge = np.asarray(domain.normals(face, edge - domain.centre))
    points = np.vstack([np.hstack([edge, at_edge]), np.hstack([nearby, normals])])
    sizes = [abs(v).max() for v in evaluate_at(known.values(), symbols, points)]
    pairs = zip(domain.coordinates, domain.half, strict=True)
    ramp = sp.exp(sum(symbol / half for symbol, half in pairs))
    typical = dict.fromkeys(expression.atoms(Field), sp.S.Zero)
    typical |= {f: size * ramp for f, size in zip(known, sizes, strict=True)}
    terms = expression.subs(typical).doit()
    expressions = [whole.xreplace(some) - missed, missed, terms, *parts]
    free, missed, terms, *parts = np.abs(evaluate_at(expressions, symbols, points))
    if free[: len(edge)].max() > ROUND_OFF * free.max():  # not at a right angle
        return 0.0
    least = max(LARGEST_MISMATCH * np.max([missed, *parts]), LEAST * terms.max())
    missed = missed[: len(edge)].max()
    return float(missed) if missed > least else 0.0


def _common_points(domain, hard, face):
    """Return points of two faces, zeros of both distances by Newton's method."""
    if hard == domain.initial:
        points = probe_points(domain, ((face,),))
        time = domain.time_coordinate
        points[:, domain.coordinates.index(time)] = domain.intervals[time][0]
        return points[is_on(domain, (face,), points - domain.centre)]
    try:
        distances = [domain.distance(part) for part in (hard, face)]
    except ValueError:  # no distance is known
        return np.zeros((0, domain.dimension))
    points = projection(domain, distances)(probe_points(domain, ((face,),)))
    values = np.nan_to_num(evaluate_at(distances, domain.coordinates, points))
    points = points[np.abs(values).max(axis=0) < ROUND_OFF]  # converged
    return points[_is_near(domain, hard, points) & _is_near(domain, face, points)]


def _is_face(domain, part):
    """Return whether a part is a face or a portion of one."""
    points = probe_points(domain, ((part,),)) - domain.centre
    return is_on(domain, domain.boundary, points).all()


def _is_near(domain, part, points):
    """Return the mask of points on a part. Where pieces are cut, ends belong to one."""
    apart = np.abs(points[:, None] - probe_points(domain, ((part,),))) / domain.half
    is_near = apart.max(axis=2).min(axis=1) < NEAR
    return is_near | is_on(domain, (part,), points - domain.centre)
