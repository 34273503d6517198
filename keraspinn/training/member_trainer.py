"""The training of an ensemble: a step of all members, and members that stop."""

import dataclasses
import warnings

import keras
import numpy as np
from keras import ops

from keraspinn import backend
from keraspinn.backend.scopes import all_finite, assign, joined, select, substituted
from keraspinn.training.step import marked
from keraspinn.training.trainer import Trainer

_OPTIMIZER = "optimizer."


class MemberTrainer(Trainer):
    """Trains all members of an `Ensemble`, which holds it, as one program.

    Args:
        model: The `Ensemble`.
        members: Its `Members`.
    """

    watched_variables = ()  # no member takes a step that is not finite
    numbers_beside = ("taken",)  # number of steps taken

    def __init__(self, model, members):
        super().__init__(model)
        self._members, self.single = members, members.model
        self.loss_shape = (members.size,)

    @property
    def counted(self):
        return self._members.is_going

    @property
    def callbacks(self):
        return [ReportStopped()]

    def set_points(self, x, batch_size):
        if not self._members.is_going.any():
            raise FloatingPointError(self.explain_nonfinite({}))
        super().set_points(x, batch_size)

    def follow(self, optimizer):
        """Make variables for the members' optimizers; `single` is compiled already."""
        members = self._members
        values = [members.repeated(variable) for variable in optimizer.variables]
        if self.is_second_order:
            names = list(optimizer.state_variables)
            states = [self._initial_optimizer(n) for n in range(members.size)]
            values[-len(names) :] = [np.stack([s[n] for s in states]) for n in names]
        members.optimizer = [
            keras.Variable(value, dtype=variable.dtype, trainable=False)
            for value, variable in zip(values, optimizer.variables, strict=True)
        ]
        members.begin_metrics()
        # Made anew by the next training.
        self.state, self._prepared_for = None, (None, None)

    def _initial_optimizer(self, number):
        """Return the state of a second-order optimizer before a member's first step."""
        variables = self._members.load(number).trainable_variables
        state = self.model.optimizer.init(joined(variables))
        return {name: ops.convert_to_numpy(value) for name, value in state.items()}

    def _initial_sampling(self):
        states = [self.sources.init(seed) for seed in self._members.seeds]
        return keras.tree.map_structure(lambda *values: ops.stack(values), *states)

    def _trained(self):
        members = self._members
        return members.stacked(self.single.trainable_variables), members.optimizer

    def _begin_rule(self, rule, weights):
        def of_member(weights, seed):
            return rule.begin(self.sources.weighting_setup(weights, seed))

        return backend.map_members(of_member, (weights, self._members.seed_tensor))

    def run(self, given=None, going=None):
        """Make a step of every member that has not stopped.

        Losses are zero where no step was taken. After one all variables are finite.
        """
        state = self.state.read()
        state["optimizer"] = self._with_present_rate(state["optimizer"])
        iteration, going = backend.snapshot([self.step_count, self._members.going])
        new, losses = self._stepped(state, iteration, given)
        taken = going & ops.isfinite(losses["loss"])
        taken = taken & backend.map_members(all_finite, (new["variables"],))
        losses = select(taken, losses, keras.tree.map_structure(ops.zeros_like, losses))
        self.state.write(select(taken, new, state), state)
        self._members.going.assign(taken)
        self.step_count.assign(iteration + 1)
        return losses | {"taken": ops.cast(taken, losses["loss"].dtype)}

    def _stepped(self, state, iteration, given):
        """Return state and losses of all members after a step.

        Args:
            state: That of `Step`, with the members along the first axis of each tensor.
            iteration: Number of steps taken before by those that have not stopped.
            given: Batches by term name, the same for all.
        """
        members, is_whole = self._members, self.is_second_order
        fixed = [v for v in self.single.network.variables if not v.trainable]

        def of_member(state, values, seed):
            step = dataclasses.replace(self.step, seed=seed)
            with substituted(fixed, values):
                return (step if is_whole else step.gradient)(state, iteration, given)

        def moved(total, variables, optimizer):
            if self.model.optimizer_writes:  # to its variables, not to other values
                held = [*self.step.variables, *self.step.optimizer.variables]
                assign(held, [*variables, *optimizer])
            before = {"variables": variables, "optimizer": optimizer}
            return self.step.moved(total, before)

        values = list(backend.snapshot(members.stacked(fixed)))
        tensors = state, values, members.seed_tensor
        result = backend.map_members(of_member, tensors, in_turn=is_whole)
        if is_whole:
            return result
        new, total, losses, finite = result
        parts = total, state["variables"], state["optimizer"]
        new |= backend.map_members(moved, parts, in_turn=True)
        return new, marked(losses, finite)

    def _with_present_rate(self, values):
        """Return the optimizer's state with the learning rate as it is set now."""
        present = backend.snapshot(self.model.optimizer.variables)
        values = list(values)
        for index in self.indices("learning_rate"):
            values[index] = ops.broadcast_to(present[index], (self._members.size,))
        return values

    def indices(self, name):
        """Return the indices of variables of some name among the optimizer's."""
        names = [variable.name for variable in self.model.optimizer.variables]
        return [index for index, other in enumerate(names) if other == name]

    def logs(self, losses, steps=1):
        """Return means over the members of their running means, λ and coefficients."""
        losses = dict(losses)
        steps = ops.cast(steps, losses["loss"].dtype)
        taken = losses.pop("taken")
        means = {n: ops.divide_no_nan(loss, taken) for n, loss in losses.items()}
        logs = self._members.logged(self.single._logs.update, (means, taken * steps))
        return keras.tree.map_structure(self._members.mean, logs | self.adapted())

    @property
    def written_variables(self):
        optimizer = self.model.optimizer.variables
        rates = [optimizer[index] for index in self.indices("learning_rate")]
        return [*self.state.variables, self._members.going, self.step_count, *rates]

    @property
    def state_variables(self):
        return [*super().state_variables, *self._members.optimizer]

    @property
    def member_steps(self):
        """Numbers of steps that the members have taken, an array `(size,)`."""
        (index,) = self.indices(self.step_count.name)
        return ops.convert_to_numpy(self._members.optimizer[index])

    def member_logs(self):
        """Return the members' metrics, λ and coefficients, `(size,)` each.

        Losses are means since the epoch, or evaluation, began; NaN if a member took no
        step.
        """
        logs = self._members.results() | self.adapted()
        return {name: ops.convert_to_numpy(values) for name, values in logs.items()}

    # Saving

    def saved(self):
        optimizer = enumerate(self._members.optimizer)
        return super().saved() | {f"{_OPTIMIZER}{index}": v for index, v in optimizer}

    def load(self, arrays):
        for index, variable in enumerate(self._members.optimizer):
            variable.assign(arrays.pop(f"{_OPTIMIZER}{index}"))
        super().load(arrays)

    def extracted(self, number):
        """Return a member as a `PINNModel`, with copies of all numbers."""
        model, members = self.model, self._members
        alone = members.load(number).astype(model.variable_dtype)
        alone.trainer.weighting = self.weighting.continued(model.variable_dtype, number)
        if model.compiled:
            copy = type(model.optimizer).from_config(model.optimizer.get_config())
            alone.compile(copy, **model.compiled_with)
            values = self._with_present_rate(backend.snapshot(members.optimizer))
            # Copies: a compiled loop writes over its variables.
            assign(alone.optimizer.variables, [ops.copy(v[number]) for v in values])
        return alone

    # Failure

    def explain_nonfinite(self, logs):
        """Explain in a sentence why the last member's next step is not finite."""
        text = "Train another ensemble."
        if self.step is not None:  # as it is in a loaded one
            text = self.explain_member(np.argmax(self.member_steps))
        return f"All {self._members.size} members have stopped. {text}"

    def explain_member(self, number):
        """Explain in a sentence why a member's next step is not finite."""
        model = self._members.load(number)
        step = dataclasses.replace(self.step, seed=model.seed)
        state = keras.tree.map_structure(lambda t: t[number], self.state.read())
        return self._explain(model, step, state, int(self.member_steps[number]), {})


