"""Rules that turn gradients into loss weights."""

from keraspinn.weighting.base import FunctionRule, TrainingSetup, WeightingRule
from keraspinn.weighting.gradient_ratio import LAYERS, GradientRatio

__all__ = ["LAYERS", "FunctionRule", "GradientRatio", "TrainingSetup", "WeightingRule"]
