"""Loss terms as data: residuals, and the parts or points where they vanish."""

import dataclasses
import itertools
import json

import numpy as np
import sympy as sp

from keraspinn.common.checks import point_array
from keraspinn.declaration.conditions import Data
from keraspinn.declaration.energy import check_loads
from keraspinn.declaration.integrals import resolve_parts
from keraspinn.declaration.parts import part_to_json, place_to_json
from keraspinn.declaration.probe_points import PROBES, probe_points
from keraspinn.expressions import Field, NormalComponent, PartIntegral, fields_of
from keraspinn.expressions.image import with_sums

# Names of the equations' loss term, and of an energy's loss in logs.
RESIDUAL, ENERGY = "residual", "energy"
# Share of a part on another, above which the two overlap.
LARGEST_SHARE = 0.01


@dataclasses.dataclass(frozen=True, eq=False)
class Term:
    """Expressions that should vanish on parts of a domain, at points they share.

    The term's loss is the sum, over its expressions and blocks, of mean squares.

    Attributes:
        name: The term's name in logs.
        expressions: Tuple of normalized expressions, in the user's units.
        blocks: Tuple of blocks, each a tuple of the domain's parts over which one mean
            is taken; empty for tabulated values.
        labels: Tuple of names that the expressions' losses have in the logs; empty if
            they are not logged.
        table: Points `(n, d)` and targets `(n, k)` as float64 arrays, in the user's
            units; `None` if the targets are zero and points are sampled.
        hard: Whether it holds by construction, and is no term of the loss.
        regions: Tuple of the regions of the expressions' integrals, whose parts are
            the blocks; empty if expressions hold at points.
        sizes: Tuple of the regions' lengths, areas or volumes, in the user's units.
        is_energy: Whether the expression is an energy, which is to be least.
        weight: The loss weight λ that training starts with.
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
    weight: float = 1.0

    @property
    def is_equation(self):
        """True for equations of the problem, or its energy."""
        return bool(self.labels)

    @property
    def names(self):
        """Name of each expression in messages, the term's for a condition."""
        return self.labels or (self.name,) * len(self.expressions)

    @property
    def parts(self):
        """Parts of all blocks, in their order."""
        return tuple(part for block in self.blocks for part in block)

    def points(self, domain, count=PROBES):
        """Return the points of a table, or `count` probe points on each part.

        Args:
            domain: The domain.
            count: Integer.
        """
        if self.table is not None:
            return self.table[0]
        return probe_points(domain, self.blocks, count)

    def targets(self, number):
        """Return the target values of an expression, `(n,)`, or one zero."""
        return np.zeros(1) if self.table is None else self.table[1][:, number]

    @property
    def pointwise(self):
        """Expressions at points, with integrands times sizes for integrals."""
        sizes = dict(zip(self.regions, self.sizes, strict=True))
        return tuple(
            expression.replace(PartIntegral, lambda e, region: sizes[region] * e)
            for expression in self.expressions
        )

    @property
    def densities(self):
        """Pairs of an energy's density and the block where it is integrated."""
        integrals = self.expressions[0].atoms(PartIntegral)
        by_region = {integral.region: integral.integrand for integral in integrals}
        pairs = zip(self.regions, self.blocks, strict=True)
        return [(by_region[region], block) for region, block in pairs]

    @property
    def holds_normals(self):
        """True if an expression holds a component of the outward normal."""
        return any(e.has(NormalComponent) for e in self.expressions)

    def check_normals(self, domain):
        """Raise `ValueError` if a part lacks the normals that expressions hold.

        Args:
            domain: The domain.
        """
        integrals = {i for e in self.expressions for i in e.atoms(PartIntegral)}
        needing = {i.region for i in integrals if i.has(NormalComponent)}
        needed = [region in needing for region in self.regions]
        needed = needed or [self.holds_normals] * len(self.blocks)
        for block, is_needed in zip(self.blocks, needed, strict=True):
            for part in block if is_needed else ():
                if error := missing_normals_error(domain, part):
                    raise ValueError(f"In condition '{self.name}': {error}") from error

    def check_points(self, domain, points):
        """Raise `ValueError` unless all points are on blocks, and each block has one.

        Args:
            domain: The domain.
            points: Array `(n, d)`.
        """
        if self.table is not None:
            raise ValueError(
                f"'{self.name}' is a Data term, which has fixed points; leave it out "
                "of the points."
            )
        if self.regions:
            raise ValueError(
                f"'{self.name}' is a condition on integrals, whose points are sampled "
                "evenly; leave it out of the points, and set their number by "
                f"batch_size={{'{self.name}': 2048}}."
            )
        relative = points - domain.centre
        on_blocks = np.array([is_on(domain, b, relative) for b in self.blocks])
        blocks = " or ".join(sorted(set(map(str, self.parts))))
        where = f"must lie where it holds: {blocks}"
        _check_inside(on_blocks.any(axis=0), points, f"'{self.name}'", where)
        for block, is_here in zip(self.blocks, on_blocks, strict=True):
            if not is_here.any():
                raise ValueError(
                    f"The points of '{self.name}' leave out "
                    f"{' and '.join(map(str, block))}. Add points there, or leave "
                    f"'{self.name}' out, and all of its points are sampled."
                )


