"""Reproducible probe points, and values of expressions there."""

import itertools

import numpy as np
import sympy as sp

from keraspinn import backend
from keraspinn.expressions import At, NormalComponent, Parameter, Program, columns
from keraspinn.expressions.field import Field
from keraspinn.expressions.nodes import distinct_nodes
from keraspinn.geometry.part import quasi_random

# Points on each part, if a check or an estimate needs no other number.
PROBES = 512


def probe_points(domain, blocks, count=PROBES):
    """Return points on each part of some blocks, `(n, d)`, in the user's units.

    They are quasi-random, so that means are exact to 1 / count.

    Args:
        domain: The geometry.
        blocks: Tuple of tuples of its parts.
        count: Number of points on each part.
    """
    return _at_samples(domain.absolute, domain, blocks, count)


def probe_normals(domain, blocks, count=PROBES):
    """Return outward unit normals at the points of `probe_points`, `(n, spatial)`."""
    return _at_samples(domain.normals, domain, blocks, count)


def _at_samples(function, domain, blocks, count):
    """Return values of a function of a part and of relative points on it."""
    values = []
    for part in dict.fromkeys(part for block in blocks for part in block):
        relative = domain.sample(part, quasi_random(count, domain.draws(part)))
        values.append(np.asarray(function(part, relative)))
    return np.concatenate(values)


def parameter_corners(domain, expressions):
    """Return values of parameter coordinates, for which scales are found.

    They are the ends of each parameter's range; for more than two parameters only all
    lowest, all highest and all middle values.

    Args:
        domain: The geometry.
        expressions: All expressions. A coordinate with a derivative is no parameter.

    Returns:
        List of dicts from symbols to values.
    """
    varying = {*domain.space_coordinates, domain.time_coordinate}
    for derivative in set().union(*(e.atoms(sp.Derivative) for e in expressions)):
        varying |= {*derivative.variables}
    constant = [pair for pair in domain.intervals.items() if pair[0] not in varying]
    ends = [[(s, low), (s, high), (s, (low + high) / 2)] for s, (low, high) in constant]
    if len(ends) > 2:
        return [dict(pairs) for pairs in zip(*ends, strict=True)]
    return [dict(pairs) for pairs in itertools.product(*(pair[:2] for pair in ends))]


def with_symbols(expression):
    """Replace fields, derivatives and parameters by symbols.

    Args:
        expression: A normalized SymPy expression.

    Returns:
        The expression, and a dict from the replaced atoms to their symbols.
    """
    kinds = Field, sp.Derivative, At, Parameter, NormalComponent
    atoms = distinct_nodes([expression], kinds)
    names = {atom: sp.Symbol(f"value_{k}") for k, atom in enumerate(atoms)}
    return expression.xreplace(names), names


def initial_values(expression, zero=1.0):
    """Return values of an expression's parameters, and one for components of normals.

    Args:
        expression: A SymPy expression.
        zero: Value of a parameter that is initially zero.
    """
    values = {p: sp.Float(p.initial or zero) for p in expression.atoms(Parameter)}
    return values | dict.fromkeys(expression.atoms(NormalComponent), sp.S.One)


def evaluate_at(expressions, coordinates, points):
    """Return values of expressions in the coordinates, a list of float64 arrays."""
    return run_at(Program(expressions, coordinates), coordinates, points)


def run_at(program, coordinates, points):
    """Return values of a `Program` at points `(..., d)`, a list of float64 arrays."""
    with backend.double_precision():
        return program.on_host(columns(coordinates, points), {})
