"""Trainings as objects: stages of `compile` and `fit`, and time windows."""

from keraspinn.recipes.march import march
from keraspinn.recipes.solution import Solution
from keraspinn.recipes.solve import solve
from keraspinn.recipes.stages import Recipe, Stage, Trained, TwoStage

__all__ = ["Recipe", "Solution", "Stage", "Trained", "TwoStage", "march", "solve"]
