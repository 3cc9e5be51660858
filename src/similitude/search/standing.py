"""How a method did in comparison with others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Standing:
    """One method on a leaderboard.

    Attributes
    ----------
    method : str
    error : float or None
        The error to expect of it, with its grid and the choice of a point; None where it failed.
    standard_error : float or None
    parameters : dict
        The best point.
    seconds : float
        The time it took, on one core.
    optimistic_error : float or None
        The mean over the folds at the best point, which was chosen on them.
    p_value : float or None
        One-sided signed-rank test over the folds that it is worse than the first; None for the first.
    chosen : bool
    failure : str or None
        What went wrong.
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