def equation_expressions(terms):
    """Return the expressions of all equations, in any part of the domain.

    Args:
        terms: Dict from names to `Term`s.
    """
    return tuple(expressions_of(t for t in terms.values() if t.is_equation))


def expressions_of(terms):
    """Return a list of the expressions of an iterable of `Term`s."""
    return [expression for term in terms for expression in term.expressions]


def condition_terms(terms):
    """Return a list of the `Term`s of conditions and data.

    Args:
        terms: Dict from names to `Term`s.
    """
    return [term for term in terms.values() if not term.is_equation]


def is_on(domain, block, points):
    """Return the mask of points `(n, d)`, relative to the centre, on a block.

    Args:
        domain: The geometry.
        block: Tuple of its parts.
        points: Array.
    """
    return np.any([np.asarray(domain.contains(p, points)) for p in block], axis=0)


def count_conditions(domain, terms, points):
    """Return how many equations of conditions hold at each point, `(n,)`.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        points: Array `(n, d)`, relative to the centre.
    """
    pairs = [(len(t.expressions), t.parts) for t in condition_terms(terms)]
    held = (number * is_on(domain, parts, points) for number, parts in pairs)
    return sum(held, np.zeros(len(points), int))


def fields_of_fewer_coordinates(domain, terms):
    """Return a sorted list of the fields that lack some of a domain's coordinates.

    Args:
        domain: The geometry.
        terms: Iterable of `Term`s.
    """
    fields = set().union(*(e.atoms(Field) for e in expressions_of(terms)))
    return sorted([f for f in fields if set(f.args) < set(domain.coordinates)], key=str)


