"""Run all measurements on a GPU by one command.

    python examples/benchmarks/gpu.py gpu_results

Into a folder: steps of M1 and M4, beside hand-written JAX and PyTorch (`steps.json`);
ensembles of 1, 10, 40 and 360 (`ensembles.jsonl`); the paper's whole Helmholtz table,
ten trials of each of its 36 cells, a cell's trials as one ensemble (`helmholtz.jsonl`),
for which ten minutes are aimed at; and the second stage in float64, on the GPU and on
the CPU's cores (`second_stage.jsonl`). Each record has the most that the card held for
its process, `device_bytes`. `gpu.json` has all of them, with commands and seconds, and
is written again after each part. Nothing is installed: the environment holds
keraspinn, JAX for the card, and PyTorch, or the last is reported as missing.

`--short` is a selection, with one cell of the table, and stops a part after four
minutes. `--small` is everything at a size for a CPU. `--parts` runs single parts.
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

from run import machine

HERE = pathlib.Path(__file__).parent
SIZES = 1, 10, 40, 360
STEPS = {
    "full": [],
    "short": [
        *("--quick", "--batches", "128", "100000"),
        *("--repeats", "3", "--seconds", "0.5", "--timeout", "60"),
    ],
    "small": ["--quick", "--steps", "2", "--repeats", "1", "--models", "M1"],
}
ENSEMBLE = {
    "full": ["--steps", "250"],
    "short": ["--steps", "250", "--alone", "2500", "--rounds", "3"],
    "small": ["--steps", "2", "--rounds", "1"],
}
TABLE = {
    "full": ["--trials", "10"],
    "short": ["--trials", "10", "--models", "M4", "--architectures", "50x3"],
    "small": ["--steps", "2", "--trials", "2", "--architectures", "30x3"],
}
SECONDS = {"full": 300, "short": 45, "small": 1}  # of a second stage, by the clock
LIMITS = {"short": 240}  # seconds of a part
DEVICE = """
import json, jax, keras, keraspinn
versions = {module.__name__: module.__version__ for module in (keraspinn, keras, jax)}
print(json.dumps({"device": jax.local_devices()[0].device_kind, "versions": versions}))
"""


def commands(folder, size):
    """Return pairs of arguments and environment variables, by the name of the part."""
    parts = {
        "steps": [
            HERE / "run.py",
            *("--stage", "accelerator", "--installed", "--cache", folder / "logs"),
            *("--output", folder / "steps.json", *STEPS[size]),
        ]
    }
    for members in SIZES[:2] if size == "small" else SIZES:
        parts[f"ensemble-{members}"] = [
            HERE / "ensemble.py",
            *("--size", members, "--results", folder / "ensembles.jsonl"),
            *ENSEMBLE[size],
        ]
    parts["table"] = [
        *("-m", "examples.reproduction", "helmholtz", "--ensemble", "--workers", "1"),
        *("--results", folder / "helmholtz.jsonl", *TABLE[size]),
    ]
    # A model alone is the same program beside each ensemble.
    kept = {"JAX_COMPILATION_CACHE_DIR": str(folder / "compiled")}
    parts = {
        name: (command, kept if name.startswith("ensemble") else {})
        for name, command in parts.items()
    }
    for where, variables in (("", {}), ("-cpu", {"JAX_PLATFORMS": "cpu"})):
        for optimizer in ("SSBroyden", "GaussNewton"):
            parts[f"{optimizer}{where}"] = (
                [
                    *("-m", "examples.second_stage", "helmholtz"),
                    *("--optimizer", optimizer, "--seconds", SECONDS[size], "--clock"),
                    *("--results", folder / "second_stage.jsonl"),
                ],
                {"JAX_ENABLE_X64": "1", **variables},
            )
    return parts


def collect(folder, done):
    """Write `gpu.json` from the files of the parts, and the parts that were run."""
    path = folder / "gpu.json"
    found = json.loads(path.read_text("utf-8")) if path.exists() else {"parts": {}}
    found["parts"] |= done
    for file in sorted(folder.glob("*.jsonl")):
        lines = file.read_text("utf-8").splitlines()
        found[file.stem] = [json.loads(line) for line in lines]
    if (steps := folder / "steps.json").exists():
        found |= json.loads(steps.read_text("utf-8"))
    if "device" not in found:
        told = subprocess.run(
            [sys.executable, "-c", DEVICE],
            cwd=HERE.parents[1],
            env=os.environ | {"KERAS_BACKEND": "jax"},
            capture_output=True,
        )
        found |= json.loads(told.stdout.splitlines()[-1])
        found |= {"machine": machine(), "date": datetime.date.today().isoformat()}
    text = json.dumps(found, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--parts", nargs="+", help="such as steps; all")
    size = parser.add_mutually_exclusive_group()
    for name, what in (("short", "a selection"), ("small", "a test on a CPU")):
        size.add_argument(
            f"--{name}", dest="size", action="store_const", const=name, help=what
        )
    given = parser.parse_args()
    folder, size = given.folder.resolve(), given.size or "full"
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, (arguments, variables) in commands(folder, size).items():
        if given.parts and name not in given.parts:
            continue
        began = time.perf_counter()
        command = [sys.executable, *map(str, arguments)]
        print(f"{name}: {' '.join(command)}", flush=True)
        running = subprocess.Popen(
            command,
            cwd=HERE.parents[1],
            env=os.environ | {"KERAS_BACKEND": "jax", **variables},
        )
        try:
            code = running.wait(LIMITS.get(size))
        except subprocess.TimeoutExpired:
            running.terminate()  # run.py then ends its contestants
            running.wait()
            code = "too long"
        seconds = round(time.perf_counter() - began, 1)
        print(f"{name}: {seconds:.0f} s, {code}", flush=True)
        failed += code != 0
        written = [a.name if isinstance(a, pathlib.Path) else a for a in arguments]
        values = {k: v.removeprefix(f"{folder}/") for k, v in variables.items()}
        record = {"command": " ".join(map(str, written)), "variables": values}
        collect(folder, {name: record | {"seconds": seconds, "returned": code}})
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
