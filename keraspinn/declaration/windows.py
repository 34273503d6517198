"""A problem restricted to a time window."""

import keras
import numpy as np
import sympy as sp

from keraspinn.common.checks import is_whole
from keraspinn.declaration.conditions import Data, Reference
from keraspinn.declaration.field_parts import attributes_of
from keraspinn.declaration.probe_points import evaluate_at, probe_points
from keraspinn.declaration.scaling.scales import Scales
from keraspinn.declaration.terms import RESIDUAL, build_terms, expressions_of
from keraspinn.expressions import At, PartIntegral, required_derivatives, to_json

# Column of the time in points: the last.
TIME = -1
# Points of a term that show whether it holds at the initial time alone.
INITIAL_POINTS = 16
# Factor by which rates of change may exceed the estimate from the other terms, which is
# low where a field varies within a small part of the domain.
MARGIN = 10.0
# Relative difference up to which lengths or edges of windows are equal.
ROUND_OFF = 1e-9


def orders_in_time(problem):
    """Return the order in time of each field, a list, from its highest derivative.

    Args:
        problem: The `Problem`.

    Raises:
        ValueError: If the problem has no time or has unknown parameters, or a field has
            a higher order than 2 or does not depend on time.
    """
    time = problem.domain.time_coordinate
    if time is None:
        raise ValueError(
            "Time windows need a domain with time, as keraspinn.geometry.Box({x: "
            "(0, 1)}, time={t: (0, 1)}). The problem is steady: train a PINNModel, or "
            f"use keraspinn.solve. Received: {problem.domain}"
        )
    if problem.parameters:
        raise ValueError(
            "Time windows are trained one after another and cannot share unknown "
            f"parameters. Received: {[p.name for p in problem.parameters]}. Train one "
            "PINNModel over all of time, or give the parameters numbers."
        )
    terms = problem.all_terms.values()
    for term in terms:
        if times := later_times(problem.domain, term):
            raise ValueError(
                "Time windows are trained from the initial time on, one after another. "
                f"Received: '{term.names[0]}', which holds at or relates "
                f"{time} = {max(times):g}. Train one PINNModel over all of time, or "
                "use keraspinn.solve."
            )
    later = (t for t in terms if t.blocks and not _is_initial(t, problem.domain))
    needed = required_derivatives(expressions_of(later), problem.coordinates)
    orders = []
    for field in problem.fields:
        if time not in field.args:
            arguments = ", ".join(map(str, (*field.args, time)))
            raise ValueError(
                f"The field {field} does not depend on {time} and would differ from "
                f"window to window. Write {field.func}({arguments}) with the equation "
                "that its time derivative is zero, or train one model over all times."
            )
        name = field.func.__name__
        orders.append(max((index[TIME] for index in needed.get(name, ())), default=0))
        if orders[-1] > 2:
            raise ValueError(
                "Time windows continue fields of first and second order in time. "
                f"{name} has order {orders[-1]}: write {name}_t as a separate field."
            )
    return orders


def later_times(domain, term):
    """Return the times after the first that a term holds at or relates, a set.

    An integral over all of time that is not zero relates the last.
    """
    time, column = domain.time_coordinate, domain.dimension - 1
    fixed = [pair for part in term.parts for pair in domain.fixed(part)]
    times = {float(value) for k, value in fixed if k == column}
    images = [i for e in term.expressions for at in e.atoms(At) for i in at.images]
    times |= {float(v) for s, v in images if s == time and v.is_number}
    numbers = [e.replace(PartIntegral, lambda *_: sp.S.Zero) for e in term.expressions]
    is_later = any((v - time).is_positive for s, v in images if s == time)
    if is_later or (term.regions and not times and any(numbers)):
        times.add(float(domain.upper[TIME]))
    return times - {float(domain.lower[TIME])}


def _is_initial(term, domain):
    """Return whether a term with blocks holds at the initial time alone."""
    times = probe_points(domain, term.blocks, INITIAL_POINTS)[:, TIME]
    return bool(np.ptp(times) == 0 and times[0] <= domain.lower[TIME])


def restricted(problem, start, end):
    """Return a problem on a time window; after the first, without initial conditions.

    Hard conditions keep the form that they have over all of time, so that they hold
    in every window.

    Args:
        problem: The `Problem` over all of time.
        start: Start of the window, in the unit of time.
        end: End of the window.
    """
    domain = _in_time(problem.domain, start, end)
    is_first = start <= problem.domain.lower[TIME]
    conditions = {}
    for name, condition in problem.conditions.items():
        if isinstance(condition, Data):
            times = condition.points[:, TIME]
            inside = (start <= times) & (times <= end)
            points, targets = condition.points[inside], condition.targets[inside]
            if inside.any():
                values = dict(zip(condition.expressions, targets.T, strict=True))
                conditions[name] = Data(points, values, condition.weight)
        elif is_first or not _is_initial(problem.all_terms[name], problem.domain):
            conditions[name] = condition
    terms = build_terms(domain, problem._declared, conditions, problem.fields, {})
    attributes = attributes_of(domain, conditions, terms, problem.field_names)
    if isinstance(problem.reference, Reference):
        attributes["reference"] = None
    return problem._with(**attributes).with_scales(dict(problem.scales.fields))


