"""Time a member's step in an ensemble, and a step of a model trained alone.

KERAS_BACKEND=jax python examples/benchmarks/ensemble.py

The paper's Helmholtz benchmark with annealing: a model alone, for as many steps as all
members take together, and an ensemble take turns in one process. Milliseconds for one
step of one member, by the clock and of the processor's time, which other programs on
the machine disturb less; of several cores it counts all that are at work.

On JAX `--devices 2` has the members shared by as many devices, on a CPU by cores that
count as devices; the model alone stays on one, with all cores to spread its products.
"""

import argparse
import contextlib
import json
import pathlib
import statistics
import time

import keras
from contestants.keraspinn_fit import device_bytes

import keraspinn as kp

NETWORKS = {"M2": kp.networks.MLP, "M4": kp.networks.ModifiedMLP}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=NETWORKS, default="M4")
    parser.add_argument("--units", type=int, default=50)
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--size", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--alone", type=int, help="steps of the model alone, if others")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--results", type=pathlib.Path, help="file to add a line to")
    given = parser.parse_args()
    places = {"alone": contextlib.nullcontext, "ensemble": contextlib.nullcontext}
    if given.devices > 1:
        import jax

        jax.config.update("jax_num_cpu_devices", given.devices)
        places["ensemble"] = keras.distribution.DataParallel().scope
    problem = kp.problems.helmholtz()
    network = NETWORKS[given.model](units=given.units, depth=given.depth)
    with places["ensemble"]():
        ensemble = kp.Ensemble(problem, network, size=given.size, seed=0)
    contestants = {"alone": (1, ensemble.member(0)), "ensemble": (given.size, ensemble)}
    times = {name: [] for name in contestants}
    for number in range(given.rounds + 1):
        for name, (members, model) in contestants.items():
            steps = given.steps * given.size // members
            if name == "alone":
                steps = given.alone or steps
            with places[name]():
                if number == 0:
                    model.compile(keras.optimizers.Adam(1e-3))
                wall, processor = measured(model, steps, given.batch_size)
            each = 1e3 / steps / members
            if number == 0:
                print(f"{name}: {wall:.0f} s for the first {steps} steps", flush=True)
            else:
                times[name].append((each * wall, each * processor))
    name = f"{keras.backend.backend()}, {given.model} {given.units}x{given.depth}"
    size = f"{given.batch_size} points, {given.size} members, {given.devices} devices"
    print(f"{name}, {size}; ms a step and member")
    middle = {}
    for name, pairs in times.items():
        middle[name] = [
            statistics.median(column) for column in zip(*pairs, strict=True)
        ]
        print("{:9} {:7.3f}  processor {:7.3f}".format(name, *middle[name]))
    ratios = [b / a for a, b in zip(*middle.values(), strict=True)]
    print("{:9} {:7.2f}  processor {:7.2f}".format("ratio", *ratios))
    if given.results:
        record = {
            "backend": keras.backend.backend(),
            **{n: v for n, v in vars(given).items() if n != "results"},
            "milliseconds": {name: wall for name, (wall, _) in middle.items()},
            "device_bytes": device_bytes(),
            "versions": {"keraspinn": kp.__version__, "keras": keras.__version__},
        }
        with given.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def measured(model, steps, batch_size):
    """Seconds of the clock and of the processor that some steps take."""
    wall, processor = time.perf_counter(), time.process_time()
    model.fit(
        batch_size=batch_size,
        steps_per_epoch=steps,
        callbacks=[kp.callbacks.LearningRateAnnealing()],
        verbose=0,
    )
    return time.perf_counter() - wall, time.process_time() - processor


if __name__ == "__main__":
    main()
