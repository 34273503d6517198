"""Equations and conditions, linear in the factors of polynomials."""

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn import backend
from keraspinn.declaration.probe_points import columns, sampled, sampled_normals
from keraspinn.declaration.scaling.offsets import shifted
from keraspinn.declaration.terms import RESIDUAL, Term, fields_of_fewer_coordinates
from keraspinn.declaration.validation.shifted_arguments import image
from keraspinn.expressions import NormalComponent, Parameter, Program
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.image import At
from keraspinn.expressions.nodes import distinct_nodes

# What an equation may be missed by, of its largest term; and, where it has none, of
# what it could be.
MISSED, NOTHING = 0.3, 1e-6
# Of what a condition could be, below which a given value is rounding.
ROUNDING = 1e-12


def linearised(domain, terms, polynomials, offsets):
    """Yields a `Linearised` for each expression.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        polynomials: The `Polynomials` that stand for the fields.
        offsets: Dict from names of fields to what they are measured from.

    Raises:
        ValueError: If an expression or a derivative of it cannot be evaluated, or holds
            at more than one place at once.
    """
    for name, term in [*terms.items(), *_constancy(domain, terms)]:
        for k in range(len(term.expressions)):
            if len(term.regions) > 1:
                raise ValueError("It holds at more than one place at once.")
            yield Linearised(name, k, term, domain, polynomials, offsets)


def _constancy(domain, terms):
    """Yields terms that make fields of fewer coordinates constant along the others.

    All fields share one basis, in all coordinates.
    """
    for field in fields_of_fewer_coordinates(domain, terms.values()):
        full = field.func(*domain.coordinates)
        others = [s for s in domain.coordinates if s not in field.args]
        gradient = tuple(sp.Derivative(full, symbol) for symbol in others)
        yield RESIDUAL, Term(RESIDUAL, gradient, domain.blocks("interior"))


def stacked(rows, found, sizes):
    """What all rows miss, `(n,)`, and their derivatives by factors, `(n, f, count)`,
    of fields of some sizes; each row divided by how much it changes.
    """
    residuals, jacobians = [], []
    for row in rows:
        residual, jacobian = row(found)
        jacobian = jacobian * sizes[:, None]
        weight = np.linalg.norm(jacobian) or 1.0
        residuals.append(residual / weight)
        jacobians.append(jacobian / weight)
    return np.concatenate(residuals), np.concatenate(jacobians)


class Linearised:
    """One expression at its points, and its derivatives by the polynomials' factors.

    Args:
        name: Name of the term.
        place: Number of the expression in it.
        term: The `Term`.
        domain: The geometry.
        polynomials: The `Polynomials`.
        offsets: Dict from names of fields to what they are measured from.

    Attributes:
        is_linear: Whether it is linear in the fields.

    Raises:
        ValueError: If the expression or a derivative of it cannot be evaluated; also
            when called.
    """

    def __init__(self, name, place, term, domain, polynomials, offsets):
        self._is_equation = name == RESIDUAL
        self._is_mean = bool(term.regions)
        points, self._target = _places(domain, term, place, polynomials.points)
        moved = polynomials.moved(points)
        expression = shifted(term.pointwise[place], offsets)
        stand_ins, self._nodes, self._rates, places = {}, [], [], [moved]
        known, fields = list(domain.coordinates), []
        for node in distinct_nodes([expression]):
            if isinstance(node, Parameter):
                stand_ins[node] = sp.Float(node.initial)
            elif isinstance(node, NormalComponent):
                known.append(stand_ins.setdefault(node, sp.Dummy(real=True)))
                axis = domain.normal.index(node)
                normals = sampled_normals(
                    domain, term.blocks, polynomials.points, evenly=True
                )
                places.append(normals[:, [axis]])
            elif isinstance(node, (sp.Derivative, AppliedUndef, At)):
                fields.append(stand_ins.setdefault(node, sp.Dummy(real=True)))
                own, there = node, moved
                if isinstance(node, At):
                    own, there = node.node, image(node, domain.coordinates, moved)
                field, index = field_and_index(own, domain.coordinates)
                field = polynomials.field_names.index(field)
                self._nodes.append((field, polynomials.derivative(there, index)))
                self._rates.append(np.prod(domain.half ** -np.array(index, float)))
        plain = expression.xreplace(stand_ins)
        self._symbols = [*known, *fields]
        self._places = np.concatenate(places, axis=1)
        slopes = [plain.diff(symbol) for symbol in fields]
        self._program = Program([plain, *slopes], self._symbols)
        self.is_linear = not any(e.free_symbols & {*fields} for e in slopes)
        self._at_zero = None

    def __call__(self, found):
        """What the expression misses, `(n,)`, and its derivatives, `(n, f, count)`."""
        values, slopes = self._evaluated(found)
        jacobian = np.zeros((len(values), *found.shape))
        for (field, products), slope in zip(self._nodes, slopes, strict=True):
            jacobian[:, field] += slope[:, None] * products
        if self._is_mean:
            return values.mean(keepdims=True), jacobian.mean(axis=0, keepdims=True)
        return values, jacobian

    def is_solved(self, found, sizes):
        """Whether it is missed by little: of its terms, or of what they could be."""
        values, slopes = self._evaluated(found)
        pairs = zip(self._nodes, slopes, strict=True)
        terms = [slope * (own @ found[field]) for (field, own), slope in pairs]
        source = _rms(values - sum(terms))
        if len(terms) == 1 and self._is_equation:  # q' = 0 is zero, of what it could be
            terms = [slopes[0] * sizes[self._nodes[0][0]] * self._rates[0]]
        left, jacobian = self(found)
        possible = _rms(jacobian * sizes[:, None])
        if self._is_equation or not self.is_linear:
            allowed = max(MISSED * max(source, *map(_rms, terms)), NOTHING * possible)
        else:
            is_given = source > ROUNDING * possible
            allowed = MISSED * (source if is_given else possible)
        return _rms(left) <= allowed

    def _evaluated(self, found):
        """What the expression misses, and its derivatives by fields and their own."""
        nodes = [products @ found[field] for field, products in self._nodes]
        if not self.is_linear:
            return self._computed(nodes)
        if self._at_zero is None:
            self._at_zero = self._computed([0 * node for node in nodes])
        values, slopes = self._at_zero
        pairs = zip(slopes, nodes, strict=True)
        return values + sum(slope * node for slope, node in pairs), slopes

    def _computed(self, nodes):
        places = np.column_stack([self._places, *nodes])
        with backend.double_precision():
            values, *slopes = self._program.on_host(columns(self._symbols, places), {})
        return values - self._target, slopes


def _places(domain, term, place, count):
    """Points where an expression holds, `(n, d)`, and what it should equal there."""
    if term.table is None:
        return sampled(domain, term.blocks, count, evenly=True), 0.0
    points, values = term.table
    chosen = np.linspace(0, len(points) - 1, min(count, len(points))).astype(int)
    return points[chosen], values[chosen, place]


def _rms(values):
    return float(np.sqrt(np.mean(np.square(values))))
