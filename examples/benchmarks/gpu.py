"""All measurements on a GPU by one command.

    python examples/benchmarks/gpu.py gpu_results

The parts write these files into a folder:

- `steps.json`: steps of M1 and M4, of hand-written JAX and of PyTorch;
- `ensembles.jsonl`: ensembles of 1, 10, 40 and 360;
- `helmholtz.jsonl`: the paper's whole Helmholtz table, ten trials of each of its 36
  cells. Trials of a cell are one ensemble. The aim for this part is ten minutes;
- `second_stage.jsonl`: the second stage in float64, on the GPU and on the CPU.

Each record has `device_bytes`, the peak memory of its process on the GPU. `gpu.json`
has all records with commands and seconds, and is updated after each part. Nothing is
installed: the environment needs keraspinn, JAX for the GPU, and PyTorch. Without
PyTorch its entries are reported as missing.

`--short` runs a selection with one cell of the table, and stops a part after four
minutes. `--small` runs everything at a size for a CPU. `--parts` runs single parts.
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
# Numbers of members of the ensembles.
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
# Wall seconds of a second stage.
SECONDS = {"full": 300, "short": 45, "small": 1}
# Largest number of wall seconds of a part.
LIMITS = {"short": 240}
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
    # The single model is the same program in each part, so its compilation is cached.
    kept = {"JAX_COMPILATION_CACHE_DIR": str(folder / "compiled")}
    parts = {
        name: (command, kept if name.startswith("ensemble") else {})
        for name, command in parts.items()
    }
    for suffix, variables in (("", {}), ("-cpu", {"JAX_PLATFORMS": "cpu"})):
        for optimizer in ("SSBroyden", "GaussNewton"):
            parts[f"{optimizer}{suffix}"] = (
                [
                    *("-m", "examples.second_stage", "helmholtz"),
                    *("--optimizer", optimizer, "--seconds", SECONDS[size], "--clock"),
                    *("--results", folder / "second_stage.jsonl"),
                ],
                {"JAX_ENABLE_X64": "1", **variables},
            )
    return parts


def collect(folder, done):
    """Write `gpu.json` from the files of the parts and the list of parts that ran."""
    path = folder / "gpu.json"
    record = json.loads(path.read_text("utf-8")) if path.exists() else {"parts": {}}
    record["parts"] |= done
    for file in sorted(folder.glob("*.jsonl")):
        lines = file.read_text("utf-8").splitlines()
        record[file.stem] = [json.loads(line) for line in lines]
    if (steps := folder / "steps.json").exists():
        record |= json.loads(steps.read_text("utf-8"))
    if "device" not in record:
        process = subprocess.run(
            [sys.executable, "-c", DEVICE],
            cwd=HERE.parents[1],
            env=os.environ | {"KERAS_BACKEND": "jax"},
            capture_output=True,
        )
        record |= json.loads(process.stdout.splitlines()[-1])
        record |= {"machine": machine(), "date": datetime.date.today().isoformat()}
    text = json.dumps(record, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--parts", nargs="+", help="such as steps; all")
    size = parser.add_mutually_exclusive_group()
    for name, summary in (("short", "a selection"), ("small", "a test on a CPU")):
        size.add_argument(
            f"--{name}", dest="size", action="store_const", const=name, help=summary
        )
    options = parser.parse_args()
    folder, size = options.folder.resolve(), options.size or "full"
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, (arguments, variables) in commands(folder, size).items():
        if options.parts and name not in options.parts:
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
