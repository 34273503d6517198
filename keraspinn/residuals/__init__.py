"""Residuals of a problem's equations for a network, and their losses."""
