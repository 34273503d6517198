"""Optimizers of other packages on the problems of the study."""
