"""Loss terms as data: what should vanish, and where."""

import dataclasses
import itertools

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.declaration.conditions import Data
from keraspinn.declaration.integrals import parts_of
from keraspinn.declaration.probe_points import sampled
from keraspinn.declaration.validation.equations import ENERGY, RESIDUAL
from keraspinn.expressions import NormalComponent, PartIntegral, fields_of
from keraspinn.expressions.image import with_sums

_TRIED, _SHARED = 256, 0.01  # points of a part, and the share that makes it the same


@dataclasses.dataclass(frozen=True, eq=False)
class Term:
    """Expressions that should vanish on parts of a domain, at points they share.

    The term's loss is the sum, over its expressions and blocks, of mean squares.

    Attributes:
        name: The term's name in logs.
        expressions: Tuple of normalized expressions, in the user's units.
        blocks: Tuple of blocks, each a tuple of the domain's parts over which one mean
            is taken; empty for tabulated values.
        labels: Tuple of the names under which the expressions' own losses are logged;
            empty where they have none.
        table: Points `(n, d)` and targets `(n, k)` as float64 arrays, in the user's
            units; `None` where the targets are zero and points are drawn.
        hard: Whether it holds by construction, and is no term of the loss.
        regions: Tuple of the regions that the expressions' integrals are taken over,
            whose parts are the blocks; empty where expressions hold at points.
        sizes: Tuple of the regions' lengths, areas or volumes, in the user's units.
        is_energy: Whether the expression is an energy, which is to be least.
    """

    name: str
    expressions: tuple
    blocks: tuple = ()
    labels: tuple = ()
    table: tuple | None = None
    hard: bool = False
    regions: tuple = ()
    sizes: tuple = ()
    is_energy: bool = False

    @property
    def pointwise(self):
        """Expressions at points that are as large as these: integrands times sizes."""
        sizes = dict(zip(self.regions, self.sizes, strict=True))
        return tuple(
            expression.replace(
                lambda node: isinstance(node, PartIntegral),
                lambda node: sizes[node.region] * node.integrand,
            )
            for expression in self.expressions
        )

    @property
    def holds_normals(self):
        """Whether an expression holds a component of the outward normal."""
        return any(e.has(NormalComponent) for e in self.expressions)

    def check_normals(self, domain):
        """Raises `ValueError` unless there is a normal wherever one is asked for.

        Args:
            domain: The domain.
        """
        if not self.holds_normals:
            return
        if self.table is not None:
            raise ValueError(
                f"Data '{self.name}' holds the outward normal, which points inside of "
                "the domain do not have. Give values of the normal's components there."
            )
        for part in self._parts_with_normals():
            if error := lack_of_normals(domain, part):
                raise ValueError(f"In condition '{self.name}': {error}") from error

    def _parts_with_normals(self):
        """The parts on which an expression holds a component of the normal."""
        integrals = {i for e in self.expressions for i in e.atoms(PartIntegral)}
        needing = {i.region for i in integrals if i.has(NormalComponent)}
        for place, block in enumerate(self.blocks):
            if not self.regions or self.regions[place] in needing:
                yield from block

    def check_points(self, domain, points):
        """Raises `ValueError` unless every point is on a block, and each has some.

        Args:
            domain: The domain.
            points: Array `(n, d)`.
        """
        if self.table is not None:
            raise ValueError(
                f"'{self.name}' is a Data term, which brings its own points; leave it "
                "out of the points given."
            )
        if self.regions:
            raise ValueError(
                f"'{self.name}' is a condition on integrals, whose points are drawn "
                "evenly; leave it out of the points given, and set how many there are "
                f"by batch_size={{'{self.name}': 2048}}."
            )
        relative = points - domain.centre
        on_blocks = np.array(
            [
                np.any([domain.contains(part, relative) for part in block], axis=0)
                for block in self.blocks
            ]
        )
        astray = np.flatnonzero(~on_blocks.any(axis=0))
        if len(astray):
            row = int(astray[0])
            parts = {str(part) for block in self.blocks for part in block}
            where = " or ".join(sorted(parts))
            raise ValueError(
                f"The points of '{self.name}' must lie where it holds: "
                f"{where}. Received: {points[row]} in row {row}."
            )
        if not on_blocks.any(axis=1).all():
            empty = self.blocks[int(np.flatnonzero(~on_blocks.any(axis=1))[0])]
            raise ValueError(
                f"The points of '{self.name}' leave out "
                f"{' and '.join(map(str, empty))}. Give some there too, or "
                f"leave '{self.name}' out, and all of its points are drawn."
            )


def fields_of_fewer_coordinates(domain, terms):
    """Fields that depend on some of a domain's coordinates alone: a sorted list.

    Args:
        domain: The geometry.
        terms: Iterable of `Term`s.
    """
    expressions = [e for term in terms for e in term.expressions]
    fields = set().union(*(e.atoms(AppliedUndef) for e in expressions))
    fewer = [f for f in fields if set(f.args) < set(domain.coordinates)]
    return sorted(fewer, key=str)


