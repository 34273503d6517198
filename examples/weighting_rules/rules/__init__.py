"""Weighting rules of the literature, as weighting rules, callbacks and samplers.

Rules by term are `WeightingRule`s. The rule by the tangent kernel needs Jacobians, so
it is a callback. Rules by point are samplers: a sampler receives the residual at each
of its points, keeps a state, and returns the weights of its batch.

To add one, copy `gradient_norm.py` or `residual_attention.py`, and add an entry here.
"""

import dataclasses
from collections.abc import Callable

import keraspinn as kp
from examples.weighting_rules.rules.gradient_norm import GradientNorm
from examples.weighting_rules.rules.ntk import TangentKernel
from examples.weighting_rules.rules.per_point import Fixed
from examples.weighting_rules.rules.relobralo import ReLoBRaLo
from examples.weighting_rules.rules.residual_attention import ResidualAttention
from examples.weighting_rules.rules.self_adaptive import SelfAdaptive
from examples.weighting_rules.rules.soft_adapt import SoftAdapt


@dataclasses.dataclass(frozen=True)
class Entry:
    """Rule of the study.

    Attributes:
        title: Name in the table.
        callbacks: Function without arguments that returns a list of callbacks.
        equations: Class of the sampler of equations.
        conditions: Class of the sampler of conditions.
    """

    title: str
    callbacks: Callable[[], list] = list
    equations: type[Fixed] = Fixed
    conditions: type[Fixed] = Fixed


def by_term(title, rule):
    """Return the entry of a `WeightingRule`."""
    return Entry(title, lambda: [kp.callbacks.LossWeighting(rule)])


RULES = {
    "fixed": Entry("Fixed weights"),
    "annealing": by_term("Annealing", kp.weighting.GradientRatio()),
    "gradient_norm": by_term("Gradient norm", GradientNorm()),
    "ntk": Entry("Tangent kernel", lambda: [TangentKernel()]),
    "relobralo": by_term("ReLoBRaLo", ReLoBRaLo()),
    "soft_adapt": by_term("SoftAdapt, normalized", SoftAdapt()),
    "soft_adapt_weighted": by_term(
        "SoftAdapt, loss-weighted", SoftAdapt(normalized=False, loss_weighted=True)
    ),
    "self_adaptive": Entry(
        "Self-adaptive", equations=SelfAdaptive, conditions=SelfAdaptive
    ),
    "residual_attention": Entry(
        "Residual-based attention", equations=ResidualAttention
    ),
}
