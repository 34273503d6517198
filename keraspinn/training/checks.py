"""Checks of the problem and network of a `PINNModel`."""

import warnings
from collections.abc import Mapping
from typing import Any, TypeAlias

import keras
import numpy as np
from keras import ops

from keraspinn.backend.compatibility import every_layer
from keraspinn.common.checks import check_type
from keraspinn.declaration import Problem
from keraspinn.declaration.probe_points import probe_points
from keraspinn.declaration.validation.dtype_range import precision_fault
from keraspinn.derivatives import checks as derivative_checks
from keraspinn.derivatives.consistency import check_against_differences
from keraspinn.geometry.part import quasi_random
from keraspinn.networks import FieldNetworks, networks_of_fields
from keraspinn.networks.base import Adaptable
from keraspinn.optimizers import Optimizer

# A network, or one for each field, or tuple of fields, expressions of SymPy's.
Networks: TypeAlias = keras.Layer | Mapping[Any, keras.Layer]

WHOLE = ("float32", "float64")
# Largest factor between one and an unknown coefficient without a warning: Adam moves it
# by its learning rate, 3e-3.
FARTHEST_COEFFICIENT = 1e2


def checked_network(problem, network):
    """Return the network, or the `FieldNetworks` of a dict from fields to networks.

    Raises:
        TypeError: If these are no problem and network.
        ValueError: If a field that depends on some coordinates alone has no network
            for itself.
    """
    check_type("problem", problem, Problem, "a keraspinn.Problem")
    layers = list(network.values()) if isinstance(network, dict) else [network]
    if not layers or not all(isinstance(layer, keras.Layer) for layer in layers):
        raise TypeError(
            "`network` must be a Keras layer or model, as keraspinn.networks.MLP(), or "
            f"a dict from fields to networks. Received: {network!r}"
        )
    if isinstance(network, dict):
        return networks_of_fields(problem, network)
    for field in problem.fields:
        fewer = set(field.args) < set(problem.coordinates)
        if fewer and not isinstance(network, FieldNetworks):
            keys = ", ".join(f"{f.func.__name__}: ..." for f in problem.fields)
            raise ValueError(
                f"The field {field} depends on {', '.join(map(str, field.args))} alone "
                "and needs a separate network, without other inputs: "
                f"PINNModel(problem, {{{keys}}}). If it depends on all coordinates, "
                f"write {field.func}({', '.join(map(str, problem.coordinates))})."
            )
    return network


def build_network(problem, network, points):
    """Adapt a network to a problem and build it, or raise `ValueError`.

    It must output one column for each field.

    Args:
        problem: The `Problem`.
        network: The Keras layer or model.
        points: Symbolic tensor `(None, d)`.
    """
    # keraspinn's networks are adapted to the problem's units.
    if isinstance(network, Adaptable) and network.scales is None:
        network.adapt(problem)
    coordinates = [symbol.name for symbol in problem.coordinates]
    try:
        outputs = network(points)
    except ValueError as error:
        if isinstance(network, FieldNetworks):
            raise  # its message names the wrong network
        raise ValueError(
            f"The network must take points (n, {len(coordinates)}), a column for each "
            f"of {coordinates}. Received: {network!r}, which does not: see the error "
            "above. Make a new network for each problem."
        ) from error
    several = [type(outputs).__name__]  # in place of a shape
    check_output_count(problem, getattr(outputs, "shape", several)[-1])


def check_output_count(problem, outputs):
    """Raise `ValueError` unless a network has one output for each field."""
    if outputs != len(names := problem.field_names):
        raise ValueError(
            "The network must output one tensor, with one column for each field "
            f"{list(names)}. Received a network with {outputs} output(s). Write "
            f"keraspinn.networks.MLP(outputs={len(names)}), or join several tensors "
            "with keras.layers.Concatenate."
        )


def check_trainable(variables, optimizer):
    """Raise `ValueError` unless an optimizer can train some variables.

    Args:
        variables: The trainable variables of one model.
        optimizer: The optimizer of the model.
    """
    if not variables:
        raise ValueError(
            "There is nothing to train: every layer of the network is frozen. Set "
            "`trainable = True` for the network or some of its layers."
        )
    if isinstance(optimizer, Optimizer):  # Keras's train each variable by itself
        optimizer.check_built_for(variables)
        if constrained := [v.path for v in variables if v.constraint is not None]:
            raise ValueError(
                f"{type(optimizer).__name__} keeps no constraints of weights. Leave "
                f"them out, or take an optimizer of Keras's. Received: {constrained}"
            )


