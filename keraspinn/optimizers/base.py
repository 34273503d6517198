"""Contract of second-order optimizers, and of the losses they minimize.

Adam uses one gradient per step, variable by variable. The methods in this folder treat
all parameters of a network as one vector θ, (P,), and need more: the loss at several
points along a direction (`BFGS` and its relatives search a line), or single residuals
with their Jacobian (Gauss–Newton). `keras.optimizers.Optimizer` provides names,
variables, saving and configs. Two functions replace its `apply` of a gradient:

    init(parameters) → state                                     a dict of tensors
    step(objective, parameters, state) → (parameters, state, logs)

`step` is pure and written with `keras.ops`, with loops and branches as `ops.while_loop`
and `ops.cond`. So it compiles into the program of many steps, and can be vectorized
over a leading axis. `state` contains everything to remember. `build` turns it into
Keras variables, which are saved, loaded and resumed like Adam's moments.

To add one, copy lbfgs.py: `init`, `step`, and an `__init__` that keeps its arguments as
attributes of the same names, which are the config, and passes others to `super()`.
Outside of this package register it with `keras.saving.register_keras_serializable`.
Declare arrays that grow with the square of the number of parameters in `bytes_needed`.
"""

import warnings
from collections.abc import Sequence

import keras
from keras import ops

from keraspinn import backend
from keraspinn.common import Registered, arguments_of, check_count, described
from keraspinn.common.typing import State, Tensor

GIBIBYTE = 2**30


class Objective:
    """Loss on fixed points as a function of the parameters, the argument of `step`.

    Every method takes the parameters as one tensor `(P,)`. Residuals are weighted by
    √(λ_i / N_i), so that the sum of their squares is the loss without regularizers.

    Attributes:
        renewed: Boolean scalar tensor: whether points or loss weights changed since the
            last step. Values of the loss in the state then belong to another function:
            recompute them, and do not subtract gradients.
        is_energy: Whether the loss holds an energy and may be negative. Its residuals
            are then defined by their Jacobian J: JᵀJ is half of the energy's Hessian.

    Raises:
        NotImplementedError: By each method that a class lacks.

    Example:

    The least-squares loss ‖θ − 1‖², the same in every step:

    >>> class Distance(keraspinn.optimizers.Objective):
    ...     renewed = keras.ops.convert_to_tensor(False)
    ...
    ...     def residuals(self, parameters):
    ...         return parameters - 1
    ...
    ...     def value_and_gradient(self, parameters):
    ...         rows = self.residuals(parameters)
    ...         return keras.ops.sum(rows * rows), 2 * rows
    >>> optimizer = keraspinn.optimizers.BFGS()
    >>> start = keras.ops.zeros((3,), "float64")
    >>> state = optimizer.init(start)
    >>> end, state, logs = optimizer.step(Distance(), start, state)
    >>> float(logs["loss"]) < 3
    True
    """

    renewed: Tensor = None
    is_energy = False

    def loss(self, parameters: Tensor) -> Tensor:
        """Return the total weighted loss with regularizers, a scalar."""
        raise NotImplementedError

    def value_and_gradient(self, parameters: Tensor) -> tuple[Tensor, Tensor]:
        """Return the total loss and its gradient, `(P,)`."""
        raise NotImplementedError

    def residuals(self, parameters: Tensor) -> Tensor:
        """Return the weighted residuals, `(N,)`."""
        raise NotImplementedError

    def jvp(self, parameters: Tensor, direction: Tensor) -> Tensor:
        """Return J v, `(N,)`, for a direction v, `(P,)`."""
        return backend.jvp(self.residuals, parameters, direction)[1]

    def vjp(self, parameters: Tensor, rows: Tensor) -> Tensor:
        """Return Jᵀ w, `(P,)`, for w, `(N,)`."""

        def function(values, _):
            return ops.sum(self.residuals(values[0]) * rows), []

        return backend.value_and_gradients(function, [parameters])[2][0]

    def jacobian(self, parameters: Tensor) -> Tensor:
        """Return J, the derivative of the residuals, `(N, P)`, computed in blocks."""
        raise NotImplementedError

    def fresh(self) -> "Objective":
        """Return an objective on other points, to test steps made from these."""
        return self