def missing_normals_error(domain, part):
    """Return the error of a part without normals, or `None`.

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


def check_duplicates(terms, domain):
    """Raise `ValueError` if two conditions prescribe the same quantity on one face.

    A repeated u = 0 counts twice, and u = 0 contradicts u = 1.

    Args:
        terms: Dict from names to `Term`s.
        domain: The domain.
    """
    equations = [(term, e) for term in condition_terms(terms) for e in term.expressions]
    for (one, first), (other, second) in itertools.combinations(equations, 2):
        if not _is_alike(first, second):
            continue
        both = itertools.product({*one.parts}, {*other.parts})
        if shared := sorted({str(p) for p, part in both if _overlap(domain, p, part)}):
            names = f"Condition '{one.name}' prescribes"
            if one is not other:
                names = f"Conditions '{one.name}' and '{other.name}' prescribe"
            raise ValueError(
                f"{names} the same quantity twice on {' and '.join(shared)}: "
                f"{first} = 0 and {second} = 0. Declare it once: if faces differ, name "
                "each in the `on=` of a separate condition instead of 'boundary'."
            )


def _is_alike(first, second):
    """Return whether expressions differ only by a factor and terms without fields."""
    factors = []
    for expression in (first, second):
        pairs = (t.as_coeff_Mul() for t in sp.Add.make_args(sp.expand(expression)))
        factors.append({term: number for number, term in pairs if fields_of([term])})
    one, other = factors
    return set(one) == set(other) and len({one[term] / other[term] for term in one}) < 2


def _overlap(domain, part, other):
    """Return whether two parts overlap, not only at an edge."""
    for one, another in (part, other), (other, part):
        points = probe_points(domain, ((one,),)) - domain.centre
        if part != other and np.mean(domain.contains(another, points)) <= LARGEST_SHARE:
            return False
    return True


def energy_of(domain, densities):
    """Return the `Term` of an energy, in place of that of equations.

    Args:
        domain: The geometry.
        densities: Dict from `Region`s to normalized expressions.
    """
    blocks = tuple(resolve_parts(region, domain) for region in densities)
    integrals = (PartIntegral(density, region) for region, density in densities.items())
    sizes = tuple(sum(map(domain.measure, block)) for block in blocks)
    how = {"regions": tuple(densities), "sizes": sizes, "is_energy": True}
    term = Term(RESIDUAL, (sp.Add(*integrals),), blocks, (ENERGY,), **how)
    term.check_normals(domain)
    return term


def build_terms(domain, equations, conditions, fields, densities):
    """Return a dict from names to `Term`s of a problem, `"residual"` first.

    Args:
        domain: The geometry.
        equations: Dict from names to `Equation`s. Those of one part share points; the
            first part's are `"residual"`, others are called by their names.
        conditions: Dict from names to `Condition` and `Data`.
        fields: Tuple of the fields, applied to their coordinates.
        densities: Dict from `Region`s to the densities of an energy, in place of
            equations if there are any.
    """

    def summed(expressions):
        return with_sums(tuple(expressions), domain.coordinates, fields=fields)

    parts: dict = {}
    everywhere_first = sorted(equations, key=lambda n: not equations[n].is_everywhere)
    for name in everywhere_first:
        on, where = equations[name].on, equations[name].where
        key = json.dumps([part_to_json(on), place_to_json(where)])
        parts.setdefault(key, []).append(name)
    terms = {RESIDUAL: energy_of(domain, densities)} if densities else {}
    for names in parts.values():
        expressions = summed(equations[name].expression for name in names)
        blocks = equations[names[0]].blocks(domain)
        name = " + ".join(names) if terms else RESIDUAL
        terms[name] = Term(name, expressions, blocks, labels=tuple(names))
    for name, condition in conditions.items():
        expressions = summed(condition.expressions)
        if isinstance(condition, Data):
            check_points(f"Data '{name}'", condition.points, domain)
            how = {"table": (condition.points, condition.targets)}
        else:
            blocks, regions = condition.blocks(domain), condition.regions
            sizes = tuple(sum(map(domain.measure, b)) for b in blocks if regions)
            how = {"blocks": blocks, "regions": regions, "sizes": sizes}
            how["hard"] = condition.hard
        terms[name] = Term(name, expressions, weight=condition.weight, **how)
        terms[name].check_normals(domain)
    if densities:
        check_loads(terms)
    return terms


def check_points(owner, points, domain):
    """Raise `ValueError` unless points `(n, d)` lie in a domain.

    Args:
        owner: Name of their owner in errors.
        points: Array.
        domain: The geometry.
    """
    names = [symbol.name for symbol in domain.coordinates]
    point_array(f"points of {owner}", points, names)
    inside = domain.contains(domain.interior, points - domain.centre)
    where = f"must lie in the domain, {domain}, with columns {names}"
    _check_inside(inside, points, owner, where)


def _check_inside(is_inside, points, owner, where):
    if not np.all(is_inside):
        row = int(np.argmin(is_inside))
        raise ValueError(
            f"The points of {owner} {where}. Received: {points[row]} in row {row}."
        )
