"""Finds `examples`, which is not installed, behind all that is."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[3]))
