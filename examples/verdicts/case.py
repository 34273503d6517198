"""Problem of the study, with the settings of its training."""

import dataclasses
from collections.abc import Callable

import keraspinn as kp


@dataclasses.dataclass(frozen=True)
class Case:
    """Problem and the settings of its training.

    Attributes:
        problem: Function without arguments that returns the `Problem`.
        units: Units of each hidden layer.
        depth: Number of hidden layers.
        adam: Steps of Adam in float32.
        second: Steps of the second-order optimizer in float64 after Adam, 0 for none.
        optimizer: Function that returns the second-order optimizer.
        weight: Loss weight λ of every condition.
        rule: Rule of `LearningRateAnnealing`, or `None` for constant weights.
        unscaled: Whether to train without scales, like the first thirteen cases.
        parameters: True values of unknown parameters.
        held_back: Whether the case ran before anything was tuned on it.
    """

    problem: Callable[[], kp.Problem]
    units: int = 30
    depth: int = 3
    adam: int = 3000
    second: int = 0
    optimizer: Callable = kp.optimizers.SSBroyden
    weight: float = 1.0
    rule: str | None = None
    unscaled: bool = False
    parameters: dict[str, float] = dataclasses.field(default_factory=dict)
    held_back: bool = False
