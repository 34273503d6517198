"""TensorFlow's side of the backend."""
# ruff: noqa: F401, they are for `keraspinn.backend`

from keraspinn.backend.tensorflow.data import (
    array_dataset,
    is_tick,
    static_shape,
    tick_dataset,
)
from keraspinn.backend.tensorflow.gradients import (
    compiled,
    jacobian,
    jvp,
    value_and_gradients,
)
from keraspinn.backend.tensorflow.linalg import cholesky
from keraspinn.backend.tensorflow.members import map_members
from keraspinn.backend.tensorflow.random import uniform
from keraspinn.backend.tensorflow.replicas import (
    all_finite,
    apply_optimizer,
    check_dtype,
    double_precision,
    full_products,
    has_accelerator,
    replica,
    replica_mean,
    replicate,
    select,
    shard,
    shard_count,
    snapshot,
    undistributed,
)
from keraspinn.backend.tensorflow.trainer import StepFunctions
