"""Tests that run on one backend only, each with the reason.

For each folder, file, test or set of parameters. All others run on both backends:
`pytest` runs them on TensorFlow, `KERAS_BACKEND=jax pytest` on JAX.
"""

import os

from tensors import ON_JAX

THE_STUDY = "commands whose records were made on TensorFlow"
RUNS_ON = {
    "once, without a backend": {
        "common": "Python and files",
        "declaration": "SymPy and NumPy",
        "expressions": "SymPy and NumPy",
        "geometry": "arrays of NumPy, and functions that know no backend",
        "plot": "Matplotlib",
        "problems": "declarations",
        "public_examples": "declarations",
        "reliability": "files",
        "examples/test_cavity_solver.py": "NumPy and SciPy",
        "test_bad_inputs.py": "declarations",
        "test_package.py": "it reads the sources",
        "test_public_names.py": "it reads the sources",
        "test_architecture.py": "it reads the documentation",
        "test_typing.py": "a type checker reads the sources",
    },
    "TensorFlow alone": {
        "backend/test_jvp.py": "gradients that TensorFlow lacks",
        "backend/test_every_backend.py::test_threads_round_their_own_products": (
            "a thread's own on JAX"
        ),
        "backend/test_tensorflow.py": "a program that assigns to variables",
        "distribution/test_devices.py": "tf.distribute's replicas and workers",
        "distribution/test_sharded.py": "it starts programs on JAX",
        "examples": THE_STUDY,
        "test_citizenship.py::test_a_search_over_width_and_depth": (
            "a loop of keras-tuner's, which knows no backend"
        ),
        "test_docs.py": "programs of the documentation, which run on TensorFlow",
    },
    "JAX alone": {
        "backend/test_every_backend.py::test_what_the_user_told_jax_stands": (
            "JAX's own setting"
        ),
        "backend/test_random.py::test_nothing_is_compiled_anew_for_other_words": (
            "XLA compiles it on JAX"
        ),
        "optimizers/test_quasi_newton.py::test_a_step_is_vectorized": "vmap",
    },
    "JAX in single precision alone": {
        "backend/test_jax.py": "JAX's default, and what TensorFlow has not",
    },
}


def elsewhere(on_jax=ON_JAX, single=os.environ["JAX_ENABLE_X64"] == "0"):
    """Return the tests that do not run on TensorFlow, or on JAX, with the reason."""
    here = {
        "once, without a backend": not on_jax,
        "TensorFlow alone": not on_jax,
        "JAX alone": on_jax,
        "JAX in single precision alone": on_jax and single,
    }
    return {
        name: f"{place}: {reason}"
        for place, names in RUNS_ON.items()
        for name, reason in names.items()
        if not here[place]
    }
