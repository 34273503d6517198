"""Rules that turn gradients into loss weights."""

from keraspinn.weighting.base import FunctionRule, TrainingSetup, WeightingRule
from keraspinn.weighting.gradient_ratio import GradientRatio

__all__ = [
    "FunctionRule",
    "GradientRatio",
    "TrainingSetup",
    "WeightingRule",
]
