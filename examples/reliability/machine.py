"""Machine and versions of a record."""

import importlib.metadata
import os
import platform

import keras

import keraspinn

PACKAGES = ("keras", keras.config.backend(), "sympy", "numpy", "h5py")


def versions():
    """Return the machine and the versions of packages, a dict."""
    packages = {"python": platform.python_version(), "keraspinn": keraspinn.__version__}
    packages |= {name: importlib.metadata.version(name) for name in PACKAGES}
    return {
        "machine": f"{os.cpu_count()}-core {platform.machine()}",
        "versions": packages,
    }
