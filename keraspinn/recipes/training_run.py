"""Training of `solve`: stages, verdicts between them, escalations, one clock."""

import dataclasses
import functools
import math
import time

from keras.callbacks import LambdaCallback

from keraspinn.diagnostics import verdict
from keraspinn.diagnostics.verdicts.report import LEFT
from keraspinn.diagnostics.verdicts.verdict import SEVERAL
from keraspinn.networks import MLP
from keraspinn.optimizers import GaussNewton, SSBroyden
from keraspinn.recipes import choices, reasons
from keraspinn.recipes.march import march
from keraspinn.recipes.progress import save_progress
from keraspinn.recipes.solution import Solution
from keraspinn.recipes.stages import Recipe, Stage

# Factor between the tolerance and the estimated error of a solved problem.
MARGIN = 2.0

# The same for an energy, and the tolerance below which it counts: errors of a T,
# beams and two layers, all below 1 %, were up to 3.2 times the excess of the energy.
ENERGY_MARGIN, ENERGY_TOLERANCE = 4.0, 0.02

# The same with measurements: the error of a source between them was 6.6 times.
WIDE_MARGIN = 10.0

# Largest share of the training's time that verdicts may take.
VERDICT_SHARE = 0.1

# Factor of the loss between two rounds, from which on points are too few, as at a jump
# of a source: 1e-5 became 60.
RISEN = 1e3

# Verdicts without progress before the next escalation: these, or a share of those since
# the last one.
PATIENCE, PATIENT_SHARE = 2, 1 / 3

# Factor by which the estimate must fall in these verdicts, or it has stalled.
STALLED = 2.0

# Estimated error from which on time windows are tried: they cure wrong fields, which
# follow another solution. They are tried after two such verdicts that leave residuals.
WRONG_FIELD = 1e-2

# Factor of the units when the network is widened.
WIDER = 1.5

# Escalations after which a training that has stalled ends.
ESCALATIONS = 4

# Length of a stage between two verdicts, in rounds, at most.
LONGEST = 2

# Factor of the number of collocation points when it is raised.
MORE_POINTS = 2

# Number of weights up to which Gauss–Newton steps are tried.
DENSE = 3_000

# Points of a Gauss–Newton step for each weight: it overfits as many as weights.
POINTS_PER_WEIGHT = 2

# Number of weights up to which a network is widened: SSBroyden's matrix is dense.
WIDEST = 9_000

# State of a run in the file of `path=`, beside the model.
KEPT = "history", "progress", "escalations", "judging", "epochs"


