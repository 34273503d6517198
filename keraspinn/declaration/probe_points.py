"""Points to look at a declaration's expressions at, always the same."""

import itertools

import numpy as np
import sympy as sp
from keras import ops
from sympy.core.function import AppliedUndef

from keraspinn import backend
from keraspinn.expressions import NormalComponent, Parameter, Program
from keraspinn.expressions.image import At
from keraspinn.expressions.nodes import distinct_nodes
from keraspinn.geometry.part import quasi_random


def sampled(domain, blocks, count, evenly=False):
    """Points on every part of some blocks, `(n, d)`, in the user's units, float64.

    Args:
        domain: The geometry.
        blocks: Tuple of tuples of its parts.
        count: Number of points on each part.
        evenly: Whether points are quasi-random, so that means are exact to 1 / count.
    """
    drawn = [domain.absolute(*own) for own in _drawn(domain, blocks, count, evenly)]
    return np.concatenate([ops.convert_to_numpy(points) for points in drawn])


def sampled_normals(domain, blocks, count, evenly=False):
    """The outward unit normals at the points that `sampled` gives, `(n, spatial)`."""
    drawn = [domain.normals(*own) for own in _drawn(domain, blocks, count, evenly)]
    return np.concatenate([ops.convert_to_numpy(normals) for normals in drawn])


def _drawn(domain, blocks, count, evenly):
    """Pairs of a part and points on it, measured from the domain's centre."""
    generator = np.random.default_rng(0)
    for part in dict.fromkeys(part for block in blocks for part in block):
        draws = domain.draws(part)
        if evenly and draws:
            uniform = quasi_random(count, draws)
        else:
            uniform = generator.random((count, draws))
        yield part, domain.sample(part, uniform)


def corners(domain, expressions):
    """Where sizes are looked for among parameters: dicts from symbols to values.

    At their ends, of more than two at all the lowest, the highest and the middles.

    Args:
        domain: The geometry.
        expressions: Those that hold in it; a parameter that one is derived by is none.
    """
    varying = {*domain.space_coordinates, domain.time_coordinate}
    for derivative in set().union(*(e.atoms(sp.Derivative) for e in expressions)):
        varying |= {*derivative.variables}
    pairs = zip(domain.coordinates, domain.centre, domain.half, strict=True)
    ends = [
        [(symbol, float(centre + side * half)) for side in (-1, 1, 0)]
        for symbol, centre, half in pairs
        if symbol not in varying
    ]
    if len(ends) > 2:
        return [dict(own) for own in zip(*ends, strict=True)]
    return [dict(own) for own in itertools.product(*(own[:2] for own in ends))]


def columns(coordinates, points):
    """Points by coordinate, as a `Program` takes them: dict from names to arrays."""
    return {symbol.name: points[:, k] for k, symbol in enumerate(coordinates)}


def with_symbols(expression):
    """Replace fields, derivatives and parameters by symbols.

    Args:
        expression: A normalized SymPy expression.

    Returns:
        The expression, and a dict from all that was replaced to its symbol.
    """
    kinds = AppliedUndef, sp.Derivative, At, Parameter, NormalComponent
    atoms = distinct_nodes([expression], kinds)
    names = {atom: sp.Symbol(f"value_{k}") for k, atom in enumerate(atoms)}
    return expression.xreplace(names), names


def values_at(expressions, coordinates, points):
    """Values of expressions in the coordinates alone, a list of float64 arrays."""
    program = Program(expressions, coordinates)
    with backend.double_precision():
        return program.on_host(columns(coordinates, points), {})
