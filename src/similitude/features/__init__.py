"""Similarities as features: landmarks, recipes for scikit-learn models, the P-SVM and the LP machine."""

from similitude.features.landmark_classifier import LandmarkClassifier, fit_by_moments
from similitude.features.landmark_moments import Linear, Moments

__all__ = ["LandmarkClassifier", "Linear", "Moments", "fit_by_moments"]
