"""Choices that `solve` makes from a declaration: network, points and first stages."""

import dataclasses

import keras
import numpy as np
import sympy as sp
from keras import layers

from keraspinn.declaration import Problem
from keraspinn.declaration.probe_points import evaluate_at, probe_points
from keraspinn.expressions import Field, Interpolation, Parameter
from keraspinn.layers import FourierFeatures
from keraspinn.networks import MLP, SIREN
from keraspinn.optimizers import GaussNewton, SSBroyden
from keraspinn.recipes.stages import OneStage, Recipe, Stage, adam_stage

# Steps of the first stage.
ADAM_STEPS = 2_000

# Steps of SSBroyden in a round. Its points are renewed every 500 steps.
ROUND = {"steps_per_epoch": 100, "epochs": 5}

# Factor of the weights of `Data` that are noisy: the equations must not give way to it.
# A stiffness was 34 % off, at a deviation of 1 %.
OF_DATA = 0.01

# Factor of a penalty's weight beyond that by which it misses the target, and largest.
HEAVIER = 2.0
HEAVIEST = 100.0

# Steps of Gauss–Newton in a round for an energy.
ENERGY_ROUND = {"steps_per_epoch": 20, "epochs": 1}

# The same for equations; with fewer points than weights it overfits them.
GAUSS_NEWTON_ROUND = {**ENERGY_ROUND, "batch_size": 2_000}

# Units and depth of the network by the number of coordinates, three for more.
SIZES = {1: (20, 2), 2: (30, 3), 3: (40, 3)}

# Units for an energy, at most: the Jacobian has 16,384 rows for each derivative.
ENERGY_UNITS = 20

# Units and depth of the network of a time window, in two coordinates at most.
WINDOW_SIZE = 20, 2

# The same for more coordinates.
LARGER_WINDOW_SIZE = 30, 2

# Steps of Gauss–Newton in a time window.
WINDOW_STEPS = 100

# Units and depth of a network of sines.
SIZE_FOR_WAVES = 40, 2

# Radians per half of the domain from which a network of sines is taken.
HIGH_WAVE_NUMBER = 20.0

# Distance at which phases of waves are compared, relative to half of the domain.
SPAN = 1e-4

# Variation of a table, relative to its largest value, from which on its waves matter.
LEAST_WAVES = 0.1

# Frequency of its layers relative to the wave number: layers multiply it.
FREQUENCY = 0.4

# Fourier features of a network for high wave numbers in one dimension.
FEATURES = 20

# Standard deviation of their frequencies relative to the wave number.
FEATURES_FREQUENCY = 0.75

# Units of its hidden layer.
FEATURES_UNITS = 30


def chosen_network(problem: Problem):
    """Return a network for a problem, or a dict where fields have fewer coordinates.

    Args:
        problem: The `Problem`.
    """
    waves = wave_number(problem)

    def network(fields):
        units, depth = SIZES.get(len(fields[0].args), SIZES[3])
        if problem.energy is not None:
            units = min(units, ENERGY_UNITS)
        if waves > HIGH_WAVE_NUMBER and len(problem.coordinates) == 1:
            return _network_for_waves(problem, fields, waves)
        if waves > HIGH_WAVE_NUMBER:
            frequency = FREQUENCY * waves
            return SIREN(*SIZE_FOR_WAVES, outputs=len(fields), frequency=frequency)
        return MLP(units, depth, outputs=len(fields))

    groups: dict[tuple, list] = {}
    for field in problem.fields:
        groups.setdefault(field.args, []).append(field)
    if len(groups) == 1:
        return network(problem.fields)
    return {tuple(fields): network(fields) for fields in groups.values()}


def _network_for_waves(problem, fields, waves):
    """Return a network of Fourier features, with outputs in the fields' scales."""
    frequency = FEATURES_FREQUENCY * waves / problem.domain.half.item()
    sizes = [problem.scales.field(field.func.__name__) for field in fields]
    first = [FourierFeatures(FEATURES, frequency), layers.Dense(FEATURES_UNITS, "tanh")]
    last = [layers.Dense(len(fields)), layers.Rescaling(sizes)]
    return keras.Sequential(first + last)


