"""Names of classes in saved files, and their arguments."""

import inspect

import keras


class Registered:
    """Base of classes that Keras saves and loads by name: they register themselves.

    Subclasses outside of this package need `keras.saving.register_keras_serializable`.
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("keraspinn."):
            keras.saving.register_keras_serializable("keraspinn")(cls)


def arguments_of(thing):
    """Return the attributes named as arguments of its constructors, not Keras's."""
    kinds = [k for k in type(thing).__mro__ if not k.__module__.startswith("keras.")]
    makers = [vars(k)["__init__"] for k in kinds if "__init__" in vars(k)]
    names = [n for make in makers for n in inspect.signature(make).parameters]
    return {name: vars(thing)[name] for name in names if name in vars(thing)}
