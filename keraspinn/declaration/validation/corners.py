"""Detect conditions that contradict a hard value where two faces meet."""

import itertools

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.declaration.probe_points import evaluate_at, probe_normals, probe_points
from keraspinn.declaration.terms import condition_terms, is_on
from keraspinn.expressions import Parameter, required_derivatives
from keraspinn.expressions.image import At

# Points on a face, which are moved to its edge.
FACE_POINTS = 64
# Contradiction relative to the largest term nearby, up to which it is harmless.
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
    faces = [
        (term, face, *domain.fixed(face))
        for term in condition_terms(terms)
        for face in itertools.chain.from_iterable(term.blocks)
        if face in domain.boundary and len(domain.fixed(face)) == 1
    ]
    for (hard, face, (axis, value)), (term, other, _) in itertools.permutations(
        faces, 2
    ):
        if not hard.hard or term.hard or term.regions:
            continue
        points = probe_points(domain, ((other,),), FACE_POINTS)
        edge = np.where(np.arange(domain.dimension) == axis, value, points)
        edge = edge[is_on(domain, (other,), edge - domain.centre)]
        inside = probe_points(domain, domain.blocks("interior"), FACE_POINTS)
        normal = probe_normals(domain, ((other,),), 1)[0].tolist()
        normals = dict(zip(domain.normal, map(sp.Integer, normal), strict=True))
        known = required_derivatives(hard.expressions, domain.coordinates)
        for expression in term.expressions:
            expression = expression.xreplace(normals)
            needed = required_derivatives([expression], domain.coordinates)
            indices = set().union(*needed.values())
            is_flux = any(map(any, indices)) and set(needed) <= set(known)
            if (
                not (is_flux and len(edge))
                or any(index[axis] for index in indices)
                or expression.has(At, Parameter)
            ):
                continue
            fields = expression.atoms(AppliedUndef)
            values = {f: forms[f.func.__name__].value for f in fields}
            parts = [p.subs(values).doit() for p in sp.Add.make_args(expression)]
            size, missed = (
                abs(np.array(evaluate_at(exact, domain.coordinates, where))).max()
                for exact, where in (
                    (parts, np.concatenate([points, inside])),
                    ([sum(parts)], edge),
                )
            )
            if missed > LARGEST_MISMATCH * size:
                return (
                    f"Conditions '{hard.name}' and '{term.name}' contradict each other "
                    f"where {face} meets {other}, by {missed:.2g}. Fluxes are wrong "
                    "near this edge. Declare a value or a flux that agrees there, or "
                    f"'{hard.name}' without hard=True."
                )
    return ""
