"""Settings that must be made before TensorFlow is imported, and hypothesis's."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from hypothesis import settings

# The first call of a TensorFlow function takes long; that is no failure.
settings.register_profile("keraspinn", deadline=None)
settings.load_profile("keraspinn")
