"""Train one time window after another."""

import functools
import itertools
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import keras
import numpy as np
import sympy as sp

from keraspinn.common.checks import check_known, check_type
from keraspinn.declaration import Problem, features_of
from keraspinn.declaration import windows as time_windows
from keraspinn.declaration.scaling.offsets import network_offsets
from keraspinn.networks import TimeWindows
from keraspinn.networks.base import Network, scaled_periods
from keraspinn.recipes.hardening import hardened
from keraspinn.recipes.repeated import Repeated
from keraspinn.recipes.stages import OneStage, Recipe, last_loss
from keraspinn.training import PINNModel, load_model
from keraspinn.training.checks import check_output_count

# Loss above which `march` warns that windows may continue from a wrong field.
WRONG_LOSS = 1e-2

# Loss below which the next window of `windows="auto"` is longer.
EASY_LOSS = 1e-8

# Factor by which a window after an easy one is longer: lengths recur, and each has one
# compiled program.
GROWTH = 2.0

# Windows of one length after which a longer one is tried again.
RETRY = 4

# Earlier windows that a program of `windows="auto"` serves at least.
LEAST_CAPACITY = 8

# Share of all of time that the first window of `windows="auto"` takes.
FIRST_SHARE = 0.1

# Share of all of time below which a window is not halved again.
LEAST_SHARE = 1e-3


def march(
    problem: Problem,
    network: keras.Layer,
    windows: int | Sequence[float] | str = 10,
    recipe: Recipe | None = None,
    *,
    hard: bool = True,
    jumps: Mapping[float, Mapping[sp.Expr, tuple[float, float]]] | None = None,
    seed: int = 0,
    path: str | Path | None = None,
    verbose: int = 1,
    largest_loss: float = 1e-6,
) -> PINNModel:
    """Train a problem in time windows, each from the end of the one before.

    The field in a window is the last window's at its end plus the elapsed time times a
    network (`networks.TimeWindows`), so that it is continuous by construction. Each
    network begins with the hidden layers of the one before, and is trained by the last
    stage of the recipe if its optimizer is of second order. Windows of equal length
    share one compiled program.

    Args:
        problem: The `Problem`, with time.
        network: A network of the package, such as `networks.MLP`, as a pattern for all
            windows.
        windows: Number of windows of equal length; a list of edges from the start to
            the end of time; or `"auto"`, which halves a window whose loss stays above
            `largest_loss` and lengthens the window after an easy one.
        recipe: The `recipes.Recipe` of a window, `recipes.OneStage()` if not given.
        hard: Whether conditions hold by construction where they can.
        jumps: Optional dict from inner edges to dicts from fields to pairs `(factor,
            shift)`: the field after the edge is factor · field + shift, as for a dose
            or an impact. The shift is in the field's unit.
        seed: Integer that the points of all windows follow from.
        path: Optional path of a `.keras` file that holds the windows trained so far.
            If it is there, the training continues after them.
        verbose: 0 prints nothing, 1 a line for each window.
        largest_loss: Loss, in the problem's scales, up to which `"auto"` accepts a
            window. Errors of windows add up.

    Returns:
        The `PINNModel` over all of time, in the precision of the recipe's last stage.
        Its attribute `march_history` lists the edges and last losses.

    Raises:
        ValueError: If the problem is steady, edges do not fit its time, a field does
            not depend on time, the network has not one output for each field, or a
            window cannot be trained.

    Example:

    ```python
    model = keraspinn.march(problem, keraspinn.networks.MLP(30, 3), windows=10)
    ```

    Reference:
        Krishnapriyan et al., "Characterizing possible failure modes in
        physics-informed neural networks", NeurIPS 2021 (arXiv 2109.01050), section 6.
    """
    expected = "one of keraspinn.networks, such as keraspinn.networks.MLP(30, 3)"
    check_type("network", network, Network, expected)
    recipe = recipe or OneStage()
    check_type("recipe", recipe, Recipe, "a keraspinn.recipes.Recipe")
    orders = time_windows.orders_in_time(problem)
    check_output_count(problem, network.output_count)
    automatic = isinstance(windows, str) and windows == "auto"
    edges = time_windows.checked_edges(problem, 1 if automatic else windows)
    begin, end = edges[0], edges[-1]
    length = FIRST_SHARE * (end - begin)
    if hard:
        stop = begin + length if automatic else edges[1]
        first = time_windows.restricted(problem, begin, stop)
        known = features_of(first, first.scales) if network.standardize else []
        problem = hardened(problem, known)
    shifts = _checked_jumps(problem, jumps or {}, edges, automatic)
    whole = functools.partial(_model, orders=orders, jumps=shifts)
    done, trained, losses = [begin], [], []
    programs: dict[str, Repeated] = {}  # by length
    if path is not None and Path(path).exists():
        done, trained, losses = _resumed(path, edges, automatic)
    if automatic and len(done) > 1:
        length = _next_length(done, losses)
    while done[-1] < end:
        start = done[-1]
        stop = min(start + length, end) if automatic else edges[len(done)]
        if automatic and end - stop < LEAST_SHARE * (end - begin):
            stop = end
        window = time_windows.restricted(problem, start, stop)
        window, changes = time_windows.in_window_scales(problem, window)
        current = _new_network(network, trained, window, changes)
        if not trained:
            model = whole(window, [current], [start, stop], seed=seed)
            result = recipe.train(model, verbose=0)
            (current,), loss = result.model.network.networks, last_loss(result.history)
        else:
            previous = trained, current, [*done, stop], shifts
            program = programs.get(length_name := f"{stop - start:.8e}")
            if program is None or not program.serves(window, trained):
                alike, changes = _alike(problem, [*done, stop], window)
                template = _new_network(network, trained, alike, changes)
                least = max(2 * len(trained), LEAST_CAPACITY)
                capacity = least if automatic else len(edges) - 2
                settings = recipe, seed + 1, orders, capacity, previous
                program = Repeated(alike, template, *settings)
                programs = {**(programs if automatic else {}), length_name: program}
            loss = program.train(*previous)
        if automatic and not loss <= largest_loss:
            length = (stop - start) / 2
            if length < LEAST_SHARE * (end - begin):
                raise ValueError(
                    f"The window from {start:g} to {stop:g} ends at a loss of "
                    f"{loss:.1e}, above {largest_loss:g}, however short it is. Give a "
                    "larger network or a longer recipe, or the number of windows."
                )
            continue
        if not loss <= WRONG_LOSS:
            warnings.warn(
                f"The window from {start:g} to {stop:g} ends at a loss of {loss:.1e}: "
                "its field may be wrong, and later windows continue from it. Give more "
                "windows, or more steps: recipe=keraspinn.recipes.OneStage(steps).",
                stacklevel=2,
            )
        trained.append(current)
        done.append(float(stop))
        losses.append(loss)
        length = _next_length(done, losses)
        if verbose:
            print(f"window {len(trained)}: to {stop:g} of {end:g}, loss {loss:.2e}")
        if path is not None:
            whole(problem, trained, done, seed=seed, losses=losses).save(path)
    return whole(problem, trained, done, seed=seed, losses=losses)


