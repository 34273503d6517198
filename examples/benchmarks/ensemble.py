"""Times of a member's step in an ensemble, and of a step of a single model.

KERAS_BACKEND=jax python examples/benchmarks/ensemble.py

The problem is the paper's Helmholtz benchmark with annealing. A single model and an
ensemble take turns in one process. The model takes as many steps as all members
together. The program prints milliseconds for one step of one member, in wall time and
CPU time. CPU time depends less on other programs of the machine; it is the sum over all
cores.

On JAX, `--devices 2` distributes the members over two devices. On a CPU these are
cores. The single model stays on one device, and its products use all cores.
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
    options = parser.parse_args()
    scopes = {"alone": contextlib.nullcontext, "ensemble": contextlib.nullcontext}
    if options.devices > 1:
        import jax

        jax.config.update("jax_num_cpu_devices", options.devices)
        scopes["ensemble"] = keras.distribution.DataParallel().scope
    problem = kp.problems.helmholtz()
    network = NETWORKS[options.model](units=options.units, depth=options.depth)
    with scopes["ensemble"]():
        ensemble = kp.Ensemble(problem, network, size=options.size, seed=0)
    contestants = {
        "alone": (1, ensemble.member(0)),
        "ensemble": (options.size, ensemble),
    }
    times = {name: [] for name in contestants}
    for number in range(options.rounds + 1):
        for name, (members, model) in contestants.items():
            steps = options.steps * options.size // members
            if name == "alone":
                steps = options.alone or steps
            with scopes[name]():
                if number == 0:
                    model.compile(keras.optimizers.Adam(1e-3))
                wall, processor = measured(model, steps, options.batch_size)
            scale = 1e3 / steps / members
            if number == 0:
                print(f"{name}: {wall:.0f} s for the first {steps} steps", flush=True)
            else:
                times[name].append((scale * wall, scale * processor))
    name = f"{keras.backend.backend()}, {options.model} {options.units}x{options.depth}"
    size = f"{options.batch_size} points, {options.size} members, "
    size += f"{options.devices} devices"
    print(f"{name}, {size}; ms a step and member")
    medians = {}
    for name, pairs in times.items():
        columns = zip(*pairs, strict=True)
        medians[name] = [statistics.median(column) for column in columns]
        print("{:9} {:7.3f}  processor {:7.3f}".format(name, *medians[name]))
    ratios = [b / a for a, b in zip(*medians.values(), strict=True)]
    print("{:9} {:7.2f}  processor {:7.2f}".format("ratio", *ratios))
    if options.results:
        record = {
            "backend": keras.backend.backend(),
            **{n: v for n, v in vars(options).items() if n != "results"},
            "milliseconds": {name: wall for name, (wall, _) in medians.items()},
            "device_bytes": device_bytes(),
            "versions": {"keraspinn": kp.__version__, "keras": keras.__version__},
        }
        with options.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def measured(model, steps, batch_size):
    """Return the wall seconds and CPU seconds of some steps."""
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
