"""JAX: tensors that the devices of a Keras distribution share."""

import contextvars

import jax
import keras
from jax.sharding import NamedSharding, PartitionSpec

from keraspinn.backend.scopes import setting

# The devices of the program that is traced, if it has several.
_mesh = contextvars.ContextVar("mesh", default=None)


def shard(tensors, axis=0):
    """Distribute the points, or members, of tensors over the devices of a program.

    The placement alone changes: every number is that of one device, up to round-off.

    Args:
        tensors: Nested structure of tensors; scalars stay whole.
        axis: The axis to share, of any length.
    """
    mesh = _mesh.get()
    if mesh is None:
        return tensors
    return _placed(tensors, PartitionSpec(*[None] * axis, mesh.axis_names))


def replicate(tensors):
    """Copy tensors to every device of a program.

    Args:
        tensors: Nested structure of tensors.
    """
    return tensors if _mesh.get() is None else _placed(tensors, PartitionSpec())


def _placed(tensors, spec):
    places = NamedSharding(_mesh.get(), spec)

    def one(tensor):
        if getattr(tensor, "ndim", 0) < max(len(spec), 1):
            return tensor
        return jax.lax.with_sharding_constraint(tensor, places)

    return jax.tree.map(one, tensors)


def shard_count():
    """Return the number of devices that share the tensors of `shard`."""
    mesh = _mesh.get()
    return 1 if mesh is None else mesh.size


def shared_by(mesh):
    """Open a scope in which `shard` distributes tensors; for `None` it does not."""
    return setting(_mesh.get, _mesh.set, mesh)


def program(function, mesh=None):
    """Compile by `jax.jit` on all devices of a mesh; each has all the results.

    Args:
        function: Function of tensors.
        mesh: The devices; one alone if not given.
    """
    if mesh is None:
        return jax.jit(function)

    def traced(*arguments):
        with shared_by(mesh):
            return function(*arguments)

    everywhere = NamedSharding(mesh, PartitionSpec())
    compiled = jax.jit(traced, in_shardings=everywhere, out_shardings=everywhere)
    return lambda *arguments: compiled(*jax.device_put(arguments, everywhere))


def mesh_of(distribution):
    """Return the devices of a `keras.distribution.DataParallel`, or `None`.

    Raises:
        ValueError: If it is something else, or has several processes.
    """
    if distribution is None:
        return None
    if not isinstance(distribution, keras.distribution.DataParallel):
        raise ValueError(
            "Models here train on several devices by keras.distribution.DataParallel: "
            "each has all weights, and its share of the points or of an ensemble's "
            f"members. Received: keras.distribution.{type(distribution).__name__}. "
            "Write keras.distribution.set_distribution("
            "keras.distribution.DataParallel())"
        )
    if distribution.num_processes > 1:
        raise ValueError(
            "On JAX one process trains on all its devices. Received: "
            f"{distribution.num_processes} processes. Start one alone"
        )
    return distribution.device_mesh.backend_mesh


def undistributed():
    """Open a scope in which Keras distributes no batches.

    Keras would hand each device its share of a batch, which must divide by their
    number. Here every device receives the whole batch, and programs share its points.
    """
    read, write = keras.distribution.distribution, keras.distribution.set_distribution
    return setting(read, write, None)
