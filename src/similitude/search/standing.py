"""The result of one method in a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Standing:
    """The result of one method on a leaderboard.

    Parameters
    ----------
    method : str
        The name of the method.
    error : float or None
        The expected error of the method, including the choice of its parameters; None if it failed.
    standard_error : float or None
        The standard error of the error.
    parameters : dict
        The best point.
    seconds : float, default=0.0
        The time it took, on one core.
    optimistic_error : float or None, default=None
        The mean error over the folds at the best point, which was chosen on them.
    p_value : float or None, default=None
        The p-value of the one-sided signed-rank test over the folds that the method is worse than the first; None for
        the first.
    chosen : bool, default=False
        Whether the method was chosen.
    failure : str or None, default=None
        The error message, if the method failed.
    """

    method: str
    error: Any
    standard_error: Any
    parameters: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    optimistic_error: float | None = None
    p_value: float | None = None
    chosen: bool = False
    failure: str | None = None
