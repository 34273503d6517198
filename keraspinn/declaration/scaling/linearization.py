"""Linearization of equations and conditions in polynomial coefficients."""

import numpy as np
import sympy as sp

from keraspinn.declaration.field_parts import parts_of_fields
from keraspinn.declaration.probe_points import probe_normals, run_at
from keraspinn.declaration.scaling.polynomials import Polynomials
from keraspinn.declaration.scaling.scales import Scales
from keraspinn.declaration.terms import RESIDUAL, Term, fields_of_fewer_coordinates
from keraspinn.declaration.validation.shifted_arguments import shifted_points
from keraspinn.expressions import At, Field, NormalComponent, Parameter, Program
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.nodes import distinct_nodes

# Largest residual of a solved equation, relative to its largest term.
LARGEST_RESIDUAL = 0.3
# The same of an oscillator, which with a larger one has left its force.
LARGEST_STRICTLY = 0.01
# Largest residual of an equation whose terms vanish, relative to their possible values.
LARGEST_ZERO = 1e-6
# Relative to its possible values, a smaller value of a condition is round-off.
ROUND_OFF = 1e-12
# Norm of a column of a Jacobian relative to the largest, below which it is round-off.
NEGLIGIBLE = 1e-13


def discretize(domain, terms, field_names, degree, fixed, offsets, *how):
    """Return `Polynomials` for the fields, and the `Linearization`s in these, a list.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        field_names: Names of the fields.
        degree: As for `Polynomials`.
        fixed: Dict from coordinates without derivatives to a value for each.
        offsets: Dict from names of fields to their offsets.
        *how: Share and density, as for `Polynomials`.

    Raises:
        ValueError: As `linearize` does.
    """
    parts = parts_of_fields(domain, terms, field_names)
    polynomials = Polynomials(domain, field_names, degree, fixed, parts, *how)
    return polynomials, list(linearize(domain, terms, polynomials, offsets))


def linearize(domain, terms, polynomials, offsets):
    """Yield a `Linearization` for each expression.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        polynomials: The `Polynomials` that stand for the fields.
        offsets: Dict from names of fields to their offsets.

    Raises:
        ValueError: If an expression or a derivative of it cannot be evaluated, or holds
            integrals over several regions.
    """
    for term in [*terms.values(), *_constancy(domain, terms)]:
        for k in range(len(term.expressions)):
            if len(term.regions) > 1:
                raise ValueError("It holds integrals over several regions.")
            yield Linearization(k, term, domain, polynomials, offsets)


def _constancy(domain, terms):
    """Yield terms that make fields of fewer coordinates constant along the others.

    All fields have the same basis, in all coordinates.
    """
    for field in fields_of_fewer_coordinates(domain, terms.values()):
        full = field.func(*domain.coordinates)
        others = [s for s in domain.coordinates if s not in field.args]
        gradient = tuple(sp.Derivative(full, symbol) for symbol in others)
        yield Term(RESIDUAL, gradient, domain.blocks("interior"), labels=(RESIDUAL,))


def stack_rows(rows, coefficients, sizes):
    """Return all residuals, `(n,)`, and their Jacobian, `(n, f · count)`.

    Fields are scaled by `sizes`, and each row by the norm of its Jacobian.

    Raises:
        ValueError: If a number is not finite.
    """
    residuals, jacobians = [], []
    for row in rows:
        residual, jacobian = row(coefficients)
        jacobian = (jacobian * sizes[:, None]).reshape(len(residual), -1)
        if not (np.isfinite(residual).all() and np.isfinite(jacobian).all()):
            raise ValueError("Residuals or their derivatives are not finite.")
        weight = np.linalg.norm(jacobian) or 1.0
        residuals.append(residual / weight)
        jacobians.append(jacobian / weight)
    return np.concatenate(residuals), np.concatenate(jacobians)


def unit_columns(jacobian):
    """Return a Jacobian with columns of norm one, and their norms.

    Large derivatives of high degrees would hide low degrees. Round-off stays small.
    """
    norms = np.linalg.norm(jacobian, axis=0)
    largest = norms.max() or 1.0
    norms = np.where(norms > NEGLIGIBLE * largest, norms, largest)
    return jacobian / norms, norms


