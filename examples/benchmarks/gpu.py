"""Run all measurements on a GPU by one command.

    python examples/benchmarks/gpu.py gpu_results

Into a folder: steps of M1 and M4, beside hand-written JAX and PyTorch (`steps.json`);
ensembles of 1, 10, 40 and 360 (`ensembles.jsonl`); and the paper's whole Helmholtz
table, ten trials of each of its 36 cells, a cell's trials as one ensemble
(`helmholtz.jsonl`), for which ten minutes are aimed at. Each record has the most that
the card held for its process, `device_bytes`. Nothing is installed: the environment
holds keraspinn, JAX for the card, and PyTorch, or the last is reported as missing.
`--small` is everything at a size for a CPU, in a minute or two.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
SIZES = 1, 10, 40, 360
SMALL_STEPS = ["--quick", "--steps", "2", "--repeats", "1", "--models", "M1"]
SMALL_TABLE = ["--steps", "2", "--trials", "2", "--architectures", "30x3"]


def commands(folder, small):
    """Return the commands to run, by the name of the part."""
    parts = {
        "steps": [
            HERE / "run.py",
            *("--stage", "accelerator", "--installed", "--cache", folder / "logs"),
            *("--output", folder / "steps.json", *(SMALL_STEPS if small else ())),
        ]
    }
    for size in SIZES[:2] if small else SIZES:
        parts[f"ensemble of {size}"] = [
            HERE / "ensemble.py",
            *("--size", size, "--results", folder / "ensembles.jsonl"),
            *(("--steps", 2, "--rounds", 1) if small else ("--steps", 250)),
        ]
    parts["the Helmholtz table"] = [
        *("-m", "examples.reproduction", "helmholtz", "--ensemble", "--workers", "1"),
        *("--results", folder / "helmholtz.jsonl"),
        *(SMALL_TABLE if small else ("--trials", "10")),
    ]
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--small", action="store_true", help="as a test on a CPU")
    given = parser.parse_args()
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, command in commands(folder, given.small).items():
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, *map(str, command)],
            cwd=HERE.parents[1],
            env=os.environ | {"KERAS_BACKEND": "jax"},
        )
        failed += done.returncode != 0
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
