"""One training of the paper's study: its identity and its record."""

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


SECOND_EPOCH = 500
"""Steps of the second stage for which points are held."""

LARGEST_DENSE = 9000
"""Parameters up to which SSBroyden's matrices fit into its two gibibytes."""

CHOICES = {
    "problem": tuple(PROBLEMS),
    "model": MODELS,
    "schedule": tuple(SCHEDULES),
    "rule": ("weighted", "literal"),
    "layers": ("pooled", "averaged", "largest"),
    "dtype": ("float32", "float64"),
}
"""What fields of a `Training` that are names may be."""

_NONE = ("seed", "hessian_every", "second_steps")
_ONE = ("units", "depth", "steps", "batch_size", "update_freq")
_LEAST = dict.fromkeys(_ONE, 1) | dict.fromkeys(_NONE, 0)


@dataclasses.dataclass(frozen=True)
class Training:
    """Identity of a training: two of them with equal fields are one.

    A field without effect on the model, such as `alpha` of M1, has its default.

    Args:
        problem: Key of `PROBLEMS`.
        model: `"M1"` (plain), `"M2"` (annealed), `"M3"` (gated) or `"M4"` (both).
        units: Number of units in each hidden layer.
        depth: Number of hidden layers.
        seed: Seed of initial weights and collocation points.
        steps: Number of training steps.
        batch_size: Number of points inside and on each face in a step.
        schedule: `"exponential"` (times 0.9 in 1,000 steps) or `"cosine"` (to 0 at
            the end), of the learning rate.
        learning_rate: Where the schedule starts.
        alpha: Weight of a new estimate in the annealing.
        update_freq: Iterations between its updates.
        rule: `"weighted"` or `"literal"`, the rule of the annealing.
        exclude: Parameters that its statistics leave out.
        layers: How its statistics treat layers.
        standardize: Whether the network sees standardised coordinates.
        gate_input: Whether the first gate acts on the input.
        untruncated: Whether initial weights are drawn from an untruncated normal.
        encoder_biases: Whether the encoders' biases are drawn as well, like a kernel
            of one row.
        one_mean: Whether the boundary loss is one mean over the boundary, and not the
            sum of the sides' means.
        dtype: `"float32"` or `"float64"`, from the points to the loss.
        hessian_every: Iterations between values of λ_max of the loss's Hessian; 0 for
            none.
        corner_width: `corner_width` of the cavity.
        boundary_weight: `boundary_weight` of the cavity.
        second_steps: Number of steps of `second_stage` after these; 0 for none.

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
        self._forget_what_has_no_effect()

    def _forget_what_has_no_effect(self):
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
    # The paper's settings, with the weighted rule and standardised coordinates: the
    # defaults of a `Training`, whatever the library's are. Records are known by them.
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
    # The least error that the library reaches in the same steps of Adam.
    "cosine": _COSINE,
    # And in steps of the second order after them.
    "best": {**_COSINE, "second_steps": 5000},
}


PROTOCOL_ARCHITECTURES = {"best": [(30, 3)]}
"""Units and depth that a protocol has in every table, if not the table's own.

A step of the second stage costs P² operations for P parameters besides the network's
own: here P is 2,000, of 50 × 5 units 10,000."""


CAVITY_PROTOCOLS = {
    # The code's own statistics for the cavity, and one mean over both components.
    "authors": {"layers": "largest", "boundary_weight": 0.5},
}
"""What a protocol has otherwise in the cavity."""


def build(training):
    """The compiled model of a training, and its callbacks."""
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
            # A plain network has no encoders to leave out.
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
    """Run a training; returns its record, a dict that is JSON."""
    model, callbacks = build(training)
    history, logs, seconds = _first_stage(model, callbacks, training)
    if training.second_steps:
        later, logs, more = second_stage(model, training.second_steps)
        names = history | later
        history = {n: history.get(n, []) + later.get(n, []) for n in names}
        seconds += more
    return _record(training, logs, history, seconds)


def second_stage(model, steps):
    """Go on in float64 with SSBroyden, its own points, and the λ that stand.

    With `LBFGS` where the network is too large for it.

    Returns:
        Its history, its last evaluation, and the fit's seconds.
    """
    model = model.astype("float64")
    dense = model.count_params() <= LARGEST_DENSE
    model.compile(kp.optimizers.SSBroyden() if dense else kp.optimizers.LBFGS())
    return _fit(model, None, steps, SECOND_EPOCH)


def train_together(trainings):
    """Run trainings whose seeds follow one another as one `keraspinn.Ensemble`.

    Args:
        trainings: Trainings that differ in nothing but the seed, which counts up.

    Returns:
        Their records. Each has the number of `members`, and its share of the seconds.
        A member that stopped has an error instead, as if trained alone.
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
        own = {
            name.removesuffix("_of_members"): [each[number] for each in values]
            for name, values in history.items()
            if name.endswith("_of_members")
        }
        errors = {name: spread.members[number] for name, spread in logs.items()}
        record = _record(training, errors, own, seconds / size)
        records.append({**record, "members": size})
    return records


def _first_stage(model, callbacks, training):
    return _fit(model, training.batch_size, training.steps, 1000, callbacks)


def _fit(model, batch_size, steps, steps_per_epoch, callbacks=()):
    """Fit a model; returns its history, its last evaluation, and the fit's seconds."""
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
    """The most that an accelerator has held for this process so far, or `None`."""
    if keras.config.backend() != "jax":
        return None
    import jax

    return (jax.local_devices()[0].memory_stats() or {}).get("peak_bytes_in_use")


def _cores():
    """Number of cores that this process may use."""
    known = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if known else os.cpu_count()


def _traces(history, chosen):
    return {
        name.removeprefix("val_"): [float(f"{value:.6g}") for value in values]
        for name, values in history.items()
        if chosen(name) and (name.startswith("val_") == name.endswith("_relative_l2"))
    }


def _with_one_mean(problem):
    """The problem with its boundary as one block; the cavity has it so anyway."""
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
