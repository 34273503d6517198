"""Trainings that fail for six different reasons, with and without a cure.

python -m examples.failures --output docs/results/failures.json

Each problem is trained with a fault and without it, by Adam and then SSBroyden.
Networks are plain, of 2 layers with 20 units, with seed 0. `--tables` prints the tables
of `docs/diagnostics_measured.md` from the output file.
"""

import argparse
import dataclasses
import json
import pathlib
import platform
import warnings

import keras
import numpy as np
import sympy as sp

import keraspinn as kp

X, T = sp.symbols("x t")
U = sp.Function("u")(X, T)
# Initial learning rate of Adam and its number of steps.
RATE, ADAM = 3e-3, 1000
# Default number of steps of the second stage, and its number of points inside.
STEPS, POINTS = 300, 500


@dataclasses.dataclass(frozen=True)
class Training:
    """Settings of one training.

    Attributes:
        problem: The `Problem`, with its solution as reference.
        dtype: Type of the second stage, or `None` for none.
        held: Number of points inside that are drawn once, or `None` to resample them.
        steps: Number of steps of the second stage.
    """

    problem: kp.Problem
    dtype: str | None = "float64"
    held: int | None = None
    steps: int = STEPS


def growth(logarithm=False, initial=10, capacity=10_000):
    """Declare logistic growth by three orders of magnitude.

    The field is n, or m = ln(n / capacity) with `logarithm`.
    """
    n = sp.Function("m" if logarithm else "n")(T)
    exact = 1 / (1 + (capacity / initial - 1) * sp.exp(-T))
    if logarithm:
        rate, value, exact = 1 - sp.exp(n), sp.log(initial / capacity), sp.log(exact)
    else:
        rate, value, exact = n * (1 - n / capacity), initial, capacity * exact
    return kp.Problem(
        kp.geometry.Box(time={T: (0, 14)}),
        {"growth": sp.Eq(n.diff(T), rate)},
        {"initial": kp.Condition(sp.Eq(n, value), on="initial")},
        {n: exact},
    )


def waves(frequency):
    """Declare u'' = −ω² sin(ωx), with values at both ends."""
    u = sp.Function("u")(X)
    exact = sp.sin(frequency * X)
    return kp.Problem(
        kp.geometry.Box({X: (0, 1)}),
        {"waves": sp.Eq(u.diff(X, 2), exact.diff(X, 2))},
        {"ends": kp.Condition(sp.Eq(u, exact), on="boundary")},
        {u: exact},
    )


def decay(rate):
    """Declare u'' = rate² u, whose solution decays and whose small errors grow."""
    u = sp.Function("u")(T)
    return kp.Problem(
        kp.geometry.Box(time={T: (0, 1)}),
        {"decay": sp.Eq(u.diff(T, 2), rate**2 * u)},
        {"initial": kp.Condition([sp.Eq(u, 1), sp.Eq(u.diff(T), -rate)], on="initial")},
        {u: sp.exp(-rate * T)},
    )


SOLUTION = sp.sin(sp.pi * X) * sp.exp(-(sp.pi**2) * T)


def rod(sign=1, faces=(0, 1)):
    """Declare u_t = ± u_xx with u = 0 at the ends.

    With the positive sign this is the heat equation. With the negative sign it is the
    backward heat equation, which is ill-posed.
    """
    conditions = {f"at_{x}": kp.Condition(U, on={X: x}) for x in faces}
    initial = kp.Condition(sp.Eq(U, sp.sin(sp.pi * X)), on="initial")
    return kp.Problem(
        kp.geometry.Box({X: (0, 1)}, time={T: (0, 0.5)}),
        {"heat": sp.Eq(U.diff(T), sign * U.diff(X, 2))},
        {**conditions, "initial": initial},
        {U: SOLUTION},
    )


HEAT = Training(rod())
# Trainings with a fault, by cause.
FAILURES = {
    "scales": Training(growth()),
    "stiffness": Training(waves(16), dtype=None),
    "wrong sign": Training(rod(sign=-1)),
    "missing condition": Training(rod(faces=(0,))),
    "too few points": Training(rod(), held=12),
    "float32": Training(decay(8), dtype="float32", steps=1000),
}
# The same without the fault.
MENDED = {
    "scales": Training(growth(logarithm=True)),
    "stiffness": Training(waves(16)),
    "wrong sign": HEAT,
    "missing condition": HEAT,
    "too few points": HEAT,
    "float32": Training(decay(8), steps=1000),
}
CURES = {
    "scales": "solve for the logarithm",
    "stiffness": "the second stage",
    "wrong sign": "the right sign",
    "missing condition": "the other end's condition",
    "too few points": "500 points, renewed",
    "float32": "float64",
}


