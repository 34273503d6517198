"""Saved configurations: versions, allowed classes, texts."""

import keras

from keraspinn.common.registration import arguments_of
from keraspinn.version import __version__

# The version of the format in which problems and models are saved.
FORMAT = 1


def described(thing):
    """Return a text such as `Name(key=value)` from a configuration."""
    settings = ", ".join(f"{k}={value!r}" for k, value in thing.get_config().items())
    return f"{type(thing).__name__}({settings})"


class Configured:
    """Object determined by its constructor's arguments, which `get_config` returns."""

    def get_config(self):
        """Return the constructor's arguments, attributes of the same names."""
        return arguments_of(self)

    @classmethod
    def from_config(cls, config):
        """Make an object from a config that `get_config` returned."""
        return cls(**config)

    def __eq__(self, other):
        return type(self) is type(other) and self.get_config() == other.get_config()

    def __hash__(self):
        return hash((type(self), repr(self.get_config())))

    __repr__ = described


def restored(config, *kinds):
    """Make the object of a saved configuration, if it is of one of the kinds.

    Its class is checked before anything is built, and must be registered: Keras would
    find others by importing modules that the file names.
    """
    name = config.get("registered_name") if isinstance(config, dict) else None
    known = keras.saving.get_registered_object(name) if isinstance(name, str) else None
    if known is None or (kinds and not issubclass(known, kinds)):
        expected = " or ".join(kind.__name__ for kind in kinds) or "registered class"
        raise ValueError(f"Expected a saved {expected}. Received: {str(name)[:60]}")
    return keras.saving.deserialize_keras_object(config)


def stamped(config):
    """Return a configuration with the format and version that wrote it."""
    return {"format": FORMAT, "version": __version__, **config}


def unstamped(config, kind):
    """Return a configuration without them, or raise `ValueError` if it is too new.

    Args:
        config: Dict, of which a copy is returned.
        kind: The kind of object saved, a word such as `"problem"`.
    """
    config = dict(config)
    version, writer = config.pop("format", FORMAT), config.pop("version", None)
    if version > FORMAT:
        wanted = f"keraspinn {str(writer)[:60]}" if writer else "a later keraspinn"
        raise ValueError(
            f"The {kind} was saved in format {version} by {wanted}. This is keraspinn "
            f"{__version__}, for format {FORMAT}: pip install --upgrade keraspinn."
        )
    return config
