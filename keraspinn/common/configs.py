"""Reading saved configurations: what is wrong with one ends in a `ValueError`."""

import functools

import keras

from keraspinn.version import __version__

FORMAT = 1
"""Counts the ways in which problems and models have been saved."""


def reading(from_config):
    """Make a `from_config` say what it reads when the configuration is no such thing.

    Args:
        from_config: Function of a class and a configuration.

    Returns:
        A function that raises `ValueError` where that one raises anything.
    """

    @functools.wraps(from_config)
    def read(cls, config):
        try:
            return from_config(cls, config)
        except ValueError:
            raise
        except KeyError as error:
            raise ValueError(
                f"The saved {cls.__name__} lacks the entry {error}."
            ) from error
        except Exception as error:
            raise ValueError(
                f"The saved {cls.__name__} cannot be read. {str(error)[:500]}"
            ) from error

    return read


def described(thing, config=None):
    """Text such as `Name(key=value)`, of a thing's configuration."""
    config = thing.get_config() if config is None else config
    settings = ", ".join(f"{key}={value!r}" for key, value in config.items())
    return f"{type(thing).__name__}({settings})"


def restored(config, *kinds):
    """The object of a saved configuration, if it is of one of the kinds.

    Its class is looked at before anything is built, and must be registered: Keras
    would look for others by importing what the file names.
    """
    name = config.get("registered_name") if isinstance(config, dict) else None
    found = keras.saving.get_registered_object(name) if isinstance(name, str) else None
    if found is None or (kinds and not issubclass(found, kinds)):
        expected = " or ".join(kind.__name__ for kind in kinds) or "registered class"
        raise ValueError(f"Expected a saved {expected}. Received: {str(name)[:60]}")
    return keras.saving.deserialize_keras_object(config)


def stamped(config):
    """A configuration that tells what wrote it."""
    return {"format": FORMAT, "version": __version__, **config}


def unstamped(config, what):
    """The same without that; `ValueError` if a later version wrote it otherwise.

    Args:
        config: Dict, of which a copy is returned.
        what: What was saved, a word such as `"problem"`.
    """
    config = dict(config)
    found, writer = config.pop("format", FORMAT), config.pop("version", None)
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise ValueError(f"A format is a positive integer. Received: {str(found)[:60]}")
    if found > FORMAT:
        wanted = f"keraspinn {str(writer)[:60]}" if writer else "a later keraspinn"
        raise ValueError(
            f"The {what} was saved in format {found} by {wanted}. This is keraspinn "
            f"{__version__}, which reads formats up to {FORMAT}. Update it: pip "
            "install --upgrade keraspinn."
        )
    return config