class ReportStopped(keras.callbacks.Callback):
    """Warns of members that stopped, and keeps the logs of each member.

    `History` gets a list of numbers for each epoch, `loss_of_members` and the like, in
    the order of the members; a loss is NaN if the member took no step in the epoch.
    """

    def on_train_begin(self, logs=None):
        self._reported, self._results = set(self.model.stopped), {}

    def on_train_batch_end(self, batch, logs=None):
        stopped = set(self.model.stopped)
        if len(stopped) < self.model.size:  # else an error is raised
            for number in sorted(stopped - self._reported):
                cause = self.model.trainer.explain_member(number)
                whose = f"Member {number} of {self.model.size}"
                text = f"{whose} has stopped; the others continue. {cause}"
                warnings.warn(text, stacklevel=2)
        self._reported = stopped

    def on_test_begin(self, logs=None):
        # Validation resets the metrics.
        self._results = self.model.trainer.member_logs()

    def on_test_end(self, logs=None):
        results = self.model.trainer.member_logs().items()
        self._results |= {f"val_{name}": values for name, values in results}

    def on_epoch_end(self, epoch, logs=None):
        results, self._results = self._results or self.model.trainer.member_logs(), {}
        history = self.model.history.history
        for name in logs or ():
            if name in results:
                columns = history.setdefault(f"{name}_of_members", [])
                columns.append(results[name].tolist())
