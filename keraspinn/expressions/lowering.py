"""Translation of SymPy nodes to steps on a tape."""

import functools
import math

import sympy as sp
from keras import ops

from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.field import Field
from keraspinn.expressions.image import At
from keraspinn.expressions.nodes import NODES, check_supported
from keraspinn.expressions.splines import spline_of
from keraspinn.expressions.tabulated import Interpolation

# Decimal digits of constants: three more than float64's 17, against round-off.
_DIGITS = 20


class Lowering:
    """Translator that writes expressions on a tape.

    Inside a branch of a `Piecewise` every input passes through a gate (see `gate`), so
    a SymPy node may have another slot there than outside.
    """

    def __init__(self, tape, coordinates, mask=None):
        self._tape = tape
        self._coordinates = coordinates
        self._mask = mask
        self._slots = {}

    def lower(self, node):
        """Return the slot that holds a node's value."""
        if node not in self._slots:
            self._slots[node] = self._lower(node)
        return self._slots[node]

    def _lower(self, node):
        if node in (sp.true, sp.false):
            return self._tape.constant(bool(node))
        if node.is_number:
            return self._tape.constant(float_value(node))
        if isinstance(node, (sp.Derivative, Field)):
            return self._input(field_and_index(node, self._coordinates))
        if isinstance(node, At):
            key = field_and_index(node.node, self._coordinates)
            return self._input((node.images, key))
        if isinstance(node, sp.Symbol):
            kind = "coordinate" if node in self._coordinates else "parameter"
            return self._input((kind, node.name))
        if isinstance(node, sp.Add):
            return self._sum(node)
        if isinstance(node, sp.Mul):
            return self._product(node)
        if isinstance(node, sp.Pow):
            return self._power(*node.args)
        if isinstance(node, sp.Piecewise):
            return self._piecewise(node)
        if isinstance(node, Interpolation):
            node.table.check_order()
            slots = (self.lower(argument) for argument in node.arguments)
            return self._tape.apply(spline_of(node.table), *slots)
        check_supported(node)
        slots = (self.lower(argument) for argument in node.args)
        return self._tape.apply(NODES[type(node)], *slots)

    def _input(self, key):
        slot = self._tape.input(key)
        return slot if self._mask is None else self._tape.apply(gate, self._mask, slot)

    def _sum(self, node):
        number, terms = self._folded(node)
        return self._joined(ops.add, [*map(self.lower, terms), *number])

    def _product(self, node):
        number, factors = self._folded(node)
        powers = {f: _whole(f.exp) or 0 for f in factors if isinstance(f, sp.Pow)}
        below = [f for f in factors if powers.get(f, 0) < 0]
        above = [self.lower(f) for f in factors if f not in below]
        if not above:
            above, number = number or [self._tape.constant(1.0)], []
        # One division rounds once, and products without their number may be shared.
        product = self._joined(ops.multiply, above)
        for factor in below:
            divisor = self._whole_power(self.lower(factor.base), -powers[factor])
            product = self._tape.apply(ops.divide, product, divisor)
        return self._joined(ops.multiply, [product, *number])

    def _folded(self, node):
        """Return a list with one slot for all numbers, and the other arguments."""
        numbers = [a for a in node.args if a.is_number]
        rest = [a for a in node.args if not a.is_number]
        if not numbers:
            return [], rest
        number = node.func(*numbers, evaluate=False)
        return [self._tape.constant(float_value(number))], rest

    def _joined(self, operation, slots):
        return functools.reduce(functools.partial(self._tape.apply, operation), slots)

    def _power(self, base, exponent):
        slot = self.lower(base)
        if (whole := _whole(exponent)) is not None:
            power = self._whole_power(slot, abs(whole))
            return power if whole >= 0 else self._tape.apply(ops.reciprocal, power)
        if exponent == sp.Rational(1, 2):
            return self._tape.apply(ops.sqrt, slot)
        if exponent == sp.Rational(-1, 2):
            return self._tape.apply(ops.rsqrt, slot)
        return self._tape.apply(ops.power, slot, self.lower(exponent))

    def _whole_power(self, slot, exponent):
        # Repeated squaring: unlike `ops.power`, its gradient is finite for every
        # base, and x**4 shares x**2 with the rest of the tape.
        if exponent == 0:
            return self._tape.constant(1.0)
        if exponent == 1:
            return slot
        if exponent % 2:
            power = self._whole_power(slot, exponent - 1)
            return self._tape.apply(ops.multiply, power, slot)
        return self._tape.apply(ops.square, self._whole_power(slot, exponent // 2))

    def _piecewise(self, node):
        """Write the branches; where no condition holds, the value is NaN."""
        cases, left = [], None
        for expression, condition in node.args:
            chosen = None if condition == sp.true else self.lower(condition)
            mask = self._both(left, chosen)
            branch = self if mask is None else self._branch(mask)
            cases.append((mask, branch.lower(expression)))
            if chosen is None:
                break
            left = self._both(left, self._tape.apply(ops.logical_not, chosen))
        else:
            cases.append((None, self._tape.constant(math.nan)))
        _, value = cases.pop()
        for mask, branch in reversed(cases):
            value = self._tape.apply(ops.where, mask, branch, value)
        return value

    def _both(self, left, right):
        if left is None or right is None:
            return right if left is None else left
        return self._tape.apply(ops.logical_and, left, right)

    def _branch(self, mask):
        return Lowering(self._tape, self._coordinates, self._both(self._mask, mask))


def gate(mask, tensor):
    """Keep values, and stop gradients where the mask is false.

    A `Piecewise` evaluates each branch at every point. Where it is not chosen, its
    gradient is multiplied by zero, and zero times the infinite derivative of sqrt(0)
    is NaN. The gradient of `where` selects instead, so this gate drops the NaN.
    """
    return ops.where(mask, tensor, ops.stop_gradient(tensor))


def float_value(node):
    """Return the value of a numeric expression as a Python float.

    Raises:
        ValueError: If the value is not a real number within the range of float64.
    """
    try:
        value = float(node.evalf(_DIGITS))
    except (TypeError, OverflowError):
        value = math.nan
    is_tiny = isinstance(node, sp.Float) and value == 0 != node
    if not math.isfinite(value) or is_tiny:
        raise ValueError(
            "A constant must be a real number that float64 can hold. Received "
            f"{sp.sstr(node)[:100]}. SymPy evaluates exp(a) in exp(a + b*x) if a is a "
            "float: write a as a fraction, and a front as (1 + tanh(z))/2."
        )
    return value


def _whole(exponent):
    """Return a moderate whole exponent as an int, or None for others."""
    if not isinstance(exponent, (sp.Integer, sp.Float)) or abs(exponent) > 1024:
        return None
    return int(exponent) if exponent == int(exponent) else None
