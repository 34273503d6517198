"""PINA: its PINN solver and `Trainer`, with one step an epoch on all points.

PINA draws points before training and does not resample them. Derivatives are those of
its operators.
"""

import time
import warnings

import lightning.pytorch as lightning
import numpy as np
import torch
from pina import Condition, LabelTensor, Trainer
from pina.domain import CartesianDomain
from pina.equation import Equation
from pina.operator import fast_grad
from pina.problem import SpatialProblem
from pina.solver import PhysicsInformedSingleModelSolver
from pina.weighting import ScalarWeighting
from protocol import serve
from work import gradient_plan, network, raised

warnings.filterwarnings("ignore")
AXES = ("x", "y", "z")


class Network(torch.nn.Module):
    """Networks of the paper with standardised inputs."""

    def __init__(self, task):
        super().__init__()
        self.gated = task.gated
        flat = [torch.tensor(values) for pair in task.parameters for values in pair]
        self.weights = torch.nn.ParameterList(flat)
        self.mean = torch.tensor(task.work.mean, dtype=torch.float32)
        self.scale = torch.tensor(1 / task.work.deviation, dtype=torch.float32)

    def forward(self, x):
        pairs = list(zip(self.weights[::2], self.weights[1::2], strict=True))
        x = x.as_subclass(torch.Tensor)
        return network(pairs, self.gated, (x - self.mean) * self.scale, torch.tanh)


def equation(work, name):
    """Return an equation of PINA with the residuals of a term as columns."""
    term = work.terms[name]
    plan = []
    if any(any(index) for _, index in term.derivatives):
        plan = gradient_plan(term.derivatives)
    zero = (0,) * work.dimension

    def residuals(points, output):
        values = {
            (field, zero): output.extract([f"u{field}"])
            for field in range(work.outputs)
        }
        for calls in plan:
            for (field, index), axes in calls.items():
                value = values[field, index]
                names = [AXES[axis] for axis in axes]
                derivatives = fast_grad(value, points, components=value.labels, d=names)
                for axis, label in zip(axes, derivatives.labels, strict=True):
                    values[field, raised(index, axis)] = derivatives.extract([label])
        plain = {key: v.as_subclass(torch.Tensor)[:, 0] for key, v in values.items()}
        columns = list(points.as_subclass(torch.Tensor).unbind(1))
        return torch.stack(term.residuals(torch, columns, plain), 1)

    return Equation(residuals)


def problem(work, points):
    """Return a problem of PINA with conditions at points."""
    names = AXES[: work.dimension]
    box = {name: [work.low[a], work.high[a]] for a, name in enumerate(names)}

    members = {
        "output_variables": [f"u{field}" for field in range(work.outputs)],
        "spatial_domain": CartesianDomain(box),
        "domains": {},
        "conditions": {
            name: Condition(
                input=LabelTensor(torch.tensor(values), list(names)),
                equation=equation(work, name),
            )
            for name, values in points.items()
        },
    }
    return type("Problem", (SpatialProblem,), members)()


class Clock(lightning.Callback):
    """Clock of training without the setup of a `Trainer`."""

    def on_train_start(self, trainer, module):
        self.began = time.perf_counter()

    def on_train_end(self, trainer, module):
        self.seconds = time.perf_counter() - self.began


class Losses(lightning.Callback):
    """Callback that keeps the losses of an epoch by condition."""

    def on_train_epoch_end(self, trainer, module):
        self.logged = dict(trainer.callback_metrics)


class Epochs:
    def __init__(self, task):
        self.task, self.work = task, task.work
        generator = np.random.default_rng(0)
        self.solver = self._solver(self.work.draw(task.batch, generator))
        self.notes = {"anneals": False, "points": "kept"}

    def _solver(self, points):
        # PINA takes means over residuals, the work sums over them.
        self.scales = {}
        for name, term in self.work.terms.items():
            zeros = dict.fromkeys(term.derivatives, torch.zeros(1))
            columns = [torch.zeros(1)] * self.work.dimension
            count = len(term.residuals(torch, columns, zeros))
            self.scales[name] = term.scale * count
        return PhysicsInformedSingleModelSolver(
            problem(self.work, points),
            Network(self.task),
            weighting=ScalarWeighting(dict(self.scales)),
        )

    def _train(self, solver, steps, callback):
        Trainer(
            solver,
            max_epochs=steps,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            callbacks=[callback],
        ).train()

    def losses(self):
        recorded = Losses()
        self._train(self._solver(self.task.points), 1, recorded)
        return {
            name: float(recorded.logged[f"{name}_loss"]) * scale
            for name, scale in self.scales.items()
        }

    def run(self, steps):
        clock = Clock()
        self._train(self.solver, steps, clock)
        return clock.seconds


if __name__ == "__main__":
    serve(Epochs, ["pina-mathlab", "torch", "lightning"])