def check_can_learn(problem, network, objective, place):
    """Raise or warn for a network that would silently train to a wrong solution.

    Args:
        problem: The `Problem`.
        network: The Keras layer or model, built.
        objective: The `Objective`.
        place: The `Place` of the residual's points.
    """
    inside = probe_points(problem.domain, problem.domain.blocks("interior"), 64)
    points, coordinates = place.locate(ops.convert_to_tensor(inside, "float64"))
    required = {}
    passes = (needed for term in objective.terms.values() for needed in term.passes)
    for field, indices in (pair for needed in passes for pair in needed.items()):
        required.setdefault(field, set()).update(indices)
    names = [symbol.name for symbol in problem.coordinates]
    derivative_checks.check_no_activity_losses(network, coordinates)
    derivative_checks.warn_of_inactive_layers(network)
    if not _has_tested_rules(network):
        check_against_differences(objective.fields, points, required, names)
    derivative_checks.check_derivatives(
        network, lambda: objective.fields.derivatives(points, required), names
    )
    orders = (sum(index) for indices in required.values() for index in indices)
    derivative_checks.warn_of_kinks(network, max(orders, default=0))
    warn_if_not_periodic(problem, objective.fields, place)


def _has_tested_rules(network):
    """Return whether all derivative rules of a network are the package's own.

    Compiling the comparison takes seconds on JAX, for rules that the tests compare.
    """
    if isinstance(network, FieldNetworks):
        return all(map(_has_tested_rules, network.networks))
    rule = getattr(getattr(network, "activation", None), "__module__", "keras.")
    is_known = (rule or "").startswith(("keras.", "keraspinn."))
    return type(network).__module__.startswith("keraspinn.networks.") and is_known


def _is_adapted(network):
    """Return whether a network computes in the problem's scales."""
    return getattr(network, "scales", None) is not None and network.is_its_forward


def warn_if_not_periodic(problem, fields, place):
    """Warn if a network differs at the two ends of a periodic coordinate.

    Args:
        problem: The `Problem`.
        fields: The `Fields` of the network.
        place: The `Place` of the residual's points.
    """
    domain = problem.domain
    for symbol in domain.periodic:
        column = domain.coordinates.index(symbol)
        points = domain.lower + quasi_random(64, domain.dimension) * 2 * domain.half
        ends = []
        for end in (domain.lower, domain.upper):
            points[:, column] = end[column]
            located, _ = place.locate(ops.convert_to_tensor(points, "float64"))
            ends.append(ops.convert_to_numpy(fields.scaled_values(located)))
        if abs(ends[0] - ends[1]).max() > 1e-3 * abs(ends[0]).max():
            period = domain.upper[column] - domain.lower[column]
            warnings.warn(
                f"The domain is periodic in {symbol}, the network is not: without a "
                f"condition at the ends of {symbol}, the problem is underdetermined. "
                f"Begin with keraspinn.layers.Periodic, of period {period:g}, "
                "or use one of keraspinn.networks, which are periodic by themselves.",
                stacklevel=5,
            )


def check_one_type(model, network):
    """Raise `ValueError` unless all layers compute in float32, or all in float64.

    Args:
        model: The `PINNModel`, with the policy of points and losses.
        network: Its network, built.
    """
    policies = [layer.dtype_policy for layer in (model, *every_layer(network))]
    types = {p.compute_dtype for p in policies} | {model.variable_dtype}
    types |= {v.dtype for v in network.variables if "float" in v.dtype}
    if len(types) > 1 or not types <= set(WHOLE):
        raise ValueError(
            "Derivatives of a network need float32 or float64, one for the model and "
            "all layers: float16 has 3 digits, bfloat16 has 2, and each order of "
            f"derivative loses digits. Received: {sorted({p.name for p in policies})}. "
            'Set one with `keras.config.set_dtype_policy("float32")`.'
        )


def check_numbers(problem, network, dtype):
    """Raise `ValueError` if a problem's numbers overflow or underflow in a type.

    Warn of unknown coefficients with an initial value far from one, except zero.

    Args:
        problem: The `Problem`.
        network: The Keras layer or model, adapted to the problem if it can be.
        dtype: `"float32"` or `"float64"`.
    """
    if fault := precision_fault(problem, dtype, _is_adapted(network)):
        raise ValueError(fault)
    # Adam moves a variable by about its learning rate in a step; 1e11 in float32 does
    # not change by a bit.
    for symbol in problem.parameters:
        scale = abs(symbol.initial)
        if scale and not 1 / FARTHEST_COEFFICIENT <= scale <= FARTHEST_COEFFICIENT:
            unit = 10.0 ** round(np.log10(scale))
            warnings.warn(
                f"The unknown coefficient '{symbol}' starts from {symbol.initial:g}, "
                "where optimizers such as Adam move it by about their learning rate in "
                "a step: it hardly changes, or only jumps. Write it in a unit in "
                f"which it is about one: {unit:g} * keraspinn.Parameter("
                f"'{symbol}', initial={symbol.initial / unit:.3g}).",
                stacklevel=5,
            )
