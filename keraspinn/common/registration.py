"""Names of classes in saved files."""

import keras


class Registered:
    """Base of classes that Keras saves and loads by name: they register themselves.

    Subclasses outside of this package need `keras.saving.register_keras_serializable`.
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("keraspinn."):
            keras.saving.register_keras_serializable("keraspinn")(cls)