def in_window_scales(problem, window):
    """Return a window's problem in its scales, and the scale of each network output.

    Over a short window, a field over its length is far above the rate of change that
    the equation's other terms allow. Both the equation and the network's output are
    scaled by that rate: in the first millisecond of a slow reaction, a field changes
    little. The factor φ of a hard initial condition is small there, too, and divides
    the output's scale.

    Args:
        problem: The `Problem` over all of time.
        window: The same, restricted to the window.
    """
    shares, sizes = dict.fromkeys(problem.field_names, 0.0), dict(window.scales.terms)
    for name, term in window.terms.items():
        if not term.is_equation or name not in sizes:
            continue
        pairs = zip(problem.scales.sizes(problem.terms[name]), sizes[name], strict=True)
        ratios = [min(1.0, MARGIN * rate / size) for rate, size in pairs]
        sizes[name] = [s * r for s, r in zip(sizes[name], ratios, strict=True)]
        for expression, ratio in zip(term.expressions, ratios, strict=True):
            needed = required_derivatives([expression], problem.coordinates)
            for field, indices in needed.items():
                if any(index[TIME] for index in indices):
                    shares[field] = max(shares[field], ratio)
    if any(t.blocks and _is_initial(t, window.domain) for t in window.terms.values()):
        shares = dict.fromkeys(shares, 1.0)  # the network has the initial values, too
    scales = window.scales
    changed = Scales(scales.coordinates, scales.fields, sizes, scales.offsets)
    points = probe_points(window.domain, window.terms[RESIDUAL].blocks, INITIAL_POINTS)
    changes = []
    for name, share in shares.items():
        change = scales.field(name) * (share or 1.0)
        if form := problem.hard.get(name):
            (factor,) = evaluate_at([form.factor], problem.coordinates, points)
            change /= float(abs(factor).max())
        changes.append(change)
    return window.with_scales(changed), changes


def differ_in_time_only(one, other):
    """Return whether the terms of two windows hold at the same points later in time.

    Args:
        one: A problem restricted to a window.
        other: The same problem, restricted to another.
    """
    lengths = [2 * window.domain.half[TIME] for window in (one, other)]
    if not np.isclose(*lengths, rtol=ROUND_OFF) or [*one.terms] != [*other.terms]:
        return False
    later = np.zeros(one.domain.dimension)
    later[TIME] = other.domain.lower[TIME] - one.domain.lower[TIME]
    for name, term in one.terms.items():
        is_nonlocal = any(e.has(At) for e in term.expressions)
        if term.table is not None or term.regions or is_nonlocal:
            return False
        points = term.points(one.domain, INITIAL_POINTS)
        others = other.terms[name].points(other.domain, INITIAL_POINTS)
        if points.shape != others.shape or not np.allclose(points + later, others):
            return False
    return True


def _in_time(domain, start, end):
    """Return a domain with another interval of time, made from its configuration."""
    time = to_json(domain.time_coordinate)

    def replaced(config):
        if isinstance(config, dict):
            return {
                key: [[time, start, end]]
                if key == "time" and value and value[0][0] == time
                else replaced(value)
                for key, value in config.items()
            }
        return [*map(replaced, config)] if isinstance(config, list) else config

    config = replaced(keras.saving.serialize_keras_object(domain))
    return keras.saving.deserialize_keras_object(config)


def checked_edges(problem, windows):
    """Return the edges of time windows, floats, from a number or a list of edges.

    Args:
        problem: The `Problem`.
        windows: Number of windows of equal length, or a list of edges from the start
            to the end of time.

    Raises:
        ValueError: If the number is not positive, or edges do not increase from the
            start to the end of time.
    """
    start, end = problem.domain.lower[TIME], problem.domain.upper[TIME]
    if is_whole(windows) and windows > 0:
        return np.linspace(start, end, windows + 1).tolist()
    is_list = not isinstance(windows, (str, float, int))
    edges = np.asarray(windows if is_list else [], "float64")
    is_rising = edges.ndim == 1 and len(edges) > 1 and (np.diff(edges) > 0).all()
    near = ROUND_OFF * (end - start)
    if is_rising and abs(edges[[0, -1]] - [start, end]).max() <= near:
        return [float(start), *map(float, edges[1:-1]), float(end)]
    raise ValueError(
        "`windows` must be a positive number of windows, 'auto', or a list of edges "
        f"that increase from {start:g} to {end:g}. Received: {windows!r}"
    )
