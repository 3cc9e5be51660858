"""Sets of classes with a stated confidence, and how typical or familiar a sample is."""

from similitude.sets.calibration import Calibration, SetCoverage, calibration_of
from similitude.sets.mixins import typicality_of
from similitude.sets.operating_points import OperatingPoint, OperatingPoints
from similitude.sets.prediction_sets import FoldModel, PredictionSets

__all__ = [
    "Calibration",
    "FoldModel",
    "OperatingPoint",
    "OperatingPoints",
    "PredictionSets",
    "SetCoverage",
    "calibration_of",
    "typicality_of",
]
