"""JAX's side of the backend."""
# ruff: noqa: F401, they are for `keraspinn.backend`

from keraspinn.backend.jax.data import (
    array_dataset,
    is_tick,
    static_shape,
    tick_dataset,
)
from keraspinn.backend.jax.devices import (
    check_dtype,
    double_precision,
    full_products,
    has_accelerator,
    replica,
    replica_mean,
)
from keraspinn.backend.jax.gradients import (
    compiled,
    jacobian,
    jvp,
    value_and_gradients,
)
from keraspinn.backend.jax.linalg import cholesky
from keraspinn.backend.jax.members import map_members
from keraspinn.backend.jax.random import uniform
from keraspinn.backend.jax.sharding import (
    replicate,
    shard,
    shard_count,
    undistributed,
)
from keraspinn.backend.jax.steps import (
    all_finite,
    apply_optimizer,
    select,
    snapshot,
)
from keraspinn.backend.jax.trainer import StepFunctions
