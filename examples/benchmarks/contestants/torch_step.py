"""Training step in PyTorch, by `torch.func` with `torch.compile` or by autograd.

The option `mode` "forward" compiles nested `torch.func.jvp` and `torch.func.grad` into
one graph. "reverse" nests `torch.autograd.grad` eagerly, like most PyTorch code. Loss
weights λ are 1.
"""

import torch
from protocol import serve
from work import gradient_plan, network, raised


def by_forward_mode(function, x, required, scale):
    """Return derivatives by nested Jacobian-vector products of all fields at once."""

    def through(indices):
        axes = [a for index in indices for a, count in enumerate(index) if count]
        if not axes:
            return lambda x: {index: function(x) for index in indices}
        axis = min(axes)
        ahead = {index for index in indices if index[axis]}
        inner = through({raised(index, axis, -1) for index in ahead})

        def both(x):
            direction = torch.diag(scale)[axis].repeat(x.shape[0], 1)
            values, tangents = torch.func.jvp(inner, (x,), (direction,))
            derivatives = {raised(index, axis): t for index, t in tangents.items()}
            derivatives |= values
            rest = indices - derivatives.keys()
            return derivatives | (through(rest)(x) if rest else {})

        return both

    known = through({index for _, index in required})(x * scale)
    return {(field, index): known[index][:, field] for field, index in required}


def by_reverse_mode(function, x, required, scale):
    """Return derivatives by nested `torch.autograd.grad` of sums."""
    zero = (0,) * x.shape[1]
    plan = gradient_plan(required) if any(any(i) for _, i in required) else []
    columns = [column.requires_grad_(bool(plan)) for column in x.unbind(1)]
    values = dict(
        zip(
            [(field, zero) for field in range(64)],
            function(torch.stack(columns, 1) * scale).unbind(1),
            strict=False,
        )
    )
    for calls in plan:
        for (field, index), axes in calls.items():
            derivatives = torch.autograd.grad(
                values[field, index].sum(),
                [columns[axis] for axis in axes],
                create_graph=True,
            )
            for axis, derivative in zip(axes, derivatives, strict=True):
                values[field, raised(index, axis)] = derivative
    return values


MODES = {"forward": by_forward_mode, "reverse": by_reverse_mode}


DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Step:
    def __init__(self, task):
        torch.set_default_device(DEVICE)
        self.task, self.work = task, task.work
        self.differentiate = MODES[task.options["mode"]]
        self.mean = torch.tensor(self.work.mean, dtype=torch.float32)
        self.scale = torch.tensor(1 / self.work.deviation, dtype=torch.float32)
        self.sampling = {
            name: [torch.tensor(values) for values in self.work.sampling(name)]
            for name in self.work.terms
        }
        self.parameters = [
            torch.tensor(values, requires_grad=True)
            for pair in task.parameters
            for values in pair
        ]
        self.optimizer = torch.optim.Adam(self.parameters, lr=1e-3, fused=True)
        self.gradients = self._eager_gradients
        if task.options["mode"] == "forward":
            self.gradients = torch.compile(torch.func.grad(self.loss))

    def _eager_gradients(self, parameters, points):
        return torch.autograd.grad(self.loss(parameters, points), parameters)

    def term_loss(self, name, parameters, points):
        pairs = list(zip(parameters[::2], parameters[1::2], strict=True))

        def function(standard):
            return network(pairs, self.task.gated, standard, torch.tanh)

        term = self.work.terms[name]
        values = self.differentiate(
            function, points - self.mean, term.derivatives, self.scale
        )
        return term.loss(torch, list(points.unbind(1)), values)

    def loss(self, parameters, points):
        return sum(self.term_loss(n, parameters, x) for n, x in points.items())

    def draw(self):
        points = {}
        for name, (span, base) in self.sampling.items():
            count = self.work.count(name, self.task.batch)
            shape = (len(span), count, self.work.dimension)
            points[name] = (torch.rand(shape) * span + base).flatten(0, 1)
        return points

    def losses(self):
        return {
            name: self.term_loss(name, self.parameters, torch.tensor(points))
            for name, points in self.task.points.items()
        }

    def run(self, steps):
        for _ in range(steps):
            gradients = self.gradients(self.parameters, self.draw())
            for parameter, gradient in zip(self.parameters, gradients, strict=True):
                parameter.grad = gradient
            self.optimizer.step()
        if DEVICE == "cuda":
            torch.cuda.synchronize()

    def device_bytes(self):
        return torch.cuda.max_memory_allocated() if DEVICE == "cuda" else None


if __name__ == "__main__":
    serve(Step, ["torch", "numpy"])
