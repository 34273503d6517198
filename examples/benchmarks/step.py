"""Time a training step through `model.fit`, against stock Keras and the bare loop.

    python examples/benchmarks/step.py --repeats 5

Helmholtz, 50 units × 5 hidden layers, 128 points inside and 128 on each side, redrawn
in every step, float32. All sides run in turn in one process; medians are printed.
"""

import argparse
import json
import pathlib
import platform
import statistics
import time

import keras
import stock_keras
import tensorflow as tf

import keraspinn as kp

NETWORKS = {"M1": kp.networks.MLP, "M4": kp.networks.ModifiedMLP}
BATCH_SIZE, UNITS, DEPTH = 128, 50, 5


def ours(name, steps):
    """Milliseconds a step through `fit`, progress bar and callbacks on."""
    gated = kp.networks.ModifiedMLP if name in ("M3", "M4") else kp.networks.MLP
    model = kp.PINNModel(kp.problems.helmholtz(), gated(UNITS, DEPTH), seed=0)
    model.compile(keras.optimizers.Adam(1e-3))
    annealed = name in ("M2", "M4")
    callbacks = [kp.callbacks.LearningRateAnnealing()] if annealed else []

    def run():
        model.fit(
            batch_size=BATCH_SIZE,
            steps_per_epoch=steps,
            callbacks=callbacks,
            verbose=1,
        )

    run()
    return model, run


def bare(model, steps):
    """The compiled loop of a model without `fit` around it."""
    loop = kp.backend.fused_loop(
        model.self_contained_step,
        model.training_logs,
        model.training_loss_names,
        model.variable_dtype,
        True,
    )

    def run():
        keras.ops.convert_to_numpy(loop(steps)["loss"])

    run()
    return run


def stock(name, steps, jit_compile, steps_per_execution):
    """Stock Keras `fit` on nested tapes."""
    model = stock_keras.NestedTapes(NETWORKS[name](UNITS, DEPTH), BATCH_SIZE)
    model.compile(
        keras.optimizers.Adam(1e-3),
        jit_compile=jit_compile,
        steps_per_execution=steps_per_execution,
    )

    def run():
        model.fit(stock_keras.endless(), steps_per_epoch=steps, shuffle=False)

    run()
    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--output", help="JSON file to write")
    arguments = parser.parse_args()

    runs = {}
    for name in ("M1", "M2", "M3", "M4"):
        model, runs[f"{name} fit"] = ours(name, arguments.steps)
        if name in NETWORKS:
            runs[f"{name} bare loop"] = bare(model, arguments.steps)
    for name in NETWORKS:
        for jit_compile in (False, True):
            for length in (1, 10, 100):
                compiler = "XLA" if jit_compile else "graph"
                key = f"{name} stock Keras, {compiler}, {length} steps an execution"
                runs[key] = stock(name, arguments.steps, jit_compile, length)

    times = {key: [] for key in runs}
    for _ in range(arguments.repeats):
        for key, run in runs.items():
            began = time.perf_counter()
            run()
            elapsed = time.perf_counter() - began
            times[key].append(1000 * elapsed / arguments.steps)

    medians = {key: statistics.median(values) for key, values in times.items()}
    print()
    for key, values in times.items():
        print(
            f"{key:46s} {medians[key]:6.3f} ms  [{min(values):.3f}, {max(values):.3f}]"
        )
    ratios = {}
    for name in NETWORKS:
        best = min(
            value for key, value in medians.items() if key.startswith(f"{name} stock")
        )
        ratios[f"stock Keras at its best / {name} fit"] = best / medians[f"{name} fit"]
        ratios[f"{name} fit / bare loop"] = (
            medians[f"{name} fit"] / medians[f"{name} bare loop"]
        )
    ratios["M2 fit / M1 fit"] = medians["M2 fit"] / medians["M1 fit"]
    ratios["M4 fit / M1 fit"] = medians["M4 fit"] / medians["M1 fit"]
    for key, value in ratios.items():
        print(f"{key:46s} {value:6.3f}")
    if arguments.output:
        record = {
            "milliseconds": times,
            "ratios": ratios,
            "steps": arguments.steps,
            "versions": {
                "keraspinn": kp.__version__,
                "keras": keras.__version__,
                "tensorflow": tf.__version__,
                "python": platform.python_version(),
            },
            "machine": f"{platform.machine()}, {platform.processor() or 'CPU'}",
        }
        pathlib.Path(arguments.output).write_text(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
