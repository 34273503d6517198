"""Scales of coordinates, fields and terms, which make training nondimensional."""

from collections.abc import Mapping, Sequence
from typing import Self, SupportsFloat

import numpy as np
import sympy as sp

from keraspinn.common import Configured, Registered
from keraspinn.common.checks import finite_number, positive_number
from keraspinn.expressions import At, Field, from_json, to_json
from keraspinn.geometry import Geometry, exact_number


class Scales(Registered, Configured):
    """Units that a problem is trained in.

    Training uses coordinates ξ = (x − centre) / half and fields
    û = (u − offset) / size, and divides each equation by a scale, so that values and
    derivatives are of order one in any units. A derivative of order k has a
    coordinate's scale to the power −k. All inputs and outputs remain in the user's
    units.

    Args:
        coordinates: Dict from each coordinate to its `(centre, half)`, in its unit.
        fields: Dict from names of fields to their scales; 1 for those left out.
        terms: Dict from names of terms to lists with a scale for each of the term's
            expressions; 1 for those left out.
        offsets: Dict from names of fields to their offsets, such as 293 K for a
            temperature; 0 for those left out.

    Raises:
        ValueError: If a scale is not a positive finite number, or if a centre or an
            offset is not finite.

    Example:

    >>> x = sp.Symbol("x")
    >>> u = sp.Function("u")(x)
    >>> scales = keraspinn.Scales({x: (1.0, 0.5)}, fields={"u": 3.0})
    >>> scales.apply(u.diff(x, 2), size=12.0)
    1.0*Derivative(u(x), (x, 2))
    """

    def __init__(
        self,
        coordinates: Mapping[sp.Symbol, tuple[SupportsFloat, SupportsFloat]],
        fields: Mapping[str, SupportsFloat] | None = None,
        terms: Mapping[str, Sequence[SupportsFloat]] | None = None,
        offsets: Mapping[str, SupportsFloat] | None = None,
    ) -> None:
        self.coordinates = {
            symbol: (
                finite_number(f"centre of {symbol}", centre),
                positive_number(f"half of {symbol}", half),
            )
            for symbol, (centre, half) in coordinates.items()
        }
        self.fields = _checked(positive_number, "size", fields)
        self.terms = {
            name: tuple(positive_number(f"size of {name}", size) for size in sizes)
            for name, sizes in (terms or {}).items()
        }
        self.offsets = _checked(finite_number, "offset", offsets)

    @classmethod
    def standardized(cls, domain: Geometry) -> Self:
        """Return scales with coordinates of zero mean and unit variance.

        Args:
            domain: A geometry.
        """
        pairs = zip(domain.centre, domain.half, strict=True)
        standardized = [(centre, half / np.sqrt(3)) for centre, half in pairs]
        return cls(dict(zip(domain.coordinates, standardized, strict=True)))

    @classmethod
    def raw(cls, domain: Geometry) -> Self:
        """Return scales that change nothing.

        Args:
            domain: A geometry.
        """
        return cls(dict.fromkeys(domain.coordinates, (0.0, 1.0)))

    @property
    def centre(self) -> np.ndarray:
        """Centres of the coordinates, a float64 array `(d,)`."""
        return np.array([centre for centre, _ in self.coordinates.values()])

    @property
    def half(self) -> np.ndarray:
        """Scales of the coordinates, a float64 array `(d,)`."""
        return np.array([half for _, half in self.coordinates.values()])

    def in_scaled(self, symbols):
        """Return a dict from the coordinates to expressions in scaled ones, exact.

        Args:
            symbols: The symbols of the scaled coordinates, in the same order.
        """
        pairs = zip(self.coordinates.items(), symbols, strict=True)
        return {s: exact_number(c) + exact_number(h) * xi for (s, (c, h)), xi in pairs}

    def field(self, name: str) -> float:
        """Return the scale of a field."""
        return self.fields.get(name, 1.0)

    def offset(self, name: str) -> float:
        """Return the offset of a field."""
        return self.offsets.get(name, 0.0)

    def sizes(self, term):
        """Return the scales of a term's expressions, a tuple.

        Args:
            term: A `declaration.terms.Term`.
        """
        return self.terms.get(term.name, (1.0,) * len(term.expressions))

    def apply(self, expression: sp.Expr, size: float = 1.0) -> sp.Expr:
        """Rewrite an expression in scaled fields, and divide it by its scale.

        Explicit coordinates in it stay in the user's units.

        Args:
            expression: Normalized SymPy expression in the user's units.
            size: The expression's scale.
        """
        nodes = expression.atoms(Field, sp.Derivative)
        factors = {node: self._in_units(node, node) for node in nodes}
        factors |= {n: self._in_units(n.node, n) for n in expression.atoms(At)}
        scaled = expression.xreplace(factors)  # outermost nodes only
        return scaled if size == 1 else _times(1.0 / size, scaled)

    def _in_units(self, node, scaled):
        if isinstance(node, Field):
            name = node.func.__name__
            product = _times(self.field(name), scaled)
            return product + self.offset(name) if self.offset(name) else product
        factor = self.field(node.expr.func.__name__)
        for symbol, count in node.variable_count:
            _, half = self.coordinates.get(symbol, (0.0, 1.0))  # offsets need none
            factor /= half ** int(count)
        return _times(factor, scaled)

    def __repr__(self):
        return f"<Scales: {'; '.join(str(self).splitlines())}>"

    def __str__(self):
        lines = []
        for symbol, (centre, half) in self.coordinates.items():
            lines.append(f"{symbol} = {centre:.4g} + {half:.4g} ξ")
        for name, size in self.fields.items():
            offset = f"{self.offset(name):.6g} + " if self.offset(name) else ""
            lines.append(f"{name} = {offset}{size:.4g} û")
        for name, sizes in self.terms.items():
            lines.append(f"{name} / {', '.join(f'{size:.4g}' for size in sizes)}")
        return "\n".join(lines)

    def get_config(self):
        pairs = self.coordinates.items()
        return {
            "coordinates": [[to_json(symbol), *pair] for symbol, pair in pairs],
            "fields": dict(self.fields),
            "terms": {name: list(sizes) for name, sizes in self.terms.items()},
            "offsets": dict(self.offsets),
        }

    @classmethod
    def from_config(cls, config):
        coordinates = {from_json(s): tuple(pair) for s, *pair in config["coordinates"]}
        offsets = config.get("offsets")
        return cls(coordinates, config["fields"], config["terms"], offsets)


def _checked(check, kind, numbers):
    """Return a dict from names to numbers as floats; empty for `None`."""
    return {name: check(f"{kind} of {name}", n) for name, n in (numbers or {}).items()}


def _times(factor, expression):
    """Multiply an expression by a number, term by term."""
    if factor == 1:
        return expression
    if isinstance(expression, sp.Add):
        return sp.Add(*(_times(factor, term) for term in expression.args))
    return sp.Float(factor) * expression