class Optimizer(Registered, keras.optimizers.Optimizer):
    """Base class of optimizers that train a `PINNModel`'s parameters as one vector.

    Clipping, accumulated gradients, averages, weight decay, a learning rate and
    constraints of Keras do not apply.

    Args:
        resample_every: Number of steps with the same points, or `None` for new points
            in each step. A user's sampler may override it.
        memory_limit: Largest number of bytes that `build` may allocate.
        name: Its name.

    Raises:
        NotImplementedError: By `init` and `step`, if a class lacks them.
        ValueError: From `build`, if the state needs more memory than `memory_limit`.

    Example:

    A gradient descent that halves its step until the loss decreases:

    >>> class Descent(keraspinn.optimizers.Optimizer):
    ...     def init(self, parameters):
    ...         return {"size": keras.ops.ones((), parameters.dtype)}
    ...
    ...     def step(self, objective, parameters, state):
    ...         loss, gradient = objective.value_and_gradient(parameters)
    ...         moved = parameters - state["size"] * gradient
    ...         better = objective.loss(moved) < loss
    ...         size = keras.ops.where(better, 2 * state["size"], state["size"] / 2)
    ...         parameters = keras.ops.where(better, moved, parameters)
    ...         return parameters, {"size": size}, {"loss": loss}
    >>> optimizer = Descent(resample_every=100)
    >>> optimizer.build([keras.Variable(keras.ops.zeros((3, 2), "float64"))])
    >>> list(optimizer.state_variables)
    ['size']
    """

    log_names: tuple[str, ...] = ()  # logs of `step` besides the loss

    def __init__(
        self,
        resample_every: int | None = None,
        memory_limit: int = 2 * GIBIBYTE,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate=1.0, name=name)
        self.resample_every = check_count("resample_every", resample_every, None)
        self.memory_limit = check_count("memory_limit", memory_limit)
        self.state_variables: dict[str, keras.Variable] = {}  # by name in the state
        self._built_for: list[int] = []  # ids of variables

    def init(self, parameters: Tensor) -> State:
        """Return the state before the first step, a dict from names to tensors.

        Args:
            parameters: The parameters to train, `(P,)`.
        """
        raise NotImplementedError(f"{type(self).__name__} must define `init`.")

    def step(
        self, objective: Objective, parameters: Tensor, state: State
    ) -> tuple[Tensor, State, dict[str, Tensor]]:
        """Make one step; a pure function.

        Args:
            objective: An `Objective`.
            parameters: The parameters, `(P,)`.
            state: The result of `init` or of the last step.

        Returns:
            The new parameters, the new state with the shapes and dtypes of the old,
            and a dict of scalars to log, including `"loss"`.
        """
        raise NotImplementedError(f"{type(self).__name__} must define `step`.")

    def bytes_needed(self, parameters: Tensor) -> int:
        """Return the bytes of the state and of a step's arrays of that size.

        Args:
            parameters: The parameters to train, `(P,)`.
        """
        return 0

    def flops_needed(self, gradient: float, rows: int, parameters: int) -> float:
        """Estimate the cost of a step, from which `fit` chooses the steps per program.

        Args:
            gradient: Operations of one evaluation of the loss and its gradient.
            rows: Number of residuals.
            parameters: Number of parameters.
        """
        return 3 * gradient

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        parameters = ops.concatenate([ops.reshape(v, (-1,)) for v in variables])
        if (needed := self.bytes_needed(parameters)) > self.memory_limit:
            raise ValueError(
                f"{type(self).__name__} needs {needed / GIBIBYTE:.2g} GiB for "
                f"{parameters.shape[0]:,} parameters, more than its `memory_limit` of "
                f"{self.memory_limit / GIBIBYTE:.2g} GiB. Use LBFGS(), a smaller "
                f"network, or {type(self).__name__}(memory_limit={needed})."
            )
        if ops.dtype(parameters) == "float32":
            warnings.warn(
                f"{type(self).__name__} trains parameters of single precision: "
                "round-off ends the descent at relative errors of about 1e-3 to 1e-4. "
                'Write `model = model.astype("float64")` before `compile`.',
                stacklevel=2,
            )
        for name, value in self.init(parameters).items():
            dtype = ops.dtype(value)
            variable = self.add_variable(value.shape, "zeros", dtype, name=name)
            variable.assign(value)
            self.state_variables[name] = variable
        self._built_for = [*map(id, variables)]

    def check_built_for(self, variables: Sequence[keras.Variable]) -> None:
        """Raise `ValueError` unless these are the variables that it was built for.

        Args:
            variables: The variables to train.
        """
        if [*map(id, variables)] != self._built_for:
            name = type(self).__name__
            raise ValueError(
                f"{name} remembers a state of the parameters that were trainable at "
                f"`compile`; others are now. Call `model.compile({name}(...))`, with a "
                "new optimizer, after layers are frozen or unfrozen."
            )

    @property
    def state(self) -> State:
        """State as a dict of tensors, the argument of `step`."""
        return {n: ops.convert_to_tensor(v) for n, v in self.state_variables.items()}

    def apply(self, grads, trainable_variables=None):
        """Raise `NotImplementedError`: a step needs more than a gradient."""
        raise NotImplementedError(
            f"{type(self).__name__} needs losses and residuals at several points, "
            "not a gradient: it trains a keraspinn.PINNModel only, by `compile` "
            "and `fit`. For other models use a Keras optimizer."
        )

    __repr__ = described

    def get_config(self):
        """Return the arguments of `__init__`, attributes of the same names."""
        return arguments_of(self)
