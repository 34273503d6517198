"""Tests that run on one backend only, each with the reason.

The names are those of folders, files, tests or sets of parameters. All others run on
both backends:
`pytest` runs them on TensorFlow, `KERAS_BACKEND=jax pytest` on JAX.
"""

import os

from tensors import ON_JAX

STUDIES = "commands whose records were made on TensorFlow"
RUNS_ON = {
    "once, without a backend": {
        "common": "Python and files",
        "declaration": "SymPy and NumPy",
        "expressions": "SymPy and NumPy",
        "geometry": "NumPy, and functions without a backend",
        "plot": "Matplotlib",
        "problems": "declarations",
        "reliability": "files",
        "examples/test_cavity_solver.py": "NumPy and SciPy",
        "test_bad_inputs.py": "declarations",
        "recipes": "strategy above `fit`, without a backend",
        "test_language.py": "it reads the sources",
        "test_package.py": "it reads the sources",
        "test_public_names.py": "it reads the sources",
        "test_architecture.py": "it reads the documentation",
        "test_typing.py": "a type checker reads the sources",
    },
    "TensorFlow alone": {
        "backend/test_jvp.py": "gradients that TensorFlow lacks",
        "backend/test_tensorflow.py": "a program that assigns to variables",
        "distribution/test_devices.py": "tf.distribute's replicas and workers",
        "distribution/test_sharded.py": "it starts programs on JAX",
        "examples": STUDIES,
        "test_citizenship.py::test_a_search_over_width_and_depth": (
            "a loop of keras-tuner, which is independent of the backend"
        ),
        "diagnostics/verdicts": "NumPy, on Jacobians that both compute alike",
        "training/test_astype.py": "configurations",
        "training/test_deviation.py": "NumPy, on Jacobians that both compute alike",
        "training/test_loading.py": "configurations and files",
        "training/test_materials.py": "problems above `fit`, which runs on both",
        "training/test_energy_kinds.py": "physics above `fit`, which runs on both",
        "training/test_kinds_of_conditions.py": "likewise",
        "test_docs.py": "programs of the documentation, which run on TensorFlow",
    },
    "JAX alone": {
        "backend/test_every_backend.py::test_jax_precision_set_by_the_user_is_kept": (
            "JAX's own setting"
        ),
        "backend/test_random.py::test_other_seeds_do_not_recompile": (
            "XLA compiles it on JAX"
        ),
        "optimizers/test_quasi_newton.py::test_a_step_is_vectorized": "vmap",
    },
    "JAX in single precision alone": {
        "backend/test_jax.py": "single precision by default",
    },
}


def elsewhere(on_jax=ON_JAX, single=os.environ["JAX_ENABLE_X64"] == "0"):
    """Return the tests that do not run on TensorFlow, or on JAX, with the reason."""
    applies = {
        "once, without a backend": not on_jax,
        "TensorFlow alone": not on_jax,
        "JAX alone": on_jax,
        "JAX in single precision alone": on_jax and single,
    }
    return {
        name: f"{where}: {reason}"
        for where, names in RUNS_ON.items()
        for name, reason in names.items()
        if not applies[where]
    }