def _next_length(done, losses):
    """Return a longer length after an easy window, unless it has failed lately."""
    *others, last = np.diff(done)
    alike = [*itertools.takewhile(lambda other: np.isclose(other, last), others[::-1])]
    has_grown = len(alike) == len(others) or others[-1 - len(alike)] < last
    tries = has_grown if not alike else (len(alike) + 1) % RETRY == 0
    return last * (GROWTH if tries and losses[-1] < EASY_LOSS else 1.0)


def _checked_jumps(problem, jumps, edges, automatic):
    """Return a dict from edges to pairs (factor, shift) for all fields."""
    shifts_at = {}
    for time, fields in jumps.items():
        if automatic or not np.isclose(edges[1:-1], float(time), rtol=1e-12).any():
            raise ValueError(
                f"A jump must be at an inner edge of `windows`. Received: {time}, and "
                f"windows={edges}"
            )
        free = [f for f in problem.fields if f.func.__name__ not in problem.hard]
        kinds = "fields without hard conditions, as march(..., hard=False) leaves them"
        check_known("jumps", fields, free, kinds)
        pairs = (fields.get(field, (1.0, 0.0)) for field in problem.fields)
        shifts_at[float(time)] = [tuple(map(float, pair)) for pair in pairs]
    return shifts_at


def _alike(problem, edges, window):
    """Return a window that differs in time only, in its scales, and the scales' units.

    It is the second one of this length, or the first so far. All windows alike share
    its program, which is the same after an interruption.
    """
    begin, end = problem.domain.lower[-1], problem.domain.upper[-1]
    # Lengths of equal windows differ by round-off.
    length = float(f"{2 * window.domain.half[-1]:.11e}")
    start = min(begin + length, end - length)
    pairs = [(start, start + length), *itertools.pairwise(edges[1:])]
    windows = (time_windows.restricted(problem, *pair) for pair in pairs)
    alike = (w for w in windows if time_windows.differ_in_time_only(w, window))
    return time_windows.in_window_scales(problem, next(alike, window))


def _new_network(pattern, trained, problem, changes):
    """Return a network adapted to a window, with layers of the one before."""
    source = trained[-1] if trained else pattern
    others = "adapted_to", "name", "frozen"
    config = {n: v for n, v in source.get_config().items() if n not in others}
    network = type(pattern).from_config(config)
    if network.standardize:
        offsets = None if trained else network_offsets(problem)
        units = problem.scales, changes, scaled_periods(problem), offsets
        network.work_in(*units, _features(trained, problem))
    network.build((None, problem.domain.dimension))
    if source.built:
        for new, old in zip(network.weights, source.weights, strict=True):
            if new.shape == old.shape:  # features make the first kernels differ
                new.assign(old)
    if trained:  # begin as a constant: another change may lead to another solution
        network.head.set_weights([0 * w for w in network.head.get_weights()])
    return network


def _features(trained, problem):
    """Return a window's features; in later windows those that do not change in time."""
    if not trained:
        return features_of(problem, problem.scales)
    known = trained[0]._features.expressions if trained[0]._features else []
    time = str(problem.domain.time_coordinate)
    return [f for f in known if time not in map(str, f.free_symbols)]


def _model(problem, networks, edges, orders, jumps, *, seed, losses=()):
    """Return the model over all windows so far."""
    dtype = networks[-1].dtype_policy
    network = TimeWindows(networks, edges, orders, jumps, losses, dtype=dtype)
    model = PINNModel(problem, network, seed=seed, dtype=dtype)
    model.march_history = network.history
    model.compile()  # for `evaluate`
    return model


def _resumed(path, edges, automatic):
    """Return edges, networks and losses of the windows in a file."""
    network = load_model(path).network
    done = network.edges if isinstance(network, TimeWindows) else []
    if not done or not (automatic or done == edges[: len(done)]):
        raise ValueError(
            f"{path} holds other windows: {done or network}. Give another path, or "
            f"remove the file. Received: windows={edges}"
        )
    return [*done], [*network.networks], [*network.final_losses]
