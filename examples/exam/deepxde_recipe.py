"""Ten demonstrations of DeepXDE, trained in DeepXDE by Adam and L-BFGS.

python -m examples.exam.beside

runs this module in an environment with DeepXDE and PyTorch. Networks and numbers of
points are those of the demonstrations. A demonstration without such numbers takes those
of a similar one. Single precision and the learning rate of 1e-3 are defaults of
DeepXDE. The module prints errors with CPU seconds, which exclude the evaluation of
errors.
"""

import argparse
import json
import time

import deepxde as dde
import numpy as np
import torch

# Number of steps of Adam.
ADAM_STEPS = 15_000

# Number of steps between two errors.
PERIOD = 500

PI = np.pi


def line(start, end):
    return dde.geometry.Interval(start, end)


def evolving(start, end, duration):
    return dde.geometry.GeometryXTime(
        line(start, end), dde.geometry.TimeDomain(0, duration)
    )


def second(y, x, axis, component=0):
    return dde.grad.hessian(y, x, component=component, i=axis, j=axis)


def first(y, x, axis, component=0):
    return dde.grad.jacobian(y, x, i=component, j=axis)


def on_boundary(x, is_on):
    return is_on


def at_right(x, is_on):
    return is_on and np.isclose(x[0], 1)


def at_left(x, is_on):
    return is_on and not at_right(x, is_on)


def poisson_dirichlet_1d():
    def equation(x, y):
        return -second(y, x, 0) - PI**2 * torch.sin(PI * x)

    domain = line(-1, 1)
    ends = dde.icbc.DirichletBC(domain, lambda x: np.sin(PI * x), on_boundary)
    return dde.data.PDE(domain, equation, ends, 16, 2), network([1, 50, 50, 50, 1])


def poisson_neumann_1d():
    domain = line(-1, 1)
    conditions = [
        dde.icbc.DirichletBC(domain, lambda x: 0, at_left),
        dde.icbc.NeumannBC(domain, lambda x: 2 * (x + 1), at_right),
    ]
    data = dde.data.PDE(domain, lambda x, y: second(y, x, 0) - 2, conditions, 16, 2)
    return data, network([1, 50, 50, 50, 1])


def euler_beam():
    def curvature(x, y):
        return second(y, x, 0)

    def equation(x, y):
        return second(curvature(x, y), x, 0) + 1

    def shear(x, y, _):
        return first(curvature(x, y), x, 0)

    domain = line(0, 1)
    conditions = [
        dde.icbc.DirichletBC(domain, lambda x: 0, at_left),
        dde.icbc.NeumannBC(domain, lambda x: 0, at_left),
        dde.icbc.OperatorBC(domain, lambda x, y, _: curvature(x, y), at_right),
        dde.icbc.OperatorBC(domain, shear, at_right),
    ]
    return dde.data.PDE(domain, equation, conditions, 10, 2), network([1, *[20] * 3, 1])


def ode_system():
    def equation(x, y):
        return [
            first(y, x, 0, 0) - y[:, 1:2],
            first(y, x, 0, 1) + y[:, 0:1],
        ]

    domain = dde.geometry.TimeDomain(0, 10)
    conditions = [
        dde.icbc.IC(domain, lambda x: 0, initial, component=0),
        dde.icbc.IC(domain, lambda x: 1, initial, component=1),
    ]
    return dde.data.PDE(domain, equation, conditions, 35, 2), network([1, *[50] * 3, 2])


def initial(x, is_initial):
    return is_initial


def diffusion_1d():
    def equation(x, y):
        wave = torch.exp(-x[:, 1:]) * torch.sin(PI * x[:, :1])
        return first(y, x, 1) - second(y, x, 0) + wave * (1 - PI**2)

    domain = evolving(-1, 1, 1)
    conditions = [
        dde.icbc.DirichletBC(domain, lambda x: 0, on_boundary),
        dde.icbc.IC(domain, lambda x: np.sin(PI * x[:, :1]), initial),
    ]
    data = dde.data.TimePDE(domain, equation, conditions, 40, 20, 10)
    return data, network([2, *[32] * 3, 1])


def laplace_disk():
    def equation(x, y):
        r = x[:, :1]
        return r * first(y, x, 0) + r**2 * second(y, x, 0) + second(y, x, 1)

    domain = dde.geometry.Rectangle([0, 0], [1, 2 * PI])
    rim = dde.icbc.DirichletBC(domain, lambda x: np.cos(x[:, 1:]), at_right)
    net = network([2, *[20] * 3, 1])

    def periodic(x):
        return torch.cat([x[:, :1] * f(x[:, 1:]) for f in (torch.sin, torch.cos)], 1)

    net.apply_feature_transform(periodic)
    return dde.data.PDE(domain, equation, rim, 2540, 80), net


