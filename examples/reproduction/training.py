"""Training of the paper's study, with its settings and its record."""

import dataclasses
import datetime
import importlib.metadata
import math
import os
import platform
import time

import keras

import keraspinn as kp

MODELS = ("M1", "M2", "M3", "M4")
PROBLEMS = {
    "helmholtz": lambda training: kp.problems.helmholtz(),
    "helmholtz-1-1": lambda training: kp.problems.helmholtz(a1=1, a2=1),
    "klein-gordon": lambda training: kp.problems.klein_gordon(),
    **{
        f"poisson-{c}": lambda training, c=c: kp.problems.poisson(c)
        for c in (1, 2, 4, 8, 16)
    },
    "cavity-psi-p": lambda training: _cavity("streamfunction-pressure", training),
    "cavity-u-v-p": lambda training: _cavity("velocity-pressure", training),
}

SCHEDULES = {
    "exponential": lambda rate, steps: keras.optimizers.schedules.ExponentialDecay(
        rate, 1000, 0.9
    ),
    "cosine": keras.optimizers.schedules.CosineDecay,
}

# Number of steps of the second stage with the same points.
SECOND_EPOCH = 500

# Number of parameters up to which the matrices of SSBroyden need at most two gibibytes.
LARGEST_DENSE = 9000

# Dict from fields of a `Training` to their possible values.
CHOICES = {
    "problem": tuple(PROBLEMS),
    "model": MODELS,
    "schedule": tuple(SCHEDULES),
    "rule": ("weighted", "literal"),
    "layers": ("pooled", "averaged", "largest"),
    "dtype": ("float32", "float64"),
}

# Smallest values of fields that are numbers.
_NONE = ("seed", "hessian_every", "second_steps")
_ONE = ("units", "depth", "steps", "batch_size", "update_freq")
_LEAST = dict.fromkeys(_ONE, 1) | dict.fromkeys(_NONE, 0)


@dataclasses.dataclass(frozen=True)
class Training:
    """Settings of a training, which identify its record.

    A field without effect on the model, such as `alpha` of M1, is set to its default.

    Args:
        problem: Key of `PROBLEMS`.
        model: `"M1"` (plain), `"M2"` (annealed), `"M3"` (gated) or `"M4"` (both).
        units: Number of units in each hidden layer.
        depth: Number of hidden layers.
        seed: Seed of initial weights and collocation points.
        steps: Number of training steps.
        batch_size: Number of points inside and on each face in a step.
        schedule: Learning-rate schedule, `"exponential"` (times 0.9 in 1,000 steps) or
            `"cosine"` (to 0 at the end).
        learning_rate: Initial learning rate.
        alpha: Weight of a new estimate in the annealing.
        update_freq: Number of iterations between updates of the annealing.
        rule: Rule of the annealing, `"weighted"` or `"literal"`.
        exclude: Parameters that the statistics of the annealing leave out.
        layers: Treatment of layers in these statistics.
        standardize: Whether the network receives standardised coordinates.
        gate_input: Whether the first gate acts on the input.
        untruncated: Whether initial weights are drawn from an untruncated normal.
        encoder_biases: Whether the biases of the encoders have random initial values,
            like a kernel with one row.
        one_mean: Whether the boundary loss is the mean over the boundary, instead of
            the sum of the means over its sides.
        dtype: Type of points, weights and losses, `"float32"` or `"float64"`.
        hessian_every: Number of iterations between values of λ_max of the loss's
            Hessian, 0 for none.
        corner_width: `corner_width` of the cavity.
        boundary_weight: `boundary_weight` of the cavity.
        second_steps: Number of steps of `second_stage`, 0 for none.

    Raises:
        ValueError: If a name is unknown, or a number too small.
    """

    problem: str
    model: str
    units: int = 50
    depth: int = 5
    seed: int = 0
    steps: int = 40_000
    batch_size: int = 128
    schedule: str = "exponential"
    learning_rate: float = 1e-3
    alpha: float = 0.9
    update_freq: int = 10
    rule: str = "weighted"
    exclude: tuple = ()
    layers: str = "pooled"
    standardize: bool = True
    gate_input: bool = False
    untruncated: bool = False
    encoder_biases: bool = False
    one_mean: bool = False
    dtype: str = "float32"
    hessian_every: int = 0
    corner_width: float | None = None
    boundary_weight: float = 1.0
    second_steps: int = 0

    def __post_init__(self):
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise ValueError(
                    f"`{name}` must be one of {', '.join(known)}. Received: "
                    f"{name}={getattr(self, name)!r}"
                )
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise ValueError(
                    f"`{name}` must be at least {least}. Received: "
                    f"{name}={getattr(self, name)!r}"
                )
        for name, epoch in (("steps", 1000), ("second_steps", SECOND_EPOCH)):
            value = getattr(self, name)
            if value > epoch and value % epoch:
                raise ValueError(
                    f"`{name}` must be a number up to {epoch:,} or a multiple of it. "
                    f"Received: {name}={value}"
                )
        self._reset_unused()

    def _reset_unused(self):
        """Set fields without effect on the model to their defaults."""
        unused = []
        if self.model in ("M1", "M3"):
            unused += ["alpha", "update_freq", "rule", "exclude", "layers"]
        if self.model in ("M1", "M2"):
            unused += ["gate_input", "encoder_biases"]
        if not self.problem.startswith("cavity"):
            unused += ["corner_width", "boundary_weight"]
        for field in dataclasses.fields(self):
            if field.name in unused:
                object.__setattr__(self, field.name, field.default)


