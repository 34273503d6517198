"""Types that signatures share.

Keras and SymPy declare no types, so a type checker takes their classes for `Any`.
Signatures name them all the same, for readers.
"""

import os
from collections.abc import Callable
from typing import Any, TypeAlias

import keras

# A tensor of the backend, or an array: Keras has no public class for it.
Tensor: TypeAlias = Any

# The state of an optimizer, a sampler or a weighting rule, from step to step.
State: TypeAlias = dict[str, Tensor]

# Random numbers: a function of a shape, and perhaps of a number that tells one call
# from another, that returns a tensor uniform in [0, 1).
Random: TypeAlias = Callable[..., Tensor]

PathLike: TypeAlias = str | os.PathLike[str]

# Names, or the objects that Keras has under them.
Optimizer: TypeAlias = str | keras.optimizers.Optimizer
Activation: TypeAlias = str | Callable[[Tensor], Tensor] | None
Initializer: TypeAlias = str | Callable[..., Tensor] | None
