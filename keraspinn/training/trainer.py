"""The training of a model: its points, weighting rule, state, step and loop."""

import hashlib

import keras
import numpy as np

from keraspinn import backend
from keraspinn.backend.scopes import assign
from keraspinn.optimizers import Optimizer
from keraspinn.sampling.given import given_batches, held_or_streamed
from keraspinn.sampling.sources import PointSources
from keraspinn.training.checks import check_trainable
from keraspinn.training.execution import points_per_pass, steps_per_execution_for
from keraspinn.training.guard import explanation
from keraspinn.training.points import point_sources
from keraspinn.training.second_order import SecondOrderStep
from keraspinn.training.step import FirstOrderStep, TrainingState, state_variables
from keraspinn.training.weighting import Weighting

_DIGEST = "digest"


class Trainer:
    """Trains a `PINNModel`, which holds it, by steps that need no data.

    A step whose loss or gradient is not finite is not taken: callbacks, errors and
    saved files see the state before it.

    Args:
        model: The `PINNModel`.

    Attributes:
        single: The `PINNModel` whose losses are trained.
        sources: The `PointSources` of the last fit.
        weighting: The `Weighting`.
        streams: Whether the points are streamed.
        progress: Iterator over the steps of executions in a fit by fused steps, or
            `None`.
        state: The `TrainingState`, or `None` before the first fit.
        step: The `Step`, or `None`.
    """

    loss_shape = ()  # of each loss that a step returns
    numbers_beside: tuple[str, ...] = ()  # names of what it returns beside losses
    callbacks = ()  # of every fit
    counted = ()  # index of the members that count

    def __init__(self, model):
        self.model = self.single = model
        self.sources = PointSources(model.problem, model.compute_dtype)
        self.weighting = Weighting()
        self.streams, self.progress = False, None
        self.state = self.step = None
        self._loaded = {}  # state of samplers and logs in a model's file, by name
        self._prepared_for, self._traced = (None, None), None

    @property
    def is_second_order(self):
        """A flag: the optimizer is one of `keraspinn.optimizers`."""
        return isinstance(getattr(self.model, "optimizer", None), Optimizer)

    # Settings

    def follow(self, optimizer):
        """Log the numbers of a new optimizer, from now on."""
        self.single._logs.follow(optimizer)

    def set_points(self, x, batch_size):
        """Set the points of a fit, which begins without a weighting rule.

        Args:
            x: As `PINNModel.fit` receives it.
            batch_size: Number of points, a dict of them, or `None`.
        """
        model = self.model
        check_trainable(self.single.trainable_variables, model.optimizer)
        self.weighting.rule = None
        given, default, self.streams = held_or_streamed(x)
        settings = model.problem, model.optimizer, model.compute_dtype
        self.sources = point_sources(*settings, batch_size, given, default)

    def steps_per_execution(self, steps_per_epoch):
        """Return the number of steps to run as one program."""
        if (steps := self.model.compiled_with["steps_per_execution"]) != "auto":
            return steps
        if self.streams:
            return 1
        costs = self.sources, self.single._objective.terms, self.model.count_params()
        return steps_per_execution_for(*costs, steps_per_epoch, self.model.optimizer)

    @property
    def max_points_per_pass(self):
        """Number of points of a term that are differentiated at a time."""
        compiled = self.model.compiled_with["max_points_per_pass"]
        return points_per_pass() if compiled == "auto" else compiled

    @property
    def settings(self):
        """Settings of a training besides the configs of `fit`'s model, a dict.

        The seed, `None` if it was drawn; the sources of points; whether points are
        streamed; and the weighting rule.
        """
        rule = self.weighting.rule
        if rule is not None:
            rule = {"class_name": type(rule).__qualname__, "config": rule.get_config()}
        return {
            "seed": self.model.seed if self.model.seed_is_given else None,
            **self.sources.settings,
            "streamed": self.streams,
            "weighting": rule,
        }

    @property
    def key(self):
        """Hashable: a compiled training program serves until this changes."""
        optimizer = id(self.model.optimizer), self.max_points_per_pass
        return self.evaluation_key, self.sources.key, self.weighting.rule, optimizer

    @property
    def evaluation_key(self):
        """Hashable: a compiled evaluation serves until this changes."""
        return self.model.seed, tuple(map(id, self.single.trainable_variables))

    # State

    def prepare(self):
        """Make the step and the variables of its state, or keep the present ones."""
        check_trainable(self.single.trainable_variables, self.model.optimizer)
        target = self._target
        if self._prepared_for[0] != target[0]:
            self.state = self._initial_state()
            self.step = self._new_step()
        elif self._prepared_for != target:
            # The same program; only given points or fixed coefficients are others.
            self.state.restart(self._initial_sampling())
        self._prepared_for = target
        self._resume()

    def restart(self):
        """Let the next training begin with the samplers' first states."""
        self._prepared_for = self._prepared_for[0], None

    @property
    def _target(self):
        """The settings that step and state are made for."""
        coefficients = self.single.coefficients.values()
        fixed = [v.numpy().tolist() for v in coefficients if not v.trainable]
        return self.key, (self.sources.digests, fixed)

    def _initial_sampling(self):
        return self.sources.init(self.model.seed)

    def _initial_state(self):
        def unknown(count):
            return np.full((*self.loss_shape, count), np.nan, self.model.variable_dtype)

        weights, names = self.model.loss_weights, self.single._objective.names
        # Loss weights and losses of the steps before; NaN before the first.
        seen = {"weights": unknown(1 + len(weights)), "losses": unknown(len(names))}
        variables, optimizer = self._trained()
        states = self._initial_sampling().items()
        with self.model.replica_scope():
            structure = {
                "variables": variables,
                "optimizer": list(optimizer),
                "weights": dict(weights),
                "weighting": self.weighting.begin(weights, self._begin_rule),
                "sampling": {n: state_variables(s, f"sampling/{n}") for n, s in states},
                "seen": state_variables(seen, "seen"),
            }
        return TrainingState(structure)

    def _trained(self):
        """Return the variables that a step trains, and those of the optimizer."""
        return self.single.trainable_variables, self.model.optimizer.variables

    def _begin_rule(self, rule, weights):
        """Return the first state of a weighting rule."""
        return rule.begin(self.sources.weighting_setup(weights, self.model.seed))

    def _new_step(self):
        kind = SecondOrderStep if self.is_second_order else FirstOrderStep
        return kind(
            objective=self.single._objective,
            variables=tuple(self.single.trainable_variables),
            network_variables=tuple(self.single.network.trainable_variables),
            optimizer=self.model.optimizer,
            sources=self.sources,
            rule=self.weighting.rule,
            seed=self.model.seed,
            largest=self.max_points_per_pass,
        )

    @property
    def state_variables(self):
        """All variables that a training depends on, a list."""
        state = self.state.structure
        kept = [state[part] for part in ("weighting", "sampling", "seen")]
        model = self.model
        return [*model.variables, *model.optimizer.variables, *keras.tree.flatten(kept)]

    def saved(self):
        """Return the states of rule and samplers, a dict of arrays."""
        is_current = self.state is not None and self._prepared_for == self._target
        state = self._resumable() if is_current and not self._loaded else self._loaded
        rule = {f"weighting.{n}": v for n, v in self.weighting.saved().items()}
        return rule | {f"resuming.{n}": v for n, v in state.items()}

    def load(self, arrays):
        """Take the arrays that `saved` returned out of a dict."""
        self.weighting.load(_taken("weighting.", arrays))
        self._loaded = _taken("resuming.", arrays)

    def _resume(self):
        """Continue from the loaded state, if it is of such a training.

        Any other training begins anew, as it would have in the saved model.
        """
        loaded, self._loaded = self._loaded, {}
        state = self._resumable()
        if np.array_equal(loaded.get(_DIGEST), state.pop(_DIGEST)):
            assign(state.values(), [loaded[name] for name in state])

    def _resumable(self):
        """Return variables by name that neither weights nor optimizer hold.

        They depend on these points, this rule and so many steps of an optimizer of
        this class, of which there is a digest.
        """
        state = self.state.structure
        sampling = {n: state["sampling"][n] for n in self.sources.drawn}
        settings = self.settings | {
            "seed": self.model.seed,
            "optimizer": type(self.model.optimizer).__qualname__,
            "steps": self.model.steps_taken,
        }
        variables = keras.tree.flatten([sampling, state["seen"]])
        digest = hashlib.sha256(repr(sorted(settings.items())).encode()).digest()
        return {v.name: v for v in variables} | {_DIGEST: np.frombuffer(digest, "u1")}

    # Steps

    @property
    def step_count(self):
        """Number of training steps taken, an integer scalar for use in a step.

        It counts as well the steps after which the optimizer only accumulates.
        """
        return next(v for v in self.model.optimizer.variables if v.name == "iteration")

    def run(self, given=None, going=None):
        """Make one training step: read the state, step, and write it.

        Args:
            given: Batches by term name that replace drawn ones.
            going: Boolean scalar: whether to make the step. With it, a step that is
                not finite is not made; without it every step is.

        Returns:
            The dict of losses. The one called `"loss"` is NaN if the step was not
            made, or is not finite.
        """
        state = self.state.read()
        (iteration,) = backend.snapshot([self.step_count])
        new, losses = self.step(state, iteration, given, going)
        # Whether the step is taken is known after it. On several replicas only the
        # optimizer can write their variables.
        taken = going is None or self.model.replica_count > 1
        if taken and self.model.optimizer_writes and not self.is_second_order:
            new |= {part: state[part] for part in ("variables", "optimizer")}
        self.state.write(new, state)
        return losses

    def train_step(self, x):
        """Make one step on the points of a pipeline, drawing those it lacks."""
        # A step not taken ends the epoch: later ones see NaN in the mean loss.
        given = given_batches(self.sources, self.model.problem, x)
        return self.logs(self.run(given, self.single._logs.is_finite))

    def logs(self, losses, steps=1):
        """Return running means of the losses, λ and the coefficients."""
        return self.single._logs.update(losses, steps) | self.adapted()

    def adapted(self):
        """Return λ and the unknown coefficients by their names in logs, tensors."""
        adapted = {f"{name}_weight": v for name, v in self.model.loss_weights.items()}
        adapted |= self.model.coefficients
        return {name: keras.ops.convert_to_tensor(v) for name, v in adapted.items()}

    def is_stale(self, fused):
        """Prepare a training; return whether it needs another program than the last.

        Args:
            fused: Whether many steps run as one program.
        """
        self.prepare()
        traced, self._traced = self._traced, (self.key, fused)
        return traced != self._traced

    def loop(self):
        """Return Keras's training function, which runs many steps as one program."""
        # Steps follow from the state alone, so that a bad one can be repeated: a
        # copy at the start costs less than a selection for each number in each step.
        alone = self.model.replica_count == 1
        return self.model.loop_function(
            lambda: next(self.progress),
            self.run if alone else lambda: self.run(going=True),
            self.logs,
            [*self.single._logs.names, *self.numbers_beside],
            self.written_variables if alone else (),
            self.watched_variables if alone else (),
            self.loss_shape,
        )

    @property
    def written_variables(self):
        """All variables that a step writes to."""
        return self.state.variables

    @property
    def watched_variables(self):
        """Variables that must be finite after the last step of a program."""
        return [*self.model.trainable_variables, *self.model.optimizer.variables]

    # Failure

    def explain_nonfinite(self, logs):
        """Explain in a sentence why the next step is not finite.

        Args:
            logs: The logs of the program that stopped.
        """
        steps = self.model.steps_taken
        return self._explain(self.model, self.step, self.state.read(), steps, logs)

    def _explain(self, model, step, state, steps, logs):
        """Explain why a step is not finite.

        Args:
            model: The `PINNModel`.
            step: The `Step`.
            state: The state of the training before the step.
            steps: Number of steps taken before.
            logs: The logs of the program that stopped.
        """
        # Streamed points are gone; drawn ones are drawn again.
        replicas = range(0 if self.streams else model.replica_count)
        iteration = keras.ops.convert_to_tensor(steps)
        draws = (step.points(state, iteration, None, r)[0] for r in replicas)
        return explanation(model, step, draws, steps, logs)


def _taken(prefix, arrays):
    """Take the entries with a prefix out of a dict; return them without it."""
    names = [name for name in arrays if name.startswith(prefix)]
    return {name.removeprefix(prefix): np.array(arrays.pop(name)) for name in names}
