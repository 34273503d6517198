"""Detection of missing boundary and initial conditions.

Finite elements insulate a part of the boundary without a condition. A network does not:
the problem is underdetermined, and the loss is as small for any of its solutions.
"""

import numpy as np
import sympy as sp

from keraspinn.declaration.formulas import collect_parameters, shorten
from keraspinn.declaration.probe_points import probe_points
from keraspinn.declaration.terms import (
    condition_terms,
    equation_expressions,
    expressions_of,
    fields_of_fewer_coordinates,
    missing_normals_error,
)
from keraspinn.declaration.validation.initial_parts import (
    SMALLEST_SHARE,
    equations_at,
    initial_parts_without_conditions,
)
from keraspinn.declaration.validation.normal_order import ORDER_POINTS, NormalOrder
from keraspinn.declaration.validation.shifted_arguments import shifted_points
from keraspinn.expressions import At, distinct_nodes, fields_of, required_derivatives
from keraspinn.geometry.checks import written

# Points that show along which coordinates a part extends.
EXTENT_POINTS = 4
# Parts that a message names.
PARTS_IN_MESSAGE = 3

_CONSEQUENCE = (
    "The problem is underdetermined: infinitely many fields solve it, and training may "
    "converge to any of these. "
)
_ARCHITECTURE = "Declare conditions that the network's architecture satisfies too."


def describe_missing_conditions(domain, terms):
    """Return a sentence on missing boundary or initial conditions, or "".

    A part of the boundary needs a condition if the order of the equations across it is
    two or more, unless another part has as many conditions as this order, such as the
    initial conditions of a wave. It needs half as many as this order if no part has
    more and others have these: the order is an upper bound. The check is skipped with
    `Data`, which may replace conditions, without any condition, and for advection.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s, hard ones included.
    """
    parts = parts_without_conditions(domain, terms)
    if not parts:
        if any(_fills_volume(domain, term) for term in condition_terms(terms)):
            return ""
        initial = _describe_missing_initial_condition(domain, terms)
        return initial or _describe_missing_sensor(domain, terms)
    texts = []
    for part, share, point in parts[:PARTS_IN_MESSAGE]:
        pairs = zip(domain.coordinates, point, strict=True)
        near = ", ".join(f"{symbol} = {written(value)}" for symbol, value in pairs)
        prefix = "" if share == 1 else f"{share:.0%} of "
        texts.append(f"{prefix}{part} (at {near})")
    if len(parts) > PARTS_IN_MESSAGE:
        texts.append(f"{len(parts) - PARTS_IN_MESSAGE} more")
    or_else = ", or one more elsewhere" if len(domain.space_coordinates) < 2 else ""
    return (
        f"A condition is missing on {', '.join(texts)}: the equations need one there, "
        f"beside any declared{or_else}. {_CONSEQUENCE}"
        f"{_describe_insulation(domain, terms)}{_ARCHITECTURE}"
    )


def _describe_missing_initial_condition(domain, terms):
    """Return a sentence if single times have fewer equations than the order in time."""
    time, conditions = domain.time_coordinate, condition_terms(terms)
    if time is None or time in domain.periodic or not conditions:
        return ""
    initial = [t for t in conditions if _count_at_values(domain, t, time)]
    known = set().union(*(shorten(e).atoms() for e in expressions_of(initial)))
    for subject, values, order, count in _orders_in_time(domain, terms, initial):
        if count < order:
            missing = [f"{value.name} - ..." for value in values if value not in known]
            free = collect_parameters(expressions_of(terms.values()))
            if free and not missing:
                return describe_free_parameters(free)
            return (
                f"An initial condition is missing: {subject} of order {order} in "
                f"{time}, and conditions hold {_number(count)} at single times. "
                f"{_CONSEQUENCE}Declare keraspinn.Condition([{', '.join(missing)}], "
                f'on="initial"), or a condition at another time. {_ARCHITECTURE}'
            )
    return ""


def describe_free_parameters(parameters):
    """Return the sentence that nothing determines the values of parameters."""
    names = ", ".join(parameter.name for parameter in parameters)
    return (
        "The problem is underdetermined: equations and conditions have a solution for "
        f"any value of {names}. Add Data or a condition, or write a number."
    )


