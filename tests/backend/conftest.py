import keras
import pytest


@pytest.fixture
def double():
    """Double precision, where it is not on as it is."""
    if keras.backend.backend() != "jax":
        yield
        return
    import jax

    kept = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", kept)