def lack_of_normals(domain, part):
    """The error by which a part has no normals, or `None` if it has.

    Args:
        domain: The geometry.
        part: One of its parts.
    """
    try:  # a circle has none at its centre, which may be the domain's
        with np.errstate(invalid="ignore"):
            domain.normals(part, np.zeros((1, domain.dimension)))
    except ValueError as error:
        return error
    return None


def check_said_once(terms, domain):
    """Raises `ValueError` where two conditions say what the same is on one face.

    Two of u = 0 count it twice; u = 0 and u = 1 end between the two.

    Args:
        terms: Iterable of the conditions' `Term`s.
        domain: The domain.
    """
    said = [
        (term.name, expression, {part for block in term.blocks for part in block})
        for term in terms
        for expression in term.expressions
    ]
    for (name, first, parts), (other, second, others) in itertools.combinations(
        said, 2
    ):
        if not _is_alike(first, second):
            continue
        shared = sorted({str(p) for p in _overlap(domain, parts, others)})
        if shared:
            who = f"Condition '{name}' says"
            if name != other:
                who = f"Conditions '{name}' and '{other}' say"
            raise ValueError(
                f"{who} twice what the same is on {' and '.join(shared)}: "
                f"{first} = 0 and {second} = 0. Say it once: where faces differ, name "
                "each in the `on=` of its own condition instead of 'boundary'."
            )


def _is_alike(first, second):
    """Whether expressions differ by a factor, and by what holds no field, alone."""
    factors = []
    for expression in (first, second):
        pairs = (t.as_coeff_Mul() for t in sp.Add.make_args(sp.expand(expression)))
        factors.append({term: number for number, term in pairs if fields_of([term])})
    one, other = factors
    return set(one) == set(other) and len({one[term] / other[term] for term in one}) < 2


def _overlap(domain, parts, others):
    """Those of some parts that share more with one of others than where they meet."""
    for part, other in itertools.product(parts, others):
        pairs = (part, other), (other, part)
        if part == other or all(_share(domain, *pair) > _SHARED for pair in pairs):
            yield part


def _share(domain, part, other):
    """How much of a part lies on another."""
    points = sampled(domain, ((part,),), _TRIED) - domain.centre
    return np.mean(domain.contains(other, points))


def energy_of(domain, densities):
    """Return the `Term` of an energy, in place of that of equations.

    Args:
        domain: The geometry.
        densities: Dict from `Region`s to normalized expressions.
    """
    blocks = tuple(parts_of(region, domain) for region in densities)
    own = (PartIntegral(density, region) for region, density in densities.items())
    term = Term(
        RESIDUAL,
        (sp.Add(*own),),
        blocks,
        labels=(ENERGY,),
        regions=tuple(densities),
        sizes=tuple(sum(map(domain.measure, block)) for block in blocks),
        is_energy=True,
    )
    term.check_normals(domain)
    return term


def terms_of(domain, equations, conditions, fields, densities):
    """Dict from names to the `Term`s of equations and conditions, `"residual"` first.

    Args:
        domain: The geometry.
        equations: Dict from names to normalized expressions.
        conditions: Dict from names to `Condition` and `Data`.
        fields: Tuple of the fields, applied to their coordinates.
        densities: Dict from `Region`s to the densities of an energy, in place of
            equations if there are any.
    """

    def summed(expressions):
        return with_sums(tuple(expressions), domain.coordinates, fields=fields)

    terms = {
        RESIDUAL: energy_of(domain, densities)
        if densities
        else Term(
            RESIDUAL,
            summed(equations.values()),
            domain.blocks("interior"),
            labels=tuple(equations),
        )
    }
    for name, condition in conditions.items():
        expressions = summed(condition.expressions)
        if isinstance(condition, Data):
            check_points(f"Data '{name}'", condition.points, domain)
            table = condition.points, condition.targets
            terms[name] = Term(name, expressions, table=table)
        else:
            blocks, regions = condition.blocks(domain), condition.regions
            terms[name] = Term(
                name,
                expressions,
                blocks,
                hard=condition.hard,
                regions=regions,
                sizes=tuple(sum(map(domain.measure, b)) for b in blocks if regions),
            )
        terms[name].check_normals(domain)
    return terms


def check_points(what, points, domain):
    """Raises `ValueError` unless points `(n, d)` lie in a domain.

    Args:
        what: What brings them, as errors call it.
        points: Array.
        domain: The geometry.
    """
    names = [symbol.name for symbol in domain.coordinates]
    if points.shape[1] != len(names):
        raise ValueError(
            f"The points of {what} must have a column for each of the coordinates "
            f"{names}. Received: shape {points.shape}"
        )
    ((interior,),) = domain.blocks("interior")
    astray = np.flatnonzero(~domain.contains(interior, points - domain.centre))
    if len(astray):
        row = int(astray[0])
        raise ValueError(
            f"The points of {what} must lie in the domain, {domain}, with columns "
            f"{names}. Received: {points[row]} in row {row}."
        )
