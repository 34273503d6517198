"""Entries of the benchmark: scripts in `contestants/`, their options and limits."""

import dataclasses

ALL = ("M1", "M2", "M3", "M4")
# Models that differ in the network.
NETWORKS = ("M1", "M4")
# Default options of `keraspinn_fit`.
FIT = {
    "engine": "taylor",
    "jit_compile": True,
    "bare": False,
    "verbose": 1,
    "callbacks": [],
    "epochs": 1,
    "fit": {},
}
# Number of epochs of a turn in which callbacks are timed. Their median counts.
EPOCHS = 4


@dataclasses.dataclass(frozen=True)
class Entry:
    """Contestant with one setting.

    Attributes:
        group: Name of the contestant; the best of a group counts.
        setting: Name of the entry within its group.
        script: Name of a program in `contestants/`.
        options: Dict of options of the script.
        models: Models that it can train.
        variables: Dict of environment variables.
        requirements: Name of the file of requirements, by default that of the script.
        works: Names of the works that it can do, or `None` for all.
        core: Whether it takes part in all works by default, not only in Helmholtz.
        trains: Whether it trains, so that it has losses.
    """

    group: str
    setting: str
    script: str
    options: dict
    models: tuple = NETWORKS
    variables: dict = dataclasses.field(default_factory=dict)
    requirements: str = ""
    works: tuple | None = None
    core: bool = False
    trains: bool = True

    @property
    def label(self):
        return f"{self.group}, {self.setting}" if self.setting else self.group

    @property
    def requirements_file(self):
        return self.requirements or f"{self.script}.txt"


def _keraspinn(setting="", models=ALL, core=True, **options):
    return Entry(
        "keraspinn", setting, "keraspinn_fit", FIT | options, models, core=core
    )


def _stock(jit_compile, steps):
    compiler = "XLA" if jit_compile else "graph"
    return Entry(
        "stock Keras",
        f"{compiler}, {steps} step{'s' * (steps > 1)} an execution",
        "stock_keras",
        {"jit_compile": jit_compile, "steps_per_execution": steps, "fused": False},
        core=steps == 250,
    )


# PyTorch divides small operations between cores, which can make them slower.
THREADS = {"a thread a core": {}, "one thread": {"OMP_NUM_THREADS": "1"}}


def _torch(group, setting, script, **options):
    return [
        Entry(
            group,
            f"{setting}, {word}".lstrip(", "),
            script,
            options,
            variables=threads,
        )
        for word, threads in THREADS.items()
    ]


def _deepxde(setting, backend, packages, variables=(), core=False, **options):
    return Entry(
        "DeepXDE",
        setting,
        "deepxde_step",
        {"autodiff": "reverse", "xla": False} | options,
        ("M1",),
        {"DDE_BACKEND": backend, **dict(variables)},
        f"deepxde_{packages}.txt",
        core=core,
    )


def _deepxde_tensorflow():
    old, new = "tensorflow.compat.v1", "tensorflow"
    return (
        _deepxde("TensorFlow 1 graph", old, new, core=True),
        _deepxde(
            "TensorFlow 1 graph, forward mode", old, new, core=True, autodiff="forward"
        ),
        _deepxde("TensorFlow 2", new, new, core=True),
        # On TensorFlow 2, forward mode takes 2.5 times as long, and XLA needs more than
        # minutes to compile it.
        _deepxde("TensorFlow 2, XLA", new, new, core=True, xla=True),
    )


ENTRIES = (
    _keraspinn(),
    _keraspinn("the compiled loop alone", NETWORKS, core=False, bare=True),
    *(_stock(xla, steps) for xla in (False, True) for steps in (1, 10, 250)),
    *(
        Entry(
            "hand-written JAX", name, "jax_step", {"mode": mode}, core=mode == "forward"
        )
        for mode, name in (
            ("reverse", "nested reverse mode"),
            ("forward", "forward over forward"),
            ("jet", "jax.experimental.jet"),
        )
    ),
    *_torch("PyTorch", "torch.compile of torch.func", "torch_step", mode="forward"),
    *_torch("PyTorch", "nested autograd, eager", "torch_step", mode="reverse"),
    *_deepxde_tensorflow(),
    _deepxde("JAX", "jax", "jax"),
    _deepxde("JAX, forward mode", "jax", "jax", core=True, autodiff="forward"),
    *(
        # Forward mode takes four times as long.
        _deepxde(f"PyTorch, {word}", "pytorch", "torch", variables)
        for word, variables in THREADS.items()
    ),
    *_torch("PINA", "", "pina_step"),
    *(
        Entry(
            "jinns", name, "jinns_step", {"laplacian": laplacian}, works=("helmholtz",)
        )
        # The default of jinns, the trace of the Hessian, takes twice as long.
        for laplacian, name in (
            ("loop", "its Laplacian in a loop"),
            ("forward", "forward over forward"),
        )
    ),
    Entry("jaxpi", "", "jaxpi_step", {}, ("M1",)),
    Entry(
        "the paper's algorithm",
        "TensorFlow 1 style",
        "authors_tf1",
        {},
        ALL,
        core=True,
    ),
)

# Entries for comparisons of backends and engines, and for sweeps.
ON_JAX = Entry(
    "keraspinn on JAX", "", "keraspinn_fit", FIT, NETWORKS, {"KERAS_BACKEND": "jax"}
)
NESTED_KERASPINN = _keraspinn(
    "nested Jacobian-vector products", core=False, engine="jvp"
)
TAYLOR_GRAPH = _keraspinn("without XLA", core=False, jit_compile=False)
FUSED_TAPES = Entry(
    "nested tapes",
    "in one compiled loop",
    "stock_keras",
    {"jit_compile": False, "steps_per_execution": 250, "fused": True},
)


def named(group, setting=""):
    """Return the entries of a group whose setting begins with a text."""
    return [e for e in ENTRIES if e.group == group and e.setting.startswith(setting)]


def chosen(entry, options):
    """Return whether the options select the entry, by its label or by default."""
    names = options.contestants
    return not names or any(entry.label.startswith(name) for name in names)


def overhead_entries():
    """Return pairs of a model and an entry that differ in arguments of `fit`."""
    epochs = {"epochs": EPOCHS}
    plain = _keraspinn("fit, no output", verbose=0, **epochs)
    return [
        ("M4", _keraspinn("the compiled loop alone", bare=True, verbose=0)),
        ("M4", plain),
        ("M3", plain),
        ("M4", _keraspinn("progress bar", **epochs)),
        ("M4", _keraspinn("histograms", verbose=0, callbacks=["histograms"], **epochs)),
        (
            "M4",
            _keraspinn("checkpoints", verbose=0, callbacks=["checkpoints"], **epochs),
        ),
        ("M4", _products("in one a term")),
    ]


def _products(setting, **options):
    return Entry(
        "NumPy matrix products", setting, "numpy_products", options, trains=False
    )


# Entries of all stages.
ALL_ENTRIES = (
    *ENTRIES,
    ON_JAX,
    NESTED_KERASPINN,
    TAYLOR_GRAPH,
    FUSED_TAPES,
    *(entry for _, entry in overhead_entries()),
)
