"""Error estimates without a reference solution."""

from keraspinn.diagnostics.verdicts.measure import verdict
from keraspinn.diagnostics.verdicts.verdict import Verdict

__all__ = ["Verdict", "verdict"]
