"""Tests of overlapping windows with a network each."""

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
from examples.windows import __main__ as comparison
from examples.windows.network import Windowed
from examples.windows.table import PAGE, page, records
from keraspinn.derivatives.engines import jvp_derivatives, taylor_derivatives
from keraspinn.networks import MLP, SIREN, FieldNetworks, ModifiedMLP, PirateNet
from tensors import FEW_STEPS

X, Y = sp.symbols("x y")
U, V = (sp.Function(name)(X, Y) for name in "uv")
LOWER, UPPER = np.array([1.0, -2.0]), np.array([4.0, 0.0])
POINTS = LOWER + np.random.default_rng(0).random((40, 2)) * (UPPER - LOWER)
INNER = {
    "MLP": lambda **options: MLP(5, 2, **options),
    "ModifiedMLP": lambda **options: ModifiedMLP(5, 2, **options),
    "SIREN": lambda **options: SIREN(5, 2, frequency=2.0, **options),
    "PirateNet": lambda **options: PirateNet(4, 1, **options),
}


def problem(scales=None, **options):
    box = kp.geometry.Box({X: (1, 4), Y: (-2, 0)}, **options)
    equations = {"u": U.diff(X, 2) + U.diff(Y, 2) - 1, "v": V.diff(Y, 2) - U}
    conditions = {"edge": kp.Condition([U, V], on="boundary")}
    return kp.Problem(box, equations, conditions, scales=scales)


SPLITS = {X: (1, 4, 3), Y: (-2, 0, 2)}


def network(splits=None, overlap=0.6, inner="MLP", dtype="float64"):
    keras.utils.set_random_seed(1)
    pattern = INNER[inner](outputs=2, dtype=dtype)
    return Windowed(pattern, splits or SPLITS, overlap)


def single(splits):
    return network(splits, dtype="float32")


def built(scales=None, **options):
    made = network(**options)
    made.adapt(problem(scales))
    made.build((None, 2))
    return made


def numbers(tensor):
    return ops.convert_to_numpy(tensor)