def _number(count):
    return "one equation" if count == 1 else f"{max(count, 0) or 'no'} equations"


def _describe_missing_sensor(domain, terms):
    """Return a sentence if nothing determines fields of fewer coordinates.

    A source q(t) in a plane needs a condition beside those that the boundary and the
    start need: at a point, an integral, or one more on a face. Unknown functions of
    space may follow from values at a later time.
    """
    time, equations = domain.time_coordinate, equation_expressions(terms)
    fewer = fields_of_fewer_coordinates(domain, terms.values())
    unknown = [f.func.__name__ for f in fewer if time is None or time in f.args]
    free = len(fields_of(expressions_of(terms.values()))) - len(equations)
    conditions = condition_terms(terms)
    is_shifted = any(e.has(At) for e in expressions_of(conditions))
    if not unknown or is_shifted or len(domain.space_coordinates) < 2:
        return ""
    inside = [t for t in conditions if not (time and _count_at_values(domain, t, time))]
    inside = [t for t in inside if not any(n for n, _ in _equations_across(domain, t))]
    count = sum(len(term.expressions) for term in inside)
    counted = [pair for term in conditions for pair in _equations_across(domain, term)]
    for order, here in _orders_across(domain, terms, counted):
        count += max(here.max() - order // 2, 0)
    if count >= min(free, len(unknown)):
        return ""
    return (
        f"A condition is missing that determines {' or '.join(unknown)}. "
        f"{_CONSEQUENCE}Declare a measured value, keraspinn.Condition(u - ..., "
        f"on={{x: 0.5, y: 0.5}}) or Data, or an equation of {unknown[0]}."
    )


def _orders_across(domain, terms, counted=(), count=ORDER_POINTS):
    """Yield the order of the equations across each piece of the boundary.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        counted: Pairs as of `_counted_parts`, whose number at the piece's points is
            yielded beside the order.
        count: Number of points at which the order is determined, `None` for all.
    """
    order = NormalOrder(domain, equation_expressions(terms))
    for piece in _pieces(domain):
        points, here, *_ = _count_at_points(domain, piece, counted, ())
        yield order.order(piece, points[:count]), here


def _pieces(domain):
    return [piece for part in domain.boundary for piece in part.pieces()]


def _orders_in_time(domain, terms, initial):
    """Yield tuples of a subject, initial values, order in time, and conditions.

    Data on a side may replace initial conditions where waves are infinitely fast, so
    that the order across the side is larger than that in time, as for heat. Along a
    line, so may conditions at the ends beyond the order there, such as u and u_x of a
    wave, as far as waves reach.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        initial: Those with conditions at single times.
    """
    equations = equation_expressions(terms)
    values = [value for _, value in _initial_values(domain, equations)]
    count = sum(_count_at_values(domain, t, domain.time_coordinate) for t in initial)
    if domain.dimension == 1:  # integrals count too
        count = _count_in_all(domain, terms)
    elif domain.dimension == 2:
        orders = [order for order, _ in _orders_across(domain, terms, count=None)]
        if along := min(orders, default=0):
            ends = _count_along(domain, terms, *domain.space_coordinates)
            count += max(ends - along, 0)
    if count < len(values):  # an upper bound of the order
        pairs = _orders_across(domain, terms, _counted_parts(domain, terms))
        sides = (n for n, held in pairs if np.quantile(held, SMALLEST_SHARE) >= n)
        order = NormalOrder(domain, equations).order_in_time()
        if order >= max(sides, default=0):  # of Cauchy data
            yield "together the equations are", values, order, count
    expressions = expressions_of(terms.values())
    for field in fields_of_fewer_coordinates(domain, terms.values()):
        within = [e for e in expressions if e.has(field)]
        if any(len(fields_of([e])) > 1 and not e.has(sp.Derivative) for e in within):
            continue  # M = u: the initial value of u determines it
        name = field.func.__name__
        coupled = [e for e in within if len(fields_of([e])) > 1]
        values = [v for n, v in _initial_values(domain, coupled) if n == name]
        count = sum(e.has(field) for e in expressions_of(initial))
        yield f"the equations of {name} are", values, len(values), count


def _initial_values(domain, equations):
    """Yield names of fields with u, u_t, … for initial values, as `shorten` does."""
    for field, indices in required_derivatives(equations, domain.coordinates).items():
        for count in range(max(index[-1] for index in indices)):  # time is last
            suffix = domain.time_coordinate.name * count
            yield field, sp.Symbol(f"{field}_{suffix}" if suffix else field)


def _count_at_values(domain, term, symbol):
    """Count the equations of a condition that hold at single values of a coordinate."""
    column = domain.coordinates.index(symbol)
    extents = [_extent(domain, part)[column] for part in term.parts]
    return len(term.expressions) * extents.count(0)


def _fills_volume(domain, term):
    """Return whether a condition holds in part of the interior, as `Data` may."""
    return term.table is not None or any(
        part is not domain.interior  # as an equation holds
        and missing_normals_error(domain, part)
        and _extent(domain, part).all()
        for part in (() if term.regions else term.parts)
    )


def _extent(domain, part):
    """Return the extents of a part's points along the coordinates, `(d,)`."""
    return np.ptp(probe_points(domain, ((part,),), EXTENT_POINTS), axis=0)


def _describe_insulation(domain, terms):
    """Return advice on insulated walls if a field obeys a second-order equation."""
    needed = required_derivatives(equation_expressions(terms), domain.coordinates)
    diffusive = [f for f, indices in needed.items() if max(map(sum, indices)) == 2]
    if not diffusive:
        return ""
    pairs = [(t.parts, e) for t in condition_terms(terms) for e in t.expressions]
    given = [fields_of([e]) for parts, e in pairs for _ in parts]
    field = min(diffusive, key=lambda name: sum(name in names for names in given))
    return (
        "Unlike in finite elements, a part without a condition is not insulated. For "
        "zero flux, declare keraspinn.Condition(keraspinn.normal_derivative("
        f"{field}, domain), on=...). "
    )


def parts_without_conditions(domain, terms):
    """Return the parts of the boundary on which a condition is missing.

    Returns:
        List of tuples of a part, the share of it without a condition, and a point
        there, in the user's units.
    """
    conditions = condition_terms(terms)
    if not conditions or any(term.table is not None for term in conditions):
        return []
    counted = _counted_parts(domain, terms)
    shifted = [p for term in conditions for p in _shifted_points(domain, term)]
    pieces = _pieces(domain)
    counts = [_count_at_points(domain, piece, counted, shifted) for piece in pieces]
    # Conditions on a fraction of a part may determine the fields.
    each = (np.quantile(count, 1 - SMALLEST_SHARE) for _, count, *_ in counts)
    highest, in_all = max(each, default=0), _count_in_all(domain, terms)
    missing, orders, most = [], {}, max(highest, in_all or 0)  # so may values inside
    if in_all is not None and domain.dimension == 2:  # the end with fewest lacks one
        most, fewest = in_all, min((count.mean() for _, count, *_ in counts), default=0)
        for _, count, has_condition, _ in counts:
            if SMALLEST_SHARE < np.mean(count == 0) < 1 - SMALLEST_SHARE:
                most -= 1  # at other times
            else:
                has_condition[:] = count.mean() > fewest
    for piece, (points, count, has_condition, is_exact) in zip(
        pieces, counts, strict=True
    ):
        few = is_exact & (count > 0) & (count < highest)
        few &= in_all is None or domain.dimension == 1
        for expressions, is_here in equations_at(domain, terms, points):
            for lacks, half in (~has_condition, None), (few, highest):
                bare = points[is_here & lacks]
                if len(bare) <= SMALLEST_SHARE * len(points):
                    continue
                if expressions not in orders:
                    orders[expressions] = NormalOrder(domain, expressions)
                order = orders[expressions].order(piece, bare[:ORDER_POINTS])
                if order > max(most, 1) and half in (None, order // 2):
                    point = np.asarray(domain.absolute(piece, bare[:1]))[0]
                    missing.append((piece, len(bare) / len(points), point))
    return missing + initial_parts_without_conditions(domain, terms)


def _counted_parts(domain, terms):
    """Return pairs of a number of equations and the part across which they hold.

    The number is -1 for each field of fewer coordinates that a part's conditions must
    determine first, unless sensors elsewhere do.
    """
    conditions = condition_terms(terms)
    pairs = [p for t in conditions for p in _equations_across(domain, t)]
    repeated = [part for t in conditions for part in t.parts for _ in t.expressions]
    sensors = [(part, tuple(_extent(domain, part) > 0)) for part in repeated]
    for field in fields_of_fewer_coordinates(domain, terms.values()):
        axes = [domain.coordinates.index(symbol) for symbol in field.args]
        within = [t for t in terms.values() if any(e.has(field) for e in t.expressions)]
        parts = {p for t in within for p in t.parts if _extent(domain, p)[axes].all()}
        varies = tuple(symbol in field.args for symbol in domain.coordinates)
        fitting = (s for s in sensors if s[1] == varies and s[0] not in parts)
        sensor = next(fitting, None)
        if sensor and domain.dimension > 2:
            sensors.remove(sensor)
        elif len(parts) == 1 and not missing_normals_error(domain, *parts):
            pairs.append((-1, *parts))
    return pairs


def _equations_across(domain, term):
    """Yield pairs of a condition's number of equations across a part, and the part."""
    number = len(term.expressions)
    if any(e.has(At) for e in term.expressions):  # half of them for each of two sides
        number = (number + 1) // 2
    for part in term.parts:
        is_face = not missing_normals_error(domain, part)
        if is_face or not (term.regions or part is domain.interior):
            yield number if is_face and not term.regions else 0, part


def _count_in_all(domain, terms):
    """Count the equations of conditions along the only coordinate in space.

    They need not be on certain ends. `None` for systems in time, which may need fewer
    than their order, for integrals in time, and in more dimensions.
    """
    conditions = condition_terms(terms)
    if domain.dimension == 1:
        count = sum(len(t.expressions) * max(len(t.blocks), 1) for t in conditions)
        return count - len(collect_parameters(expressions_of(terms.values())))
    is_one = len(equation_expressions(terms)) == 1 == len(domain.space_coordinates)
    in_time = domain.time_coordinate is not None and domain.dimension == 2
    if not (is_one and in_time) or any(t.regions for t in conditions):
        return None
    return _count_along(domain, terms, *domain.space_coordinates)


def _count_along(domain, terms, symbol):
    """Count the equations of conditions at single values of a coordinate.

    Fields that do not depend on it need one each, beside their equations and the
    conditions that hold everywhere, such as integrals along it.
    """
    names = fields_of(expressions_of(terms.values()))
    conditions = condition_terms(terms)
    count = sum(_count_at_values(domain, term, symbol) for term in conditions)
    fewer = fields_of_fewer_coordinates(domain, terms.values())
    without = sum(symbol not in field.args for field in fewer)
    whole, lacking = domain.blocks("interior"), len(names)
    lacking -= len(equation_expressions(terms))
    inside = [t for t in conditions if t.blocks == whole and not t.regions]
    lacking = max(lacking - len(expressions_of(inside)), min(lacking, 0))
    return count - min(without, lacking)


def _shifted_points(domain, term):
    """Yield the points at which a condition takes shifted fields, relative arrays."""
    for node in distinct_nodes(term.expressions, At):
        points = probe_points(domain, term.blocks)
        yield shifted_points(node, domain, points) - domain.centre


def _count_at_points(domain, piece, counted, shifted):
    """Return points of a piece, equations at each, and which have a condition.

    The last result is false where fields of fewer coordinates or conditions of the
    opposite side make the number inexact.
    """
    points = probe_points(domain, ((piece,),)) - domain.centre
    count = np.zeros(len(points))
    has_condition, is_used = np.zeros((2, len(points)), bool)
    for number, part in counted:
        is_here = part is piece or np.asarray(domain.contains(part, points))
        count, has_condition = count + number * is_here, has_condition | is_here
        is_used = is_used | (is_here & (number < 0))
    has_condition &= ~is_used | (count > 0)
    shares = (np.mean(domain.contains(piece, p)) for p in shifted)
    is_opposite = any(share > SMALLEST_SHARE for share in shares)
    return points, count, has_condition | is_opposite, ~(is_used | is_opposite)
