"""Helpers for all folders: checks of arguments, saved configurations, files."""

from keraspinn.common.checks import check_count, check_type, checked_flag, point_array  # noqa: F401
from keraspinn.common.configs import Configured, described, restored, stamped, unstamped  # noqa: F401
from keraspinn.common.registration import Registered, arguments_of  # noqa: F401
from keraspinn.common.typing import Optimizer, PathLike, Random, State, Tensor  # noqa: F401
