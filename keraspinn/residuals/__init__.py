"""Residuals of a problem's equations for a network, and their losses."""

from keraspinn.residuals.energy_terms import EnergyTerm
from keraspinn.residuals.fields import Fields
from keraspinn.residuals.integral_terms import IntegralTerm
from keraspinn.residuals.loss_terms import LossTerm

__all__ = ["EnergyTerm", "Fields", "IntegralTerm", "LossTerm"]