def ramp(x):
    """Return the integral of 35/32 (1 − x²)³ from −1, by Gauss and Legendre's rule."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = (np.clip(x, -1, 1) + 1) / 2
    inside = half[..., None] * (nodes + 1) - 1
    return half * ((35 / 32 * (1 - inside**2) ** 3) @ weights)


def by_hand(made, points, counts=(3, 2), overlap=0.6):
    """Return Σ ω N over all windows by NumPy, with tanh."""
    w1, b1, w2, b2, w3, b3 = map(numbers, made.stacks)
    total = 0.0
    for number, cell in enumerate(np.ndindex(counts)):
        share, local = 1.0, []
        for column, (k, count) in enumerate(zip(cell, counts, strict=True)):
            spacing = (UPPER - LOWER)[column] / count
            position = (points[:, column] - LOWER[column]) / spacing - k
            left = 1.0 if k == 0 else ramp(2 / overlap * position)
            right = 0.0 if k == count - 1 else ramp(2 / overlap * (position - 1))
            share = share * (left - right)
            local.append((2 * position - 1) / (1 + overlap))
        h = np.tanh(np.stack(local, -1) @ w1[number] + b1[number])
        h = np.tanh(h @ w2[number] + b2[number])
        total = total + share[:, None] * (h @ w3[number] + b3[number])
    return total


@pytest.mark.parametrize("count", [40, 1])
def test_windowed_network_formula(count):
    made, points = built(), POINTS[:count]
    np.testing.assert_allclose(
        numbers(made(points)), by_hand(made, points), rtol=1e-11, atol=1e-13
    )
    several = numbers(made(np.stack([points, points])))
    np.testing.assert_allclose(several[1], numbers(made(points)), rtol=1e-12)


@pytest.mark.parametrize("overlap", [0.3, 1.0])
def test_windows_sum_to_one(overlap):
    made = built(overlap=overlap)
    *others, head = made.stacks
    head.assign(np.ones(head.shape))
    for stack in others:
        stack.assign(np.zeros(stack.shape))
    x = ops.cast(POINTS, "float64")
    derivatives = taylor_derivatives(made.scaled, x, [(0, 0), (1, 0), (0, 2)])
    np.testing.assert_allclose(numbers(derivatives[0, 0]), 1.0, rtol=1e-14)
    np.testing.assert_allclose(numbers(derivatives[1, 0]), 0.0, atol=1e-12)
    np.testing.assert_allclose(numbers(derivatives[0, 2]), 0.0, atol=1e-11)


def test_a_window_vanishes_outside_its_part():
    made = built(splits={X: (1, 4, 3)}, overlap=0.5)
    before = numbers(made(POINTS))
    for stack in made.stacks:
        values = numbers(stack).copy()
        values[0] += 1.0
        stack.assign(values)
    changed = np.abs(numbers(made(POINTS)) - before).max(axis=-1) > 0
    np.testing.assert_array_equal(changed, POINTS[:, 0] < 2 + 0.25)


@pytest.mark.parametrize("inner", INNER)
def test_derivatives_up_to_the_fourth_order(inner):
    made, x = built(inner=inner), ops.cast(POINTS[:9], "float64")
    indices = [(0, 0), (1, 0), (0, 2), (2, 1), (4, 0), (2, 2)]
    taylor = taylor_derivatives(made.scaled, x, indices)
    nested = jvp_derivatives(made.scaled, x, indices)
    for index in indices:
        expected = numbers(nested[index])
        np.testing.assert_allclose(
            numbers(taylor[index]), expected, 1e-9, 1e-9 * np.abs(expected).max()
        )


def test_derivatives_by_finite_differences():
    made, step = built(), 1e-2
    shifts = POINTS[:, None] + np.arange(-3, 4)[:, None] * [step, 0.0]
    values = numbers(made.scaled(ops.cast(shifts, "float64")))
    central = {
        1: np.array([-1, 9, -45, 0, 45, -9, 1]) / 60,
        2: np.array([2, -27, 270, -490, 270, -27, 2]) / 180,
        3: np.array([1, -8, 13, 0, -13, 8, -1]) / 8,
        4: np.array([-1, 12, -39, 56, -39, 12, -1]) / 6,
    }
    indices = [(k, 0) for k in central]
    x = ops.cast(POINTS, "float64")
    taylor = taylor_derivatives(made.scaled, x, indices)
    for order, weights in central.items():
        expected = np.einsum("k,nkf->nf", weights, values) / step**order
        difference = np.abs(numbers(taylor[order, 0]) - expected)
        # The fourth derivative jumps at the ends of an overlap.
        difference = np.sort(difference.max(-1))[:-8]
        assert difference.max() < 1e-3 * np.abs(expected).max()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_config_and_saving(tmp_path, dtype):
    made = built("auto", dtype=dtype)
    copy = Windowed.from_config(made.get_config())
    assert copy.get_config() == made.get_config()
    copy.build((None, 2))
    copy.set_weights(made.get_weights())
    np.testing.assert_array_equal(numbers(copy(POINTS)), numbers(made(POINTS)))
    made.save(tmp_path / "windows.keras")
    again = keras.models.load_model(tmp_path / "windows.keras")
    np.testing.assert_array_equal(numbers(again(POINTS)), numbers(made(POINTS)))


@pytest.mark.parametrize("inner", INNER)
def test_windows_have_different_weights(inner):
    for stack in built(inner=inner).stacks:
        values = numbers(stack)
        equal = [np.array_equal(values[0], other) for other in values[1:]]
        assert not any(equal) or not np.ptp(values)


def test_networks_of_fields():
    pair = {U: Windowed(MLP(4, 1), {X: (1, 4, 2)}), V: MLP(4, 1)}
    model = kp.PINNModel(problem("auto"), pair)
    assert isinstance(model.network, FieldNetworks)
    assert model.derivative_engine == "taylor"


@pytest.mark.parametrize("optimizer", ["Adam", "SSBroyden", "GaussNewton"])
def test_windowed_network_trains(optimizer, tmp_path):
    made = Windowed(MLP(5, 1, outputs=2), SPLITS)
    model = kp.PINNModel(problem("auto"), made, seed=0).astype("float64")
    method = getattr(kp.optimizers, optimizer, None) or keras.optimizers.Adam
    model.compile(method(), **FEW_STEPS)
    before = [numbers(stack) for stack in model.network.stacks]
    model.fit(batch_size=50, steps_per_epoch=4, verbose=0)
    for stack, old in zip(model.network.stacks, before, strict=True):
        change = np.abs(numbers(stack) - old).reshape(len(old), -1).max(axis=1)
        assert np.all(change > 0)
    model.save(tmp_path / "model.keras")
    again = kp.load_model(tmp_path / "model.keras")
    values = model.predict(POINTS, verbose=0)
    np.testing.assert_allclose(again.predict(POINTS, verbose=0), values, rtol=1e-12)


@pytest.mark.parametrize("kind", ["windows", "one"])
def test_windowed_training_record(kind, monkeypatch):
    monkeypatch.setattr(comparison, "ADAM_STEPS", 2)
    record = comparison.train("cosines", kind, overlap=1.0, seed=0, seconds=0.0)
    assert record["weights"] == {"windows": 1552, "one": 1597}[kind]
    assert record["splits"] == ({"x": 16} if kind == "windows" else None)
    assert np.isfinite(record["error"]) and len(record["trace"]) == 1


def test_the_page_shows_the_records():
    text = PAGE.read_text("utf-8")
    assert page(text, records()) == text


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Windowed("mlp", SPLITS), "must be another of keraspinn.networks"),
        (lambda: Windowed(network(), SPLITS), "must be another of keraspinn"),
        (lambda: Windowed(MLP(4), {X: (1, 4, 1)}), "splits of x.*at least 2"),
        (lambda: Windowed(MLP(4), {X: (1, 4, 2.0)}), "splits of x.*at least 2"),
        (lambda: Windowed(MLP(4), {}), "splits="),
        (lambda: network(overlap=0.0), "`overlap` must be a positive"),
        (lambda: network(overlap=1.5), "an overlap of at most 1"),
        (lambda: network()(POINTS), "learns its coordinates from a problem"),
        (
            lambda: kp.PINNModel(problem(), single({"z": (1, 4, 2)})),
            r"`splits` names \['z'\]",
        ),
        (
            lambda: kp.PINNModel(problem(periodic=[X]), single({Y: (-2, 0, 2)})),
            "takes the 2 coordinates alone. Received: 3 features",
        ),
    ],
)
def test_rejects_bad_arguments(make, match):
    with pytest.raises((TypeError, ValueError), match=match):
        make()
