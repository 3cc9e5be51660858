"""Diagnosis of a similarity matrix: its figures, advice that follows from them, and the data of its pictures."""

from similitude.diagnosis.disorder import Disorder, disorder
from similitude.diagnosis.examine import diagnose
from similitude.diagnosis.result import ClassFigures, Diagnosis

__all__ = ["ClassFigures", "Diagnosis", "Disorder", "diagnose", "disorder"]
