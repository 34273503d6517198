import keras
import pytest


@pytest.fixture
def double():
    """Switch on double precision where it is off by default."""
    if keras.backend.backend() != "jax":
        yield
        return
    import jax

    previous = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", previous)
