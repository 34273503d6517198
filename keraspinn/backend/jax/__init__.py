"""JAX's side of the backend."""
