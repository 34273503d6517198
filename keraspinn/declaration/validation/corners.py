"""Detect conditions that contradict a hard value where two faces meet."""

import itertools

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.declaration.probe_points import evaluate_at, probe_normals, probe_points
from keraspinn.declaration.terms import condition_terms, is_on
from keraspinn.expressions import Parameter
from keraspinn.expressions.image import At
from keraspinn.geometry.part import exact_number

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
    faces = [face for face in domain.boundary if len(domain.fixed(face)) == 1]
    soft = [t for t in condition_terms(terms) if forms and not (t.hard or t.regions)]
    for term, (hard, face) in itertools.product(soft, itertools.permutations(faces, 2)):
        if not any(face in block for block in term.blocks):
            continue
        normal = map(sp.Integer, probe_normals(domain, ((face,),), 1)[0].tolist())
        normals = dict(zip(domain.normal, normal, strict=True))
        for expression in term.expressions:
            expression = expression.xreplace(normals)
            if missed := _mismatch(domain, expression, forms, hard, face):
                return (
                    f"Condition '{term.name}' contradicts the hard value on {hard} "
                    f"where it meets {face}, by {missed:.2g}. Fluxes are wrong near "
                    "this edge. Declare a value or a flux that agrees there, or the "
                    "value without hard=True."
                )
    return ""


def _mismatch(domain, expression, forms, hard, face):
    """Return an expression's value where a face meets a hard one, 0 if unknown."""
    if not expression.has(sp.Derivative) or expression.has(At, Parameter):
        return 0.0
    fields = [f for f in expression.atoms(AppliedUndef) if f.func.__name__ in forms]
    known = {f: forms[f.func.__name__].value for f in fields}
    constrained = {f: known[f] + forms[f.func.__name__].factor * f for f in fields}
    ((axis, value),) = domain.fixed(hard)
    on_edge = expression.subs(constrained).doit()
    on_edge = on_edge.subs(domain.coordinates[axis], exact_number(value))
    points = probe_points(domain, ((face,),))
    edge = np.where(np.arange(domain.dimension) == axis, value, points)
    edge = edge[is_on(domain, (face,), edge - domain.centre)]
    if on_edge.has(AppliedUndef) or not len(edge):  # it holds a normal derivative
        return 0.0
    nearby = [points, probe_points(domain, domain.blocks("interior"))]
    parts = [p.subs(known).doit() for p in sp.Add.make_args(expression)]
    parts = [on_edge, *(part for part in parts if not part.has(AppliedUndef))]
    parts = evaluate_at(parts, domain.coordinates, np.concatenate(nearby))
    (missed,) = evaluate_at([on_edge], domain.coordinates, edge)
    missed, largest = np.abs(missed).max(), np.abs(np.array(parts)).max()
    return float(missed) if missed > LARGEST_MISMATCH * largest else 0.0