_COSINE = {"alpha": 0.1, "schedule": "cosine", "learning_rate": 3e-3}

PROTOCOLS = {
    # Settings of the paper with the weighted rule and standardised coordinates. They
    # are the defaults of a `Training` and identify records, so they do not follow
    # changes of the library's defaults.
    "library": {},
    # The text as written. Its literal rule does not converge.
    "paper": {
        "standardize": False,
        "rule": "literal",
        "one_mean": True,
        "corner_width": 0.0,
    },
    # The choices of the authors' code.
    "authors": {
        "alpha": 0.1,
        "exclude": ("bias", "encoder"),
        "layers": "averaged",
        "gate_input": True,
        "untruncated": True,
        "encoder_biases": True,
        "corner_width": 0.0,
    },
    # Smallest error of the library with the same number of steps of Adam.
    "cosine": _COSINE,
    # The same with second-order steps after those of Adam.
    "best": {**_COSINE, "second_steps": 5000},
}

# Units and depth of protocols that differ from those of the tables. A step of the
# second stage costs P² operations for P parameters, in addition to those of the
# network: P is 2,000 here and 10,000 for 50 × 5 units.
PROTOCOL_ARCHITECTURES = {"best": [(30, 3)]}

# Settings of a protocol that differ for the cavity.
CAVITY_PROTOCOLS = {
    # Statistics of the authors' code for the cavity, and one mean over both components.
    "authors": {"layers": "largest", "boundary_weight": 0.5},
}


def build(training):
    """Return the compiled model of a training, and its callbacks."""
    keras.utils.set_random_seed(training.seed)
    problem = PROBLEMS[training.problem](training)
    if training.one_mean:
        problem = _with_one_mean(problem)
    problem = problem.with_scales(kp.Scales.standardized(problem.domain))
    arguments = {
        "outputs": len(problem.fields),
        "standardize": training.standardize,
        "dtype": training.dtype,
    }
    if training.untruncated:
        arguments["kernel_initializer"] = keras.initializers.VarianceScaling(
            scale=1.0, mode="fan_avg", distribution="untruncated_normal"
        )
    if training.model in ("M3", "M4"):
        arguments["gate_input"] = training.gate_input
        if training.encoder_biases:
            deviation = math.sqrt(2 / (1 + training.units))
            arguments["encoder_bias_initializer"] = keras.initializers.RandomNormal(
                stddev=deviation
            )
        network = kp.networks.ModifiedMLP(training.units, training.depth, **arguments)
    else:
        network = kp.networks.MLP(training.units, training.depth, **arguments)
    model = kp.PINNModel(
        problem,
        network,
        seed=training.seed,
        dtype=training.dtype,
    )
    model.compile(_optimizer(training))
    callbacks = []
    if training.model in ("M2", "M4"):
        paths = [variable.path for variable in network.trainable_variables]
        annealing = kp.callbacks.LearningRateAnnealing(
            training.alpha,
            training.update_freq,
            training.rule,
            # A plain network has no encoders.
            [name for name in training.exclude if any(name in path for path in paths)],
            training.layers,
        )
        callbacks.append(annealing)
    if training.hessian_every:
        callbacks.append(kp.callbacks.HessianEigenvalue(training.hessian_every))
    return model, callbacks


def _optimizer(training):
    schedule = SCHEDULES[training.schedule](training.learning_rate, training.steps)
    return keras.optimizers.Adam(schedule)


def train(training):
    """Run a training; returns its record, a JSON-serializable dict."""
    model, callbacks = build(training)
    history, logs, seconds = _first_stage(model, callbacks, training)
    if training.second_steps:
        second, logs, second_seconds = second_stage(model, training.second_steps)
        names = history | second
        history = {n: history.get(n, []) + second.get(n, []) for n in names}
        seconds += second_seconds
    return _record(training, logs, history, seconds)