class TrainingRun:
    """State of one call of `solve`: model, clock, stages so far."""

    def __init__(self, model, tolerance, begin, deadline, verbose):
        self.model, self.problem, self.tolerance = model, model.problem, tolerance
        self.begin, self.deadline, self.verbose = begin, deadline, verbose
        is_fine = self.problem.energy is not None and tolerance < ENERGY_TOLERANCE
        margin = ENERGY_MARGIN if is_fine else MARGIN
        self.target = tolerance / (WIDE_MARGIN if self.problem.measured else margin)
        parts = type(model), model.get_config(), model.get_weights()
        self.untrained = functools.partial(_copy, *parts)
        self.stages, self.history, self.judging, self.reserved = [], [], 0.0, 0.0
        self.progress, self.escalations = [], 0
        self.judged, self.best, self.path, self.epochs = None, None, None, 0
        self.is_marched = False

    def solution(self, stages):
        """Train stages, and the last one again and again, until there is a reason."""
        try:
            reason = self._train_to_tolerance(stages)
        except KeyboardInterrupt:
            reason = "Interrupted. Go on with solve(problem, model=solution.model)."
        except FloatingPointError as error:  # an energy without a minimum, an overflow
            reason = str(error)
        is_new = bool(self.history) and math.isnan(self.history[-1]["error"])
        if is_new or self.best is None:
            self._judge()
        if self.stages and self.stages[-1].fixed:  # interrupted
            Stage(None, fixed=False).prepared(self.model)
        *_, weights, model, judged = self.best
        if reason:
            model.set_weights(weights)
            self.model, self.judged = model, judged
        solution = Solution(
            self.model,
            self.judged,
            self.tolerance,
            time.monotonic() - self.begin,
            reason,
            self.history,
            Recipe(self.stages),
            self.untrained,
            self._parameters(),
        )
        if reason:
            seconds = f"{solution.seconds:5.0f}"
            self._print(f"{seconds} s  not solved, as print(solution) explains")
        return solution

    def _train_to_tolerance(self, stages):
        """Train until the problem is solved; return the reason if it is not."""
        declared = self.problem.underdetermined or self.problem.unreliable
        if not stages:
            self._judge()
            reason = declared or self._reason(False, False)
            return reasons.WINDOWS_ADVICE if reason is None else reason
        decision = reasons.describe_model(self.model)
        if not declared:
            needed = f"an estimated error of {self.target:.1e}"
            self._print(f"Tolerance {self.tolerance:g}: trains to {needed}")
        for stage in stages[: 1 if declared else -1]:
            self._train(stage, decision)
            self._report()
            self._save(stage)
            decision = ""
        if declared:
            return declared
        stage = stages[-1]
        self.epochs = self.epochs or stage.fit.get("epochs", 1)
        while True:
            self._train(stage, decision)
            is_late, has_risen = self._is_late(), self._has_risen()
            is_due = self._seconds_to_verdict() <= 0 or self._is_promising()
            is_judged = is_late or has_risen or is_due
            if is_judged:
                self._judge()
                is_late |= self._is_late()  # a stage could not be judged
            self._report()
            self._save(stage)
            is_stalled = is_judged and (has_risen or self._is_stalled())
            reason = self._reason(is_late, is_stalled) if is_judged else None
            if reason is not None:
                return reason
            is_hopeless = is_judged and self._is_wrong()
            if (is_stalled or is_hopeless) and not has_risen:
                if self._march():
                    self._save(stage)
                    return ""
                if self._is_late():
                    return self._unsolved(reasons.LATE)
            if has_risen and self.best[3] is self.model:
                self.model.set_weights(self.best[2])
            if is_stalled:
                stage, decision = self._escalated(stage)
            elif is_judged:
                stage, decision = self._reweighted(stage)
            else:
                stage, decision = self._continued(stage), ""

    def _reason(self, is_late, is_stalled):
        """Return a reason to end after a verdict, "" if solved, `None` to continue."""
        judged = self.judged
        if judged.undetermined:
            return judged.undetermined
        if judged.trusted or is_stalled or (is_late and judged.contradictions):
            if noise := reasons.describe_noise(judged, self._parameters()):
                return noise if is_late or not self._is_falling() else None
        if judged.error <= self.target and judged.trusted:
            return ""
        if is_late:
            return self._unsolved(reasons.LATE)
        if is_stalled and self.escalations == ESCALATIONS:
            return self._unsolved(reasons.NO_PROGRESS)
        return None

    def _unsolved(self, text):
        judged, margin = self.best[-1], self.tolerance / self.target
        if judged.trusted and judged.error <= self.tolerance:
            text = reasons.TOO_NEAR.format(margin)
        return reasons.describe_unsolved(self.problem, text)

    def _train(self, stage, decision):
        """Train a stage, up to the deadline, and add it to the history."""
        start = time.monotonic()
        self.model = stage.prepared(self.model)
        before, loss = self.model.steps_taken, math.nan
        stop = LambdaCallback(on_train_batch_end=self._stop_late)
        settings = {"verbose": max(0, self.verbose - 1), "callbacks": [stop]}
        try:
            loss = float(stage.fitted(self.model, **settings).history["loss"][-1])
        finally:
            steps = self.model.steps_taken - before
            if steps:
                fit = {**stage.fit, "steps_per_epoch": steps, "epochs": 1}
                self.stages.append(dataclasses.replace(stage, fit=fit))
                optimizer = type(self.model.optimizer).__name__
                row = {"decision": ": ".join(filter(None, (decision, optimizer)))}
                row |= {"steps": steps, "seconds": time.monotonic() - start}
                self.history.append(row | {"loss": loss, "error": math.nan})

    def _march(self):
        """Train time windows instead, if there are any; return whether they solve it.

        Otherwise the training continues as it was.
        """
        has_windows = self.problem.domain.time_coordinate and not self.problem.measured
        if not has_windows or self.is_marched or self.progress[-1][0] < WRONG_FIELD:
            return False
        start, model, self.is_marched = time.monotonic(), self.model, True
        callbacks = [LambdaCallback(on_train_batch_end=self._end_late)]
        network, recipe = choices.chosen_windows(self.problem, callbacks)
        try:
            # Errors of windows add up.
            some = {"seed": model.seed, "largest_loss": (self.target / 2) ** 2}
            self.model = march(self.problem, network, "auto", recipe, verbose=0, **some)
        # Late; unknown parameters, or too hard; an overflow.
        except (TimeoutError, ValueError, FloatingPointError) as error:
            elapsed = time.monotonic() - self.begin
            why = str(error).partition(". ")[0] or "no time is left"
            self._print(f"{elapsed:5.0f} s  no time windows: {why}")
            return False
        rows = self.model.march_history
        row = {"decision": f"{len(rows)} time windows: GaussNewton", "error": math.nan}
        row |= {"steps": len(rows) * choices.WINDOW_STEPS}
        row |= {"seconds": time.monotonic() - start}
        self.history.append(row | {"loss": max(window["loss"] for window in rows)})
        self._judge()
        self._report()
        self.progress.pop()
        if self._reason(False, False) == "":
            return True
        self.model = model
        self.history.insert(-1, self.history.pop())  # the model's stage is the last
        return False

    def _end_late(self, batch, logs):
        if self._is_late():
            raise TimeoutError

    def _stop_late(self, batch, logs):
        if self.judged is not None:  # the progress bar shows it
            logs["estimated_relative_l2"] = self.judged.error
        self.model.stop_training |= self._is_late()

    def _is_late(self):
        """Return whether the time left is no longer than the last verdict took."""
        return time.monotonic() + self.reserved > self.deadline

    def _judge(self):
        start = time.monotonic()
        self.judged = verdict(self.model, tolerance=self.tolerance)
        seconds = time.monotonic() - start
        self.reserved = seconds if self.judging else 0.0  # the first verdict compiles
        self.judging += seconds
        error, loss = self.judged.error, math.inf
        if self.history:
            self.history[-1]["error"], loss = error, self.history[-1]["loss"]
        if math.isinf(error):
            error = SEVERAL * max(self.judged.unproven.values(), default=error)
        self.progress.append((error, loss))
        if self.best is None or (error, loss) < self.best[:2]:
            self.best = error, loss, self.model.get_weights(), self.model, self.judged

    def _save(self, stage):
        if self.path is not None:
            kept = {name: getattr(self, name) for name in KEPT} | {"fit": stage.fit}
            seconds = time.monotonic() - self.begin
            save_progress(self.path, self.model, kept | {"seconds": seconds})

    def _seconds_to_verdict(self):
        """Return the seconds of training until verdicts take a small enough share."""
        return self.judging / VERDICT_SHARE - (time.monotonic() - self.begin)

    def _is_promising(self):
        """Return whether the error, as the root of the loss, is within the target."""
        error, loss = self.progress[-1] if self.progress else (math.inf, math.inf)
        now = self.history[-1]["loss"]
        return 0 < STALLED**4 * now < loss and error**2 * now <= self.target**2 * loss

    def _continued(self, stage):
        """Return the stage again, long enough to reach the next verdict."""
        row, least = self.history[-1], self.epochs
        steps = stage.fit.get("steps_per_epoch", row["steps"])
        seconds = row["seconds"] * steps / row["steps"]  # of an epoch
        epochs = math.ceil(self._seconds_to_verdict() / max(seconds, 1e-3))
        fit = {**stage.fit, "epochs": min(max(epochs, least), LONGEST * least)}
        return dataclasses.replace(stage, optimizer=None, units=None, fit=fit)

    def _has_risen(self):
        """Return whether points of another round show what those before did not."""
        losses = [row["loss"] for row in self.history[-2:]]
        return losses[-1] > RISEN * losses[0] > 0

    def _is_stalled(self):
        """Return whether the estimate, or the loss where it is unknown, has stalled."""
        if len(self.progress) <= PATIENCE:
            return False
        count = max(PATIENCE, int(PATIENT_SHARE * len(self.progress)))
        (before, loss_before), *recent = self.progress[-1 - count :]
        now, loss = recent[-1][0], min(loss for _, loss in recent)
        is_known = self.judged is None or math.isfinite(self.judged.error)
        has_less = loss * STALLED**2 < loss_before and not (is_known and now < math.inf)
        return not (now * STALLED < before or has_less)

    def _is_wrong(self):
        """Return whether two verdicts tell of another field, and leave residuals."""
        far = [error >= WRONG_FIELD for error, _ in self.progress[-PATIENCE:]]
        left = max((self.judged.left[n] for n in self.judged.equations), default=0.0)
        return len(far) == PATIENCE and all(far) and left > LEFT

    def _escalated(self, stage):
        """Return the next stage and the decision: solver, width or points in turn."""
        stage = self._continued(stage)
        self.progress = self.progress[-1:]
        self.escalations += 1
        optimizer, sources = self.model.optimizer, self.model.trainer.sources
        size, is_tried = self.model.count_params(), isinstance(optimizer, GaussNewton)
        if self.escalations == 1 and size <= DENSE and not is_tried:
            fit = dict(choices.GAUSS_NEWTON_ROUND)
            fit["batch_size"] = max(fit["batch_size"], POINTS_PER_WEIGHT * size)
            self.epochs = fit["epochs"]
            return dataclasses.replace(stage, optimizer=GaussNewton, fit=fit), "stalled"
        wide, is_mlp = WIDER**2 * size, type(self.model.network) is MLP
        if self.escalations % 2 == 0 and is_mlp and wide <= WIDEST:
            units = int(WIDER * self.model.network.units)
            again = self._new_optimizer()
            if is_tried and wide > DENSE and self.problem.energy is None:
                again, self.epochs = SSBroyden, choices.ROUND["epochs"]
                stage = dataclasses.replace(stage, fit=choices.ROUND)
            wider = dataclasses.replace(stage, optimizer=again, units=units)
            return wider, f"stalled, {units} units"
        points = {n: MORE_POINTS * sources.places[n].requested for n in sources.drawn}
        fit, most = {**stage.fit, "batch_size": points}, max(points.values(), default=0)
        return dataclasses.replace(stage, fit=fit), f"stalled, {most:,} points"

    def _is_falling(self):
        """Return whether the loss of equations falls. Noise of data ends its fall."""
        losses = [row["loss"] for row in self.history[-2:]]
        return self.problem.energy is None and STALLED * losses[-1] < losses[0]

    def _reweighted(self, stage):
        """Return the next stage, with better loss weights, and the decision."""
        weights = choices.better_weights(self.model, self.judged, self.target)
        if self._is_falling() or not weights:
            return self._continued(stage), ""
        before = stage.callbacks or (lambda model: [])
        again = {"callbacks": lambda m: [*before(m), *choices.set_weights(m, weights)]}
        again |= {"optimizer": self._new_optimizer()}
        stage = dataclasses.replace(self._continued(stage), **again)
        shown = (f"{name} weighs {weight:.2g}" for name, weight in weights.items())
        return stage, ", ".join(shown)

    def _new_optimizer(self):
        """Return a function that returns an optimizer like the model's."""
        kind, config = type(self.model.optimizer), self.model.optimizer.get_config()
        return functools.partial(kind.from_config, config)

    def _parameters(self):
        """Return values and standard deviations of unknown parameters."""
        values = {n: float(v.numpy()) for n, v in self.model.coefficients.items()}
        deviations = {}
        if values and self.judged.measured:
            deviations = self.model.parameter_deviation()
            for name, move in self.judged.moves.items():
                if math.isfinite(move):  # a bias, as equations give way to noise
                    bias = move * values[name]
                    deviations[name] = math.hypot(deviations[name], bias)
        return {n: (v, deviations.get(n, math.nan)) for n, v in values.items()}

    def _report(self):
        row, elapsed = self.history[-1], time.monotonic() - self.begin
        error = row["error"]
        known = "" if math.isnan(error) else f", estimated error {error:.1e}"
        text = f"{row['decision']}, {row['steps']:,} steps: loss {row['loss']:.1e}"
        self._print(f"{elapsed:5.0f} s  {text}{known}")

    def _print(self, text):
        if self.verbose:
            print(text, flush=True)


def _copy(kind, config, weights):
    """Return a model of a class, with a configuration and weights."""
    model = kind.from_config(config)
    model.set_weights(weights)
    return model
