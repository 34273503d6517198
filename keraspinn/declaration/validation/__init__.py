"""Checks of a declaration: well-posedness, discontinuities, floating-point range."""
