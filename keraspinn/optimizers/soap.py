from typing import Any

import keras
from keras import ops

from keraspinn.common import Registered, arguments_of, check_count, described

_SHIFT = 1e-6  # share of the mean eigenvalue added, as L is singular at first


class SOAP(Registered, keras.optimizers.Optimizer):
    """Adam in the eigenbases of Shampoo's preconditioners, for any Keras model.

    With G the gradient of a kernel W, L and R running means of G Gᵀ and Gᵀ G, and Q_L
    and Q_R orthogonal, a step is

        G' = Q_Lᵀ G Q_R
        M ← β₁ M + (1 − β₁) G,      V ← β₂ V + (1 − β₂) G' ⊙ G'
        W ← W − η Q_L (Q_Lᵀ M Q_R / (√V + ε)) Q_Rᵀ

    with M and V corrected for their initial zeros. In the first step and every
    `update_freq` steps after it, Q_L becomes the orthogonal factor of L Q_L, likewise
    Q_R: orthogonal iteration, which converges to the eigenvectors. It starts at the
    identity, where the step is Adam's; eigendecompositions are slow in XLA on a CPU.
    Tensors with more axes have a basis per axis. Axes of length one, axes longer than
    `max_dimension` and biases have none.

    It needs 2 n² numbers more than Adam for each axis of length n with a basis.

    Args:
        learning_rate: η, a number or a schedule.
        beta_1: β₁, in [0, 1).
        beta_2: β₂, in [0, 1), for V as well as for L and R.
        epsilon: ε.
        update_freq: Number of steps between updates of the bases.
        max_dimension: Longest axis with a basis.
        **kwargs: `weight_decay`, `clipnorm` and other arguments of
            `keras.optimizers.Optimizer`.

    Raises:
        ValueError: For arguments out of range.

    Example:

    >>> model = keras.Sequential([keras.layers.Dense(3)])
    >>> model.compile(keraspinn.optimizers.SOAP(1e-2), loss="mse")
    >>> history = model.fit(np.ones((8, 2)), np.ones((8, 3)), epochs=20, verbose=0)
    >>> history.history["loss"][-1] < history.history["loss"][0]
    True

    Reference:
        Vyas et al., "SOAP: improving and stabilizing Shampoo using Adam", algorithms 3
        and 4, arXiv 2409.11321.
    """

    def __init__(
        self,
        learning_rate: float | keras.optimizers.schedules.LearningRateSchedule = 3e-3,
        beta_1: float = 0.95,
        beta_2: float = 0.95,
        epsilon: float = 1e-8,
        update_freq: int = 10,
        max_dimension: int = 1000,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.update_freq = check_count("update_freq", update_freq)
        self.max_dimension = check_count("max_dimension", max_dimension)

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        names = ["momentum", "velocity"]
        self._momenta, self._velocities = self.add_optimizer_variables(variables, names)
        self._bases = [self._add_pairs(v, "basis", "identity") for v in variables]
        self._squares = [self._add_pairs(v, "square", "zeros") for v in variables]

    def _add_pairs(self, variable, name, initializer):
        """Add a matrix for each axis with a basis, by the axis' number as text."""
        axes = range(len(variable.shape)) if len(variable.shape) > 1 else ()
        return {
            str(axis): self.add_variable(
                shape=(variable.shape[axis],) * 2,
                initializer=initializer,
                dtype=variable.dtype,
                name=f"{variable.path.replace('/', '_')}_{name}_{axis}",
            )
            for axis in axes
            if 1 < variable.shape[axis] <= self.max_dimension
        }

    def update_step(self, gradient, variable, learning_rate):
        """Update one variable, as `apply` requires."""
        index = self._get_variable_index(variable)
        momentum, velocity = self._momenta[index], self._velocities[index]
        bases, squares = self._bases[index], self._squares[index]
        gradient = ops.cast(gradient, variable.dtype)
        step = ops.cast(self.iterations + 1, variable.dtype)
        numbers = self.beta_1, self.beta_2, learning_rate
        beta_1, beta_2, rate = (ops.cast(n, variable.dtype) for n in numbers)

        turned = _turn(gradient, bases)
        self.assign(momentum, beta_1 * momentum + (1 - beta_1) * gradient)
        self.assign(velocity, beta_2 * velocity + (1 - beta_2) * ops.square(turned))
        mean = _turn(momentum, bases) / (1 - ops.power(beta_1, step))
        size = ops.sqrt(velocity / (1 - ops.power(beta_2, step)))
        self.assign_sub(variable, rate * _turn(mean / (size + self.epsilon), bases, 1))

        due = ops.equal(ops.mod(self.iterations, self.update_freq), 0)
        for axis, basis in bases.items():
            others = [n for n in range(len(variable.shape)) if n != int(axis)]
            square = ops.tensordot(gradient, gradient, axes=[others, others])
            square = beta_2 * squares[axis] + (1 - beta_2) * square
            self.assign(squares[axis], square)
            self.assign(basis, ops.cond(due, *_better_or_same(square, basis)))

    __repr__ = described

    def get_config(self):
        return arguments_of(self) | super().get_config()


def _turn(tensor, bases, contracted=0):
    """Transform a tensor to the bases of its axes, or back if 1 is contracted."""
    for axis, basis in bases.items():
        product = ops.tensordot(tensor, basis, axes=[[int(axis)], [contracted]])
        tensor = ops.moveaxis(product, -1, int(axis))
    return tensor


def _better_or_same(square, basis):
    basis = ops.convert_to_tensor(basis)

    def better():
        # L is singular at first; its null space keeps its basis.
        added = _SHIFT * ops.trace(square) / basis.shape[0]
        return ops.qr(ops.matmul(square, basis) + added * basis)[0]

    return better, lambda: basis