def second_stage(model, steps):
    """Continue in float64 with SSBroyden, new points and the current loss weights.

    Large networks are trained with `LBFGS` instead.

    Returns:
        History, last evaluation and seconds of the fit.
    """
    model = model.astype("float64")
    dense = model.count_params() <= LARGEST_DENSE
    model.compile(kp.optimizers.SSBroyden() if dense else kp.optimizers.LBFGS())
    return _fit(model, None, steps, SECOND_EPOCH)


def train_together(trainings):
    """Run trainings with consecutive seeds as one `keraspinn.Ensemble`.

    Args:
        trainings: Trainings that differ only in the seed.

    Returns:
        List of records with the number of `members` and their share of the seconds. For
        a member that stopped it has an error instead.
    """
    first, size = trainings[0], len(trainings)
    alone, callbacks = build(first)
    model = kp.Ensemble(
        alone.problem, alone.network, size=size, seed=first.seed, dtype=first.dtype
    )
    model.compile(_optimizer(first))
    history, logs, seconds = _first_stage(model, callbacks, first)
    records = []
    for number, training in enumerate(trainings):
        if number in model.stopped:
            records.append(FloatingPointError(f"Member {number} of {size} stopped."))
            continue
        member_history = {
            name.removesuffix("_of_members"): [members[number] for members in values]
            for name, values in history.items()
            if name.endswith("_of_members")
        }
        errors = {name: spread.members[number] for name, spread in logs.items()}
        record = _record(training, errors, member_history, seconds / size)
        records.append({**record, "members": size})
    return records


def _first_stage(model, callbacks, training):
    return _fit(model, training.batch_size, training.steps, 1000, callbacks)


def _fit(model, batch_size, steps, steps_per_epoch, callbacks=()):
    """Fit a model; returns history, last evaluation and seconds."""
    test_data = model.problem.test_data(100)
    steps_per_epoch = min(steps_per_epoch, steps)
    epochs = steps // steps_per_epoch
    began = time.perf_counter()
    history = model.fit(
        batch_size=batch_size,
        steps_per_epoch=steps_per_epoch,
        epochs=epochs,
        callbacks=callbacks,
        verbose=0,
        validation_data=test_data,
        validation_freq=max(1, epochs // 8),
    ).history
    seconds = time.perf_counter() - began
    return history, model.evaluate(*test_data, return_dict=True, verbose=0), seconds


def _record(training, logs, history, seconds):
    suffix = "_relative_l2"
    packages = ("keras", keras.config.backend(), "numpy")
    return {
        **dataclasses.asdict(training),
        "errors": {
            name.removesuffix(suffix): float(value)
            for name, value in logs.items()
            if name.endswith(suffix)
        },
        "error_traces": _traces(history, lambda name: name.endswith(suffix)),
        "weights": _traces(history, lambda name: name.endswith("_weight")),
        "eigenvalues": history.get("loss_hessian_eigenvalue", []),
        "seconds": round(seconds, 2),
        "device_bytes": _device_bytes(),
        "versions": {
            "keraspinn": kp.__version__,
            "python": platform.python_version(),
            **{name: importlib.metadata.version(name) for name in packages},
        },
        "machine": f"{platform.machine()}, {_cores()} of {os.cpu_count()} cores",
        "date": datetime.date.today().isoformat(),
    }


def _device_bytes():
    """Return the peak memory of this process on an accelerator, or `None`."""
    if keras.config.backend() != "jax":
        return None
    import jax

    return (jax.local_devices()[0].memory_stats() or {}).get("peak_bytes_in_use")


def _cores():
    """Return the number of cores that this process may use."""
    known = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if known else os.cpu_count()


def _traces(history, chosen):
    return {
        name.removeprefix("val_"): [float(f"{value:.6g}") for value in values]
        for name, values in history.items()
        if chosen(name) and (name.startswith("val_") == name.endswith("_relative_l2"))
    }


def _with_one_mean(problem):
    """Return the problem with one mean over its boundary, as the cavity has it."""
    boundary = problem.conditions["boundary"]
    if boundary.on == "boundary":
        return problem
    whole = {"boundary": kp.Condition(list(boundary.expressions), on="boundary")}
    return kp.Problem(
        problem.domain,
        problem.equations,
        {**problem.conditions, **whole},
        problem.reference,
        scales=problem.scales,
    )


def _cavity(formulation, training):
    return kp.problems.lid_driven_cavity(
        formulation=formulation,
        corner_width=training.corner_width,
        boundary_weight=training.boundary_weight,
    )
