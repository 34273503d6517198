"""Trainings as objects: stages, time windows, continuation, `solve`."""

from keraspinn.recipes.continuation import continuation
from keraspinn.recipes.march import march
from keraspinn.recipes.solution import Solution
from keraspinn.recipes.solve import solve
from keraspinn.recipes.stages import OneStage, Recipe, Stage, Trained, TwoStage

__all__ = [
    "OneStage",
    "Recipe",
    "Solution",
    "Stage",
    "Trained",
    "TwoStage",
    "continuation",
    "march",
    "solve",
]
