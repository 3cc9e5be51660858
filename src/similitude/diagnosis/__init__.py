"""The figures of a similarity matrix, what follows from them, and what pictures of it show."""

from similitude.diagnosis.disorder import Disorder, disorder
from similitude.diagnosis.examine import diagnose
from similitude.diagnosis.pictures import (
    GoodnessCurve,
    Hubness,
    Separation,
    Spectra,
    color_range,
    goodness_curve,
    hubness,
    ordered_by_class,
    separation,
    spectra,
)
from similitude.diagnosis.result import ClassFigures, Diagnosis

__all__ = [
    "ClassFigures",
    "Diagnosis",
    "Disorder",
    "GoodnessCurve",
    "Hubness",
    "Separation",
    "Spectra",
    "color_range",
    "diagnose",
    "disorder",
    "goodness_curve",
    "hubness",
    "ordered_by_class",
    "separation",
    "spectra",
]
