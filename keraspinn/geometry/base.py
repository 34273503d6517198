"""Base class of geometries."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Self, SupportsFloat

import keras
import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from keraspinn.common import Registered, Tensor, html
from keraspinn.expressions import NormalComponent, from_json, to_json
from keraspinn.geometry.arrays import library, like
from keraspinn.geometry.checks import check_coordinates, check_values, names
from keraspinn.geometry.faces import at_values, beyond, inside_at, lying_on, restricted
from keraspinn.geometry.grids import grid_points
from keraspinn.geometry.part import Block, On, Part, quasi_random, relative_to


class Geometry(Registered):
    """Domain with coordinates, a bounding box and parts to sample from.

    The *parts* (`Part`) of a geometry are its interior and its faces. Users name parts
    by `on=`; `blocks` translates a name to *blocks*, tuples of parts that share one
    mean, such as the four sides of `"boundary"`. `sample` maps uniform numbers to
    points of a part. Points are *relative to the centre*, in the user's lengths, since
    a Unix time of 1.7e9 has no digits left in float32. All methods are pure functions
    of tensors or of NumPy arrays.

    `+`, `-` and `&` combine two shapes in the same coordinates, and `*` two in
    different ones, such as a shape and a time interval.

    To add one, copy `keraspinn/geometry/ball.py`. Its parts have `sample`, `contains`
    and `normals`. The geometry passes its symbols and its bounding box to `__init__`,
    sets `interior` and `boundary`, and keeps its arguments, the config, as attributes
    of the same names. Outside of this package register it with
    `keras.saving.register_keras_serializable`.

    Args:
        space: Spatial coordinates, SymPy symbols; `None` for a shape that takes them
            from the domain it is combined with.
        lower: Lower ends of the bounding box, of all coordinates, time last.
        upper: Upper ends.
        parameters: Coordinates that have no boundary.
        time: The time coordinate, if there is one.

    Attributes:
        time_coordinate: The symbol of time, or `None`.
        dimension: Number of coordinates, time included.
        has_coordinates: Whether its coordinates are declared.
        lower, upper, centre, half: The bounding box and its half extents, `(d,)`,
            float64, in the user's units.
        interior: The `Part` that covers the whole domain.
        boundary: Tuple of the parts that make up `"boundary"`.
        initial: The part at the initial time, or `None`.
        named: Dict from further names to tuples of parts.
        periodic: The periodic coordinates.
        operands: Geometries that `+`, `-`, `&` or `*` combined.

    Raises:
        TypeError: If a coordinate is not a SymPy symbol.
        ValueError: If the number of distinct coordinates differs from the bounding
            box's; by `coordinates` and properties made of them, if it has none.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> box = keraspinn.geometry.Box({x: (0, 1), y: (10, 12)})
    >>> ((right,),) = box.blocks({x: 1})
    >>> box.centre + box.sample(right, np.array([[0.3, 0.25]]))
    array([[ 1. , 10.5]])
    >>> box.normals(right, np.zeros((1, 2)))
    array([[1., 0.]])
    """

    interior: Part
    boundary: Block = ()
    named: dict[str, Block]
    initial: Part | None = None
    periodic: tuple[sp.Symbol, ...] = ()
    operands: tuple[Geometry, ...] = ()

    def __init__(
        self,
        space: Sequence[sp.Symbol] | None,
        lower: ArrayLike,
        upper: ArrayLike,
        parameters: Sequence[sp.Symbol] = (),
        time: sp.Symbol | None = None,
    ) -> None:
        last = () if time is None else (time,)
        self._space = None if space is None else tuple(space)
        self._coordinates = None if space is None else (*space, *parameters, *last)
        self.time_coordinate = time
        self.lower = np.asarray(lower, "float64")
        self.upper = np.asarray(upper, "float64")
        # Halve first: the sum of two large ends may overflow.
        self.centre = self.lower / 2 + self.upper / 2
        self.half = self.upper / 2 - self.lower / 2
        self.named = {}
        self.dimension = len(self.lower)
        self.has_coordinates = space is not None
        if self.has_coordinates:
            check_coordinates(self._coordinates, self.dimension)

    @property
    def coordinates(self) -> tuple[sp.Symbol, ...]:
        """Symbols in the order of the columns of points, time last."""
        return self._declared(self._coordinates)

    @property
    def space_coordinates(self) -> tuple[sp.Symbol, ...]:
        """Symbols of space, which have a boundary and a normal."""
        return self._declared(self._space)

    @property
    def intervals(self) -> dict[sp.Symbol, tuple[float, float]]:
        """Dict from the coordinates to the ends of the bounding box."""
        ends = zip(self.lower.tolist(), self.upper.tolist(), strict=True)
        return dict(zip(self.coordinates, ends, strict=True))

    @property
    def normal(self) -> tuple[NormalComponent, ...]:
        """Symbols for the outward unit normal, one per spatial coordinate."""
        return tuple(NormalComponent(symbol) for symbol in self.space_coordinates)

    def blocks(
        self, on: On, where: sp.Basic | Geometry | None = None
    ) -> tuple[Block, ...]:
        """Return the parts of the domain that `on=` of a `Condition` names.

        Args:
            on: `"interior"`, `"boundary"` (in space), `"initial"` (the initial time),
                the name of a part, a dict from coordinates to a value (`{y: 1}` is a
                face, `{x: 0, y: 0}` an edge or corner), a geometry, an `Interface`, or
                a list of these. A geometry selects the boundary inside it. If the
                domain was combined from that geometry, it selects the remains of its
                boundary.
            where: Optional SymPy relation in the coordinates, such as `x > 0`, that the
                points must fulfil, or a geometry that they must lie in.

        Returns:
            Tuple of blocks, one for each entry of a list, else one. A block is a
            tuple of parts.

        Raises:
            ValueError: If `on` names no part of this domain, or a part twice.
        """
        blocks = self._blocks(on)
        for index, block in enumerate(blocks):
            before = {part for other in blocks[:index] for part in other}
            if twice := [part for part in block if part in before]:
                raise ValueError(
                    "`on` names a part twice, which would count it twice. Received "
                    f"{on}: {' and '.join(map(str, twice))}. Name it once."
                )
        if where is not None:
            return tuple(restricted(self, block, where) for block in blocks)
        return blocks

    def _blocks(self, on):
        if not isinstance(on, (list, tuple)):
            return (self._block(on),)
        if not on:
            raise ValueError(f"`on` must not be empty. {self.advice()}")
        return tuple(block for entry in on for block in self._blocks(entry))

    def _block(self, on):
        from keraspinn.geometry.regions import Interface  # of geometries itself

        if isinstance(on, Interface):
            return on.block(self)
        if isinstance(on, Geometry):
            return lying_on(self, on)
        if isinstance(on, dict) and on:
            check_values(on)
            return self.faces(on)
        if block := self._words().get(on) if isinstance(on, str) else None:
            return block
        raise ValueError(f"`on` names no part of the domain: {on!r}. {self.advice()}")

    def _words(self):
        """Return a dict from the words of `on=` to their blocks."""
        words = {"interior": (self.interior,), "boundary": self.boundary, **self.named}
        return words if self.initial is None else words | {"initial": (self.initial,)}

    def faces(self, on: dict[sp.Symbol, SupportsFloat]) -> Block:
        """Return the block of a dict from coordinates to values.

        Raises:
            ValueError: If there is no such face.
        """
        block = self._at_values(on) if set(on) <= set(self.coordinates) else ()
        if not block:
            raise ValueError(
                f"`on` must be a part of the domain. Received {on}{beyond(self, on)}. "
                f"{self.advice()}"
            )
        return block

    def _at_values(self, on):
        """Return the block of values of known coordinates, or an empty one."""
        return at_values(self, on) or inside_at(self, on)

    def advice(self) -> str:
        """Return a sentence that lists the valid values of `on=`."""
        words = [f'"{word}"' for word, block in self._words().items() if block]
        return f"Write {', '.join([*words, *self._face_words()])}, or a list of these."

    def _face_words(self):
        return []

    def draws(self, part: Part) -> int:
        """Return the number of uniform numbers that a point of a part needs."""
        return self.dimension if part.draws is None else part.draws

    def sample(self, part: Part, uniform: Tensor) -> Tensor:
        """Sample points of a part, relative to the centre.

        Args:
            part: A part, from `blocks`.
            uniform: Numbers uniform in [0, 1), `(..., n, draws(part))`.

        Returns:
            Points `(..., n, d)` less `centre`, in the user's units.
        """
        return part.sample(uniform)

    def absolute(self, part: Part, points: Tensor) -> Tensor:
        """Return points in the user's units, exact in the coordinates a part fixes.

        Args:
            part: The part that the points are of.
            points: Points `(..., n, d)` less `centre`.
        """
        coordinates = points + like(self.centre, points)
        for column, value in self.fixed(part):
            here = np.arange(self.dimension) == column
            coordinates = library(points).where(here, like(value, points), coordinates)
        return coordinates

    def fixed(self, part: Part) -> Sequence[tuple[int, float]]:
        """Return (column, value) pairs that a part fixes, in the user's units."""
        return ()

    def contains(self, part: Part, points: Tensor) -> Tensor:
        """Test which points `(..., n, d)`, relative to the centre, lie on a part.

        The tolerance is 1e-6 of each coordinate's extent. Returns booleans `(..., n)`.
        """
        return part.contains(points)

    def normals(self, part: Part, points: Tensor) -> Tensor:
        """Return outward unit normals at points of a part, `(..., n, spatial)`.

        Raises:
            ValueError: If the part has none: the interior, an edge, a moment.
        """
        return part.normals(points)

    def measure(self, part: Part) -> float:
        """Return the length, area, volume or duration of a part, in the user's units.

        Raises:
            ValueError: If it is not known.
        """
        return part.measure()

    def distance(self, block: Part | Block) -> sp.Expr:
        """Return a smooth function that vanishes on a part, or on each part of a block.

        Hard constraints multiply the network by it. It is dimensionless, of magnitude
        one, zero on the part to first order and positive elsewhere in the domain.

        Args:
            block: A part, or a block.

        Returns:
            SymPy expression in the coordinates; for several parts the product.

        Raises:
            ValueError: If none is known.
        """
        parts = block if isinstance(block, tuple) else (block,)
        relative = relative_to(self.centre, self.coordinates)
        return sp.Mul(*[part.distance(relative) for part in parts])

    def grid(self, n: int | None = None) -> np.ndarray:
        """Return equidistant points inside the domain, in the user's units, float64.

        Args:
            n: Number of points per side of the bounding box, ends included. The default
                is 100 in one and two dimensions and fewer above, at most 200,000 points
                in all. Above 17 dimensions, quasi-random points replace the grid.

        Returns:
            Array `(N, d)`, the last column fastest.

        Raises:
            ValueError: If `n` is not an integer from 2, or the grid would not fit in
                memory.
        """
        return grid_points(self, n)

    def with_coordinates(self, symbols: Sequence[sp.Symbol]) -> Self:
        """Return the same shape in other coordinates."""
        config = {**self.get_config(), "coordinates": [to_json(s) for s in symbols]}
        return type(self).from_config(config)

    def split(self, symbols: Iterable[sp.Symbol]) -> tuple[Geometry, Geometry]:
        """Split a product into the factor in some coordinates and the rest.

        Raises:
            ValueError: If it is not such a product.
        """
        raise ValueError(
            f"{self} is not a product with a factor in {names(symbols)} alone."
        )

    def __add__(self, other: Geometry) -> Geometry:
        return self._combined("+", other)

    def __sub__(self, other: Geometry) -> Geometry:
        return self._combined("-", other)

    def __and__(self, other: Geometry) -> Geometry:
        return self._combined("&", other)

    def __mul__(self, other: Geometry) -> Geometry:
        return self._combined("*", other)

    def _combined(self, sign, other):
        from keraspinn.geometry.boolean import combine

        if not isinstance(other, Geometry):
            return NotImplemented
        return combine(sign, self, other)

    def __str__(self):
        return f"{type(self).__name__} in {', '.join(names(self.coordinates))}"

    def __repr__(self):
        name, text = type(self).__name__, str(self)
        return text if text.startswith(name) else f"<{name}: {text}>"

    def _repr_html_(self):
        if self._coordinates is None:
            return html.paragraphs(repr(self))
        rows = [(symbol, *ends) for symbol, ends in self.intervals.items()]
        shown = html.table(("Coordinate", "from", "to"), rows)
        if self.dimension == 2:
            uniform = quasi_random(600, self.draws(self.interior))
            points = np.asarray(self.sample(self.interior, uniform))
            shown += html.dots(points, len(self.space_coordinates) == 2)
        return html.paragraphs(repr(self)) + shown

    def get_config(self):
        """Return the arguments of `__init__`, whose arrays become lists.

        They are attributes of the same names, or `_name` if parts have the name.
        """
        names, known = inspect.signature(type(self)).parameters, vars(self)
        stored = {name: known.get(f"_{name}", known.get(name)) for name in names}
        plain = keras.tree.map_structure(lambda v: np.asarray(v).tolist(), stored)
        symbols = self._coordinates and [to_json(s) for s in self._coordinates]
        return {**plain, "coordinates": symbols}

    @classmethod
    def from_config(cls, config):
        symbols = config["coordinates"]
        symbols = symbols and tuple(map(from_json, symbols))
        return cls(**{**config, "coordinates": symbols})

    def _declared(self, symbols):
        if symbols is None:
            raise ValueError(
                f"{self} has no coordinates. Write coordinates=(x, y, ...) where it is "
                "made, or combine it with a domain that has them."
            )
        return symbols
