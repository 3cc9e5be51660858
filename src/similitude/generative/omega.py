"""Omega, the set of possible similarities that the parameter ``omega`` defines, and the distributions on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude.finders.stream import StreamSearch
from similitude.generative.max_entropy import MaximumEntropy, check_omega, distinct, distinct_similarities
from similitude.similarities import Target

_MOST_VALUES = 2**20


def family_on(omega: Any, S: Any) -> MaximumEntropy:
    """Return the distributions on the Omega that the parameter defines, for these training similarities."""
    if omega is None:
        return MaximumEntropy(distinct_similarities(S))
    low, high = float(S.min()), float(S.max())
    if isinstance(omega, str):
        _check_name(omega)
        return MaximumEntropy(np.array([low, high]), continuous=True)
    family = MaximumEntropy(check_omega(omega))
    check_reach(family, low, high)
    return family


def searched_family(omega: Any, reader: Any, finder: Any) -> MaximumEntropy:
    """Return the distributions on the Omega that the parameter defines, for raw objects without their matrix.

    If Omega is taken from the similarities, an exact finder computes those of all pairs. If Omega is given,
    :func:`check_reach` is applied later to the similarities that are computed.
    """
    if omega is not None and not isinstance(omega, str):
        return MaximumEntropy(check_omega(omega))
    if not isinstance(finder, StreamSearch):
        raise ValueError(
            f"omega must be an array with search={reader.search!r}: None and 'continuous' need all training "
            "similarities, which are not computed."
        )
    if omega is None:
        found = _Distinct(reader)
        finder.over_pairs(reader.objects, reader.measure, found)
        return MaximumEntropy(found.values)
    _check_name(omega)
    interval = np.sort(reader.similarities(np.array([finder.ends(reader)]))[0])
    return MaximumEntropy(interval, continuous=True)


def _check_name(omega: str) -> None:
    if omega != "continuous":
        raise ValueError(f"omega must be None, 'continuous' or an array of similarities; got {omega!r}.")


def check_reach(family: MaximumEntropy, low: float, high: float) -> None:
    """Raise an error if Omega does not include the smallest and the largest of the training similarities."""
    below, above = family.distances([low, high])
    if min(below[0], above[1]) < -family.tolerance:
        raise ValueError(
            f"omega must cover the training similarities, which include {low:g} and {high:g}; it ranges from "
            f"{family.omega[0]:g} to {family.omega[-1]:g}."
        )


class _Distinct(Target):
    """The distinct similarities in the blocks so far."""

    def __init__(self, reader: Any):
        self.reader, self.values = reader, np.empty(0)

    def write(self, block: Any, values: np.ndarray) -> None:
        self.values = distinct(np.append(self.values, distinct(self.reader.similarities(values))))
        if len(self.values) > _MOST_VALUES:
            raise ValueError(
                f"omega=None uses the distinct training similarities, but there are more than {_MOST_VALUES}; pass "
                "omega, or use search='matrix'."
            )
