"""Overlapping windows and one network with as many weights, at equal CPU time.

JAX_ENABLE_X64=1 KERAS_BACKEND=jax python -m examples.windows cosines laplace-3

Each network is trained by 1,000 steps of Adam and then by SSBroyden, in float64. Points
are resampled every 250 steps. Errors are relative L2 errors at 10,000 points. Each run
adds a line to `docs/results/windows.jsonl`.

The problems are those of Moseley, Markham & Nissen-Meyer (arXiv 2107.07871, section
5.2.2) and of Dolean, Heinlein, Mishra & Moseley (arXiv 2306.05486, section 4), where n
is 6. Their windows differ from those used here, and their first interval is (−2π, 2π).
"""

import argparse
import json
import pathlib
import platform
import time

import keras
import sympy as sp

import keraspinn as kp
from examples.windows.network import Windowed

RESULTS = pathlib.Path(__file__).parents[2] / "docs" / "results" / "windows.jsonl"
# Number of steps of Adam.
ADAM_STEPS = 1000
# Number of steps of SSBroyden between two evaluations of the error.
FIT_STEPS = 250
X, Y = sp.symbols("x y")


def cosines(frequencies=(1, 15)):
    """Declare u' = Σ ω cos(ωx) on (0, 4π) with the hard constraint u(0) = 0."""
    u = sp.Function("u")(X)
    exact = sum(sp.sin(omega * X) for omega in frequencies)
    return kp.Problem(
        kp.geometry.Box({X: (0, 4 * sp.pi)}),
        {"cosines": sp.Eq(u.diff(X), exact.diff(X))},
        {"origin": kp.Condition(u, on={X: 0}, hard=True)},
        reference={u: exact},
        scales="auto",
    )


def laplace(scales):
    """Declare −Δu = f in the unit square, with waves of 2 to 2^scales half periods."""
    u = sp.Function("u")(X, Y)
    waves = (2**k * sp.pi for k in range(1, scales + 1))
    exact = sum(sp.sin(w * X) * sp.sin(w * Y) for w in waves) / scales
    return kp.Problem(
        kp.geometry.Box({X: (0, 1), Y: (0, 1)}),
        {"laplace": sp.Eq(-u.diff(X, 2) - u.diff(Y, 2), -exact.diff(X, 2) * 2)},
        {"boundary": kp.Condition(u, on="boundary", hard=True)},
        reference={u: exact},
        scales="auto",
    )


# Problem, units and depth of inner networks, splits, units and depth of one network
# with as many weights, and number of points of a step.
CASES = {
    "cosines": (cosines, (8, 2), {X: 16}, (38, 2), 5000),
    "laplace-2": (lambda: laplace(2), (10, 2), {X: 3, Y: 3}, (25, 3), 5000),
    "laplace-3": (lambda: laplace(3), (10, 2), {X: 4, Y: 4}, (33, 3), 8000),
    "laplace-4": (lambda: laplace(4), (7, 2), {X: 6, Y: 6}, (38, 3), 8000),
}


def train(name, kind, overlap, seed, seconds):
    """Train one network and return its record."""
    problem, inner, splits, plain, points = CASES[name]
    keras.utils.set_random_seed(seed)
    problem, network = problem(), kp.networks.MLP(*plain)
    if kind == "windows":
        domain = problem.domain
        ends = zip(domain.coordinates, domain.lower, domain.upper, strict=True)
        ends = {symbol: (low, high, splits[symbol]) for symbol, low, high in ends}
        network = Windowed(kp.networks.MLP(*inner), ends, overlap)
    model = kp.PINNModel(problem, network, seed=seed)
    schedule = keras.optimizers.schedules.CosineDecay(3e-3, ADAM_STEPS)
    trace, began = [], time.process_time()
    model.compile(keras.optimizers.Adam(schedule))
    steps = ADAM_STEPS
    while not trace or time.process_time() - began < seconds:
        history = model.fit(batch_size=points, steps_per_epoch=steps, verbose=0).history
        spent = time.process_time() - began
        logs = model.evaluate(*problem.test_data(), verbose=0, return_dict=True)
        error = logs["u_relative_l2"]
        trace.append([steps, round(spent, 1), float(history["loss"][-1]), float(error)])
        print(name, kind, trace[-1], flush=True)
        if len(trace) == 1:
            model.compile(kp.optimizers.SSBroyden())
        steps = FIT_STEPS
    return {
        "problem": name,
        "network": kind,
        "weights": model.network.count_params(),
        "splits": {str(s): n for s, n in splits.items()} if kind == "windows" else None,
        "overlap": overlap if kind == "windows" else None,
        "points": points,
        "seed": seed,
        "cpu_seconds": trace[-1][1],
        "error": trace[-1][-1],
        "trace": trace,
        "machine": f"{platform.machine()}, CPU, one core, shared",
        "version": kp.__version__,
        "code": "examples/windows",
        "keras": keras.__version__,
        "backend": keras.backend.backend(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="+", choices=CASES)
    parser.add_argument("--networks", nargs="+", default=["windows", "one"])
    parser.add_argument("--overlap", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=90.0, help="CPU time of a run")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS)
    options = parser.parse_args()
    keras.config.set_dtype_policy("float64")
    settings = options.overlap, options.seed, options.seconds
    for name in options.problems:
        for kind in options.networks:
            record = train(name, kind, *settings)
            with options.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
