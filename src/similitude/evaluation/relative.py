"""Values in the grids of methods that are relative to the scale of the training similarities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from similitude.proximity.check import dense
from similitude.proximity.proximities import as_proximities
from similitude.proximity.scale import similarity_scale
from similitude.reader import ByName, Training


@dataclass(frozen=True, repr=False)
class Relative:
    """A parameter in units of a power of the scale of the training similarities."""

    value: float
    power: int = 1

    def __repr__(self) -> str:
        exponent = "" if abs(self.power) == 1 else f"**{abs(self.power)}"
        return f"{self.value!r} {'*' if self.power > 0 else '/'} scale{exponent}"

    def at(self, scale: float) -> float:
        """Return the parameter for training similarities of this scale."""
        # Unlike a power, products keep factors of two exactly.
        unit = math.prod([scale] * abs(self.power))
        return self.value * unit if self.power > 0 else self.value / unit


def relative(values: list[float], power: int = 1) -> list[Any]:
    """Return values in units of a power of the scale."""
    return [Relative(value, power) for value in values]


def are_relative(points: list[dict[str, Any]]) -> bool:
    """Return whether points of a grid have relative values."""
    return any(isinstance(value, Relative) for point in points for value in point.values())


def scale_of(training: Any, map_name: str | None) -> float:
    """Return the scale of training samples whose dissimilarities, if they are some, have the given map.

    For several similarities it is the geometric mean of their scales. Samples that were not read are not mapped; if
    they have features, it is the root of their mean variance.
    """
    if isinstance(training, ByName):
        first, *others = (_under(part, map_name).scale for part in training.parts.values())
        return first * float(np.exp(np.sum(np.log(np.divide(others, first))) / len(training.parts)))
    given = as_proximities(training)
    if given.features is None:
        return similarity_scale(given.S if map_name is None else -given.S, absent_is_zero=given.absent == "zero")
    sets = given.features if isinstance(given.features, dict) else {"": given.features}
    features = np.asarray(dense(sets.get("bda", next(iter(sets.values())))), dtype=np.float64)
    return float(np.sqrt(np.mean(np.var(features, axis=0)))) or 1.0


def _under(training: Training, map_name: str | None) -> Training:
    """Return training samples under the given map; None means their own."""
    return training if map_name in (None, training.reader.map_name) else training.mapped(str(map_name))