def trained(training):
    """Train a model; returns it and the loss at the end of each stage."""
    keras.utils.set_random_seed(0)
    problem, losses = training.problem, {}
    model = kp.PINNModel(problem, kp.networks.MLP(20, 2), seed=0)
    schedule = keras.optimizers.schedules.CosineDecay(RATE, ADAM)
    model.compile(keras.optimizers.Adam(schedule))
    steps = {"steps_per_epoch": ADAM // 10, "epochs": 10, "verbose": 0}
    losses["Adam"] = model.fit(**steps).history["loss"][-1]
    if training.dtype:
        model = model.astype(training.dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the warning of float32 is expected here
            model.compile(kp.optimizers.SSBroyden())
        points, size = None, POINTS
        if training.held:
            domain, size = problem.domain, training.held
            unit = np.random.default_rng(0).uniform(-1, 1, (size, domain.dimension))
            points = domain.centre + domain.half * unit
        steps = {"steps_per_epoch": training.steps // 10, "epochs": 10, "verbose": 0}
        history = model.fit(points, batch_size={"residual": size}, **steps).history
        losses["SSBroyden"] = history["loss"][-1]
    return model, losses


def record(training):
    """Return the diagnostics of a trained model, as JSON."""
    model, losses = trained(training)
    logs = model.evaluate(*model.problem.test_data(), verbose=0, return_dict=True)
    verdict = kp.diagnostics.verdict(model)
    largest = kp.diagnostics.hessian_eigenvalues(model)["loss"][0]
    (error,) = (v for k, v in logs.items() if k.endswith("_relative_l2"))
    return {
        "losses": {stage: float(f"{loss:.2g}") for stage, loss in losses.items()},
        "loss elsewhere": float(f"{logs['loss']:.2g}"),
        "error": float(f"{error:.2g}"),
        "estimate": float(f"{verdict.error:.2g}"),
        "misfit": float(f"{max(verdict.misfits.values()):.2g}"),
        "trusted": verdict.trusted,
        "verdict": str(verdict),
        "largest stable rate": float(f"{2 / largest:.2g}"),
        "scales": str(model.problem.scales).splitlines(),
    }


def tables(records):
    """Return the lines of the two tables of the page, as Markdown."""
    rows = ["| Cause | Loss | Loss elsewhere | Misfit | Estimate | Error | Verdict |"]
    rows += ["|" + "---|" * 7]
    for name, (failed, _) in records.items():
        loss = list(failed["losses"].values())[-1]
        cells = loss, failed["loss elsewhere"], failed["misfit"]
        errors = failed["estimate"], failed["error"]
        cells = [f"{number:.1e}" for number in cells] + list(map(percent, errors))
        rows.append(f"| {name} | {' | '.join(cells)} | {trust(failed)} |")
    rows += ["", "| Cause | Cure | Error before | After | Verdict after |"]
    rows += ["|" + "---|" * 5]
    for name, (failed, mended) in records.items():
        errors = percent(failed["error"]), percent(mended["error"])
        rows.append(
            f"| {name} | {CURES[name]} | {' | '.join(errors)} | {trust(mended)} |"
        )
    return rows


def trust(entry):
    return "trusted" if entry["trusted"] else "not trusted"


def percent(number):
    if number < 1e-3:
        return f"{number:.1e}"
    return f"{100 * number:.{0 if number > 0.1 else 2}f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=", ".join(FAILURES))
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--tables", action="store_true", help="train nothing")
    arguments = parser.parse_args()
    output = arguments.output
    kept = json.loads(output.read_text("utf-8")) if output.exists() else {}
    records, made = kept.get("records", {}), {}
    for name in () if arguments.tables else arguments.names or FAILURES:
        pair = FAILURES[name], MENDED[name]
        made |= {t: record(t) for t in pair if t not in made}
        records[name] = [made[training] for training in pair]
        print(name, *records[name], sep="\n", flush=True)
        kept = {
            "machine": platform.machine(),
            "versions": {"keraspinn": kp.__version__, "keras": keras.__version__},
            "records": {name: records[name] for name in FAILURES if name in records},
        }
        output.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    print(*tables(kept["records"]), sep="\n")


if __name__ == "__main__":
    main()
