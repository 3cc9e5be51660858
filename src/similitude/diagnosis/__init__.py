"""What kind of similarity is this: in figures, and in words."""

from similitude.diagnosis.disorder import Disorder, disorder
from similitude.diagnosis.examine import diagnose
from similitude.diagnosis.result import ClassFigures, Diagnosis

__all__ = ["ClassFigures", "Diagnosis", "Disorder", "diagnose", "disorder"]
