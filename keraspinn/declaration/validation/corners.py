"""Detect conditions that contradict a hard value where two faces meet."""

import itertools

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import evaluate_at, probe_normals, probe_points
from keraspinn.expressions import Parameter, required_derivatives
from keraspinn.expressions.image import At
from keraspinn.geometry.arrays import on_host

# Points on a face, which are moved to its edge.
FACE_POINTS = 64
# Contradiction relative to the largest term on the face, up to which it is harmless.
LARGEST_MISMATCH = 0.01


def describe_contradictory_corners(domain, terms, forms):
    """Return a sentence on a flux that contradicts a hard value at an edge, or "".

    On a face with a hard value, derivatives along the face follow from the value. A
    Neumann or Robin condition on an adjacent face prescribes such a derivative.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s, hard ones included.
        forms: Dict from names of fields to their `HardForm`.
    """
    hard, soft = (
        [
            (term, face)
            for term in terms.values()
            if not term.is_equation and term.hard is is_hard and not term.regions
            for face in dict.fromkeys(itertools.chain.from_iterable(term.blocks))
            if face in domain.boundary and len(domain.fixed(face)) == 1
        ]
        for is_hard in (True, False)
    )
    for (fixed, face), (term, other) in itertools.product(hard, soft):
        (axis, value), (column, _) = domain.fixed(face)[0], domain.fixed(other)[0]
        points = probe_points(domain, ((other,),), FACE_POINTS)
        edge = points.copy()
        edge[:, axis] = value
        edge = edge[on_host(domain.contains(face, edge - domain.centre))]
        edge = edge[on_host(domain.contains(other, edge - domain.centre))]
        if axis == column or not len(edge):
            continue
        normals = probe_normals(domain, ((other,),), 1)[0].round(9).tolist()
        normals = dict(zip(domain.normal, map(sp.nsimplify, normals), strict=True))
        for expression in term.expressions:
            expression = expression.xreplace(normals)
            if not _is_known(expression, axis, fixed, domain):
                continue
            known = {
                field: forms[field.func.__name__].value
                for field in expression.atoms(sp.core.function.AppliedUndef)
            }
            parts = [p.subs(known).doit() for p in sp.Add.make_args(expression)]
            size = np.max(np.abs(evaluate_at(parts, domain.coordinates, points)))
            missed = np.abs(sum(evaluate_at(parts, domain.coordinates, edge))).max()
            if missed > LARGEST_MISMATCH * size:
                return (
                    f"Conditions '{fixed.name}' and '{term.name}' contradict each other "
                    f"where {face} meets {other}: with the hard value, '{term.name}' is "
                    f"not satisfied there, by {missed:.2g}. Derivatives, such as a flux, "
                    "are wrong near this edge. Declare a value or a flux that agrees "
                    f"there, or '{fixed.name}' without hard=True."
                )
    return ""


def _is_known(expression, axis, fixed, domain):
    """Return whether an expression on a face follows from the face's hard values."""
    needed = required_derivatives([expression], domain.coordinates)
    hard = required_derivatives(fixed.expressions, domain.coordinates)
    indices = set().union(*needed.values())
    return (
        any(map(any, indices))
        and not any(index[axis] for index in indices)
        and set(needed) <= set(hard)
        and not expression.has(At, Parameter)
    )