def helmholtz_dirichlet_2d():
    wave_number = 4 * PI

    def equation(x, y):
        source = torch.prod(torch.sin(wave_number * x), 1, keepdim=True)
        laplacian = second(y, x, 0) + second(y, x, 1)
        return -laplacian - wave_number**2 * (y + source)

    domain = dde.geometry.Rectangle([0, 0], [1, 1])
    net = network([2, *[150] * 3, 1], "sin")
    net.apply_output_transform(
        lambda x, y: torch.prod(x * (1 - x), 1, keepdim=True) * y
    )
    return dde.data.PDE(domain, equation, [], 576, 0), net


def burgers():
    def equation(x, y):
        return first(y, x, 1) + y * first(y, x, 0) - 0.01 / PI * second(y, x, 0)

    domain = evolving(-1, 1, 1)
    conditions = [
        dde.icbc.DirichletBC(domain, lambda x: 0, on_boundary),
        dde.icbc.IC(domain, lambda x: -np.sin(PI * x[:, :1]), initial),
    ]
    data = dde.data.TimePDE(domain, equation, conditions, 2540, 80, 160)
    return data, network([2, *[20] * 3, 1])


def klein_gordon():
    def equation(x, y):
        position, cosine = x[:, :1], torch.cos(x[:, 1:])
        waves = second(y, x, 1) - second(y, x, 0)
        return waves + y**2 + position * cosine - (position * cosine) ** 2

    def exact(x):
        return x[:, :1] * np.cos(x[:, 1:])

    domain = evolving(-1, 1, 10)
    conditions = [
        dde.icbc.DirichletBC(domain, exact, on_boundary),
        dde.icbc.IC(domain, exact, initial),
        dde.icbc.OperatorBC(domain, lambda x, y, _: first(y, x, 1), at_start),
    ]
    data = dde.data.TimePDE(domain, equation, conditions, 30_000, 1500, 1500)
    return data, network([2, 40, 40, 1])


def at_start(x, _):
    return np.isclose(x[1], 0)


def poisson_robin_1d():
    domain = line(-1, 1)
    conditions = [
        dde.icbc.DirichletBC(domain, lambda x: 0, at_left),
        dde.icbc.RobinBC(domain, lambda x, y: y, at_right),
    ]
    data = dde.data.PDE(domain, lambda x, y: second(y, x, 0) - 2, conditions, 16, 2)
    return data, network([1, 50, 50, 50, 1])


def network(layers, activation="tanh"):
    return dde.nn.FNN(layers, activation, "Glorot uniform")


PROBLEMS = {
    "Poisson_Dirichlet_1d": poisson_dirichlet_1d,
    "Poisson_Neumann_1d": poisson_neumann_1d,
    "Euler_beam": euler_beam,
    "ode_system": ode_system,
    "diffusion_1d": diffusion_1d,
    "Laplace_disk": laplace_disk,
    "Helmholtz_Dirichlet_2d": helmholtz_dirichlet_2d,
    "burgers": burgers,
    "Klein_Gordon": klein_gordon,
    "Poisson_Robin_1d": poisson_robin_1d,
}


class Errors(dde.callbacks.Callback):
    """Callback that keeps CPU seconds and the largest relative error of the outputs."""

    def __init__(self, points, values):
        super().__init__()
        self.points, self.values = points, values
        self.steps, self.spent, self.rows = 0, 0.0, []

    def on_epoch_end(self):
        self.steps += 1
        if self.steps % PERIOD == 0:
            self.take()

    def take(self):
        now = time.process_time()
        misses = self.model.predict(self.points) - self.values
        norms = [np.linalg.norm(array, axis=0) for array in (misses, self.values)]
        self.rows.append([now - self.spent, float(max(norms[0] / norms[1]))])
        self.spent += time.process_time() - now


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problem", choices=PROBLEMS)
    parser.add_argument("test", help="file with points and values")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    dde.config.set_random_seed(0)
    with np.load(arguments.test) as test:
        errors = Errors(test["points"].astype("float32"), test["values"])
    began = time.process_time()
    errors.spent = began
    model = dde.Model(*PROBLEMS[arguments.problem]())
    quiet = {"verbose": 0, "display_every": 10**9, "callbacks": [errors]}
    model.compile("adam", lr=1e-3, verbose=0)
    model.train(iterations=ADAM_STEPS, **quiet)
    model.compile("L-BFGS", verbose=0)
    model.train(**quiet)
    errors.take()
    versions = {"deepxde": dde.__version__, "torch": torch.__version__}
    print(json.dumps({"rows": errors.rows, "steps": errors.steps, **versions}))


if __name__ == "__main__":
    main()