def chosen_windows(problem: Problem, callbacks: list):
    """Return the network and the recipe of a time window.

    Args:
        problem: The `Problem`.
        callbacks: List of callbacks of all trainings.
    """
    size = WINDOW_SIZE if len(problem.coordinates) < 3 else LARGER_WINDOW_SIZE
    (stage,) = OneStage(WINDOW_STEPS).stages
    stage = dataclasses.replace(stage, callbacks=lambda model: callbacks)
    return MLP(*size, outputs=len(problem.fields)), Recipe([stage])


def wave_number(problem: Problem) -> float:
    """Return the largest wave number of the known functions in a declaration.

    It is that of sines and cosines at most points, and of tables, by how often they
    cross the middle of their values.

    Args:
        problem: The `Problem`.

    Returns:
        A number, in radians per half of the domain's length along a coordinate.
    """
    expressions = [e for term in problem.all_terms.values() for e in term.expressions]
    waves = {node.args[0] for e in expressions for node in e.atoms(sp.sin, sp.cos)}
    known = (w for w in waves if w.free_symbols <= {*problem.coordinates})
    phases = [wave for wave in known if not wave.has(Field, Parameter)]
    points = probe_points(problem.domain, problem.domain.blocks("interior"))
    numbers, before = [0.0], evaluate_at(phases, problem.coordinates, points)
    for step in np.diag(problem.domain.half) * SPAN:
        after = evaluate_at(phases, problem.coordinates, points + step)
        changes = (abs(b - a) for a, b in zip(before, after, strict=True))
        numbers += [float(np.nan_to_num(np.median(c) / SPAN)) for c in changes]
    tables = {i.table for e in expressions for i in e.atoms(Interpolation)}
    for values in (table.values for table in tables):
        is_wide = np.ptp(values) > LEAST_WAVES * abs(values).max()
        is_above = is_wide & (values > (values.max() + values.min()) / 2)
        crossings = [np.diff(is_above, axis=k).sum(axis=k) for k in range(values.ndim)]
        numbers += [np.pi / 2 * count.max() for count in crossings]
    return float(f"{max(numbers):.6g}")


def chosen_recipe(problem: Problem) -> Recipe:
    """Return the first stages of a problem: Adam, then a second-order optimizer.

    That is Gauss–Newton for high wave numbers, else SSBroyden. There is no Adam for an
    energy, minimised by Gauss–Newton, nor in one coordinate, where its compilation
    takes a fifth of the time. Where there are measurements, Adam trains the fields for
    the initial values of unknown parameters: a velocity and a diffusivity that it
    trained too fell to zero, where any constant field satisfies the equations.

    Args:
        problem: The `Problem`.
    """
    if problem.energy is not None:
        return Recipe([Stage(GaussNewton, ENERGY_ROUND, dtype="float64")])
    is_inverse = problem.measured or problem.parameters
    second = Stage(SSBroyden, ROUND, dtype="float64", fixed=False)
    if wave_number(problem) > HIGH_WAVE_NUMBER:
        second = Stage(GaussNewton, GAUSS_NEWTON_ROUND, dtype="float64", fixed=False)
    if len(problem.coordinates) == 1 and not is_inverse:
        return Recipe([second])
    first = adam_stage(ADAM_STEPS, annealing=not is_inverse)
    return Recipe([dataclasses.replace(first, fixed=bool(problem.measured)), second])


def set_weights(model, weights: dict[str, float]):
    """Set loss weights; return an empty list of callbacks.

    Args:
        model: The `PINNModel`.
        weights: Dict from names of conditions to numbers.
    """
    for name, weight in weights.items():
        model.loss_weights[name].assign(weight)
    return []


def better_weights(model, verdict, target: float) -> dict[str, float]:
    """Choose smaller weights for `Data`, larger ones where an energy outweighs.

    Data are heavy above half of their declared weight. The residual of a penalty is
    inverse to its weight.

    Args:
        model: The `PINNModel`.
        verdict: Its `Verdict`.
        target: Estimated error to reach.
    """
    problem = model.problem
    weights = {name: float(weight) for name, weight in model.loss_weights.items()}
    if problem.energy is None:
        declared = {name: problem.conditions[name].weight for name in problem.measured}
        return {n: OF_DATA * w for n, w in declared.items() if weights[n] > w / 2}
    factors = {
        name: HEAVIER * max(verdict.misfits[s] for s in problem.terms[name].names)
        for name in sorted(weights.keys() - {*problem.measured})
    }
    missed = {n: f / target for n, f in factors.items() if f > HEAVIER * target}
    return {n: weights[n] * min(ratio, HEAVIEST) for n, ratio in missed.items()}