class Linearization:
    """One expression at its points, and its Jacobian by polynomial coefficients.

    Args:
        number: Number of the expression in it.
        term: The `Term`.
        domain: The geometry.
        polynomials: The `Polynomials`.
        offsets: Dict from names of fields to their offsets.

    Attributes:
        is_equation: Whether it is an equation, not a condition.
        is_linear: Whether it is linear in the fields.

    Raises:
        ValueError: If the expression or a derivative of it cannot be evaluated; also
            when called.
    """

    def __init__(self, number, term, domain, polynomials, offsets):
        self.is_equation = term.is_equation
        self._is_mean = bool(term.regions)
        points, target = term.points(domain, polynomials.points), term.targets(number)
        if term.table is not None:
            count = min(polynomials.points, len(points))
            chosen = np.linspace(0, len(points) - 1, count).astype(int)
            points, target = points[chosen], target[chosen]
        points, self._target = polynomials.with_fixed_values(points), target
        expression = Scales({}, offsets=offsets).apply(term.pointwise[number])
        stand_ins, self._nodes, self._rates, inputs = {}, [], [], [points]
        known, fields = list(domain.coordinates), []
        for node in distinct_nodes([expression]):
            if isinstance(node, Parameter):
                stand_ins[node] = sp.Float(node.initial)
            elif isinstance(node, NormalComponent):
                known.append(stand_ins.setdefault(node, sp.Dummy(real=True)))
                normals = probe_normals(domain, term.blocks, polynomials.points)
                inputs.append(normals[:, [domain.normal.index(node)]])
            elif isinstance(node, (sp.Derivative, Field, At)):
                fields.append(stand_ins.setdefault(node, sp.Dummy(real=True)))
                inner, arguments = node, points
                if isinstance(node, At):
                    inner = node.node
                    arguments = shifted_points(node, domain, points)
                field, index = field_and_index(inner, domain.coordinates)
                field = polynomials.field_names.index(field)
                values = polynomials.derivative(arguments, index, field)
                self._nodes.append((field, values))
                self._rates.append(np.prod(domain.half ** -np.array(index, float)))
        plain = expression.xreplace(stand_ins)
        self._symbols = [*known, *fields]
        self._inputs = np.concatenate(inputs, axis=1)
        # An integral is a sum of hundreds of fields.
        summands = [(s, s.free_symbols) for s in sp.Add.make_args(plain)]
        gradient = [sp.Add(*(s.diff(f) for s, a in summands if f in a)) for f in fields]
        self._program = Program([plain, *gradient], self._symbols)
        self.is_linear = not any(e.free_symbols & {*fields} for e in gradient)
        self._summands = [] if self.is_linear else [s for s, _ in summands]

    def __call__(self, coefficients):
        """Return the residual, `(n,)`, and its Jacobian, `(n, f, count)`."""
        values, gradient = self._evaluate(coefficients)
        jacobian = np.zeros((len(values), *coefficients.shape))
        for (field, products), factor in zip(self._nodes, gradient, strict=True):
            jacobian[:, field] += factor[:, None] * products
        if self._is_mean:
            return values.mean(keepdims=True), jacobian.mean(axis=0, keepdims=True)
        return values, jacobian

    def is_solved(self, coefficients, sizes, is_strict):
        """Return whether the residual is small, relative to the (possible) terms.

        A strict answer allows less, and functions of fields count by their values, too:
        far from zero, sin(u) is much smaller than u cos(u).
        """
        largest_residual = LARGEST_STRICTLY if is_strict else LARGEST_RESIDUAL
        values, gradient = self._evaluate(coefficients)
        pairs = zip(self._nodes, gradient, strict=True)
        terms = [factor * (p @ coefficients[field]) for (field, p), factor in pairs]
        source = rms(values - sum(terms))
        if len(terms) == 1 and self.is_equation:  # q' = 0, relative to a possible q'
            terms = [gradient[0] * sizes[self._nodes[0][0]] * self._rates[0]]
        residual, jacobian = self(coefficients)
        possible = rms(jacobian * sizes[:, None])
        if self.is_equation or not self.is_linear:
            largest = max(source, *map(rms, terms))
            allowed = max(largest_residual * largest, LARGEST_ZERO * possible)
        else:
            has_source = source > ROUND_OFF * possible
            allowed = largest_residual * (source if has_source else possible)
        if is_strict and len(self._summands) > 1:
            program = Program(self._summands, self._symbols)
            values = run_at(program, self._symbols, self._inputs_at(coefficients))
            largest = max(map(rms, [self._target, *values]))
            allowed = min(allowed, largest_residual * largest)
        return rms(residual) <= allowed

    def _evaluate(self, coefficients):
        """Return the residual, and its gradient by fields and their derivatives."""
        inputs = self._inputs_at(coefficients)
        values, *gradient = run_at(self._program, self._symbols, inputs)
        return values - self._target, gradient

    def _inputs_at(self, coefficients):
        nodes = [products @ coefficients[field] for field, products in self._nodes]
        return np.column_stack([self._inputs, *nodes])


def rms(values):
    """Return the root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))
