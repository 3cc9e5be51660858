"""The figures of a similarity matrix, what follows from them, and what pictures of it show."""

from similitude.diagnosis.disorder import Disorder, disorder
from similitude.diagnosis.examine import diagnose
from similitude.diagnosis.result import ClassFigures, Diagnosis

__all__ = ["ClassFigures", "Diagnosis", "Disorder", "diagnose", "disorder"]
