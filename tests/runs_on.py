"""What of the tests does not run on both backends: where it runs, and the reason.

For each folder, file, test or set of parameters. What is not listed runs on both:
`pytest` takes it on TensorFlow, and has `backend/test_on_jax.py` take it on JAX.
"""

import os

from tensors import ON_JAX

THE_STUDY = "the study's command, whose records are of TensorFlow"
RUNS_ON = {
    "once, without a backend": {
        "solvers": "NumPy and SciPy",
        "declaration/test_blending.py": "SymPy and NumPy",
        "declaration/scaling/test_spectral_solve.py": "NumPy",
        "declaration/scaling/test_marched.py": "SciPy",
        "declaration/validation/test_well_posedness.py": "NumPy",
        "test_architecture.py": "it reads the documentation",
        "test_typing.py": "a type checker reads the sources",
    },
    "TensorFlow alone": {
        "backend/test_jvp.py": "gradients that TensorFlow lacks",
        "backend/test_on_jax.py": "it runs others on JAX",
        "backend/test_every_backend.py::test_threads_round_their_own_products": (
            "a thread's own on JAX"
        ),
        "backend/test_tensorflow.py": "a program that assigns to variables",
        "common/test_files.py::test_a_model_that_was_only_trained_is_exported": (
            "Keras's TFSMLayer is there alone"
        ),
        "distribution/test_devices.py": "tf.distribute's replicas and workers",
        "distribution/test_sharded.py": "it starts programs on JAX",
        "examples/reproduction": THE_STUDY,
        "examples/test_benchmark_tables.py": "tables of records",
        "examples/test_benchmarks.py": "contestants choose their own backends",
        "examples/test_failures.py": THE_STUDY,
        "examples/test_figures.py": THE_STUDY,
        "examples/test_pinnacle.py": THE_STUDY,
        "examples/test_second_stage.py": THE_STUDY,
        "test_citizenship.py::test_a_search_over_width_and_depth": (
            "a loop of keras-tuner's, which knows no backend"
        ),
        "test_docs.py::*[coming_from/keras.md]": "a loop written in TensorFlow",
        "test_docs.py::test_rounding_asked_for_and_replicas": "tf.distribute",
        "test_docs.py::test_several_devices": "it starts a program on JAX",
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
    """What does not run on TensorFlow, or on JAX, and why."""
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
