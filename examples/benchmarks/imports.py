"""Times of `import keraspinn`, without the import of Keras.

KERAS_BACKEND=jax python examples/benchmarks/imports.py

Each measurement is a new process. Times are CPU seconds, which depend less on other
programs of the machine. The first process is not counted, because Python compiles and
caches the modules in it.
"""

import argparse
import os
import statistics
import subprocess
import sys

PROGRAM = """
import time
import keras
start = time.process_time()
import sympy
middle = time.process_time()
import keraspinn
print(keras.backend.backend(), middle - start, time.process_time() - middle)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    lines = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(repeats + 1)
    ]
    backend = lines[0][0]
    sympy, package = (
        statistics.median(float(line[column]) for line in lines[1:])
        for column in (1, 2)
    )
    print(
        f"{backend}: {sympy + package:.2f} s beyond Keras, "
        f"{sympy:.2f} s of these SymPy's, "
        f"the median of {repeats}"
    )


if __name__ == "__main__":
    main()
