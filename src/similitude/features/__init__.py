"""Classifiers that use similarities to training samples or landmarks as features."""

from similitude.features.gaussian_svc import GaussianSVC
from similitude.features.landmark_classifier import LandmarkClassifier, fit_by_moments
from similitude.features.landmark_moments import Linear, Moments
from similitude.features.linear_svc import LinearKernelSVC
from similitude.features.lp_machine import LPMachine
from similitude.features.potential_svc import PotentialSVC
from similitude.features.quadratic import RegularizedQuadratic
from similitude.features.recipes import RECIPES, recipe

__all__ = [
    "RECIPES",
    "GaussianSVC",
    "LPMachine",
    "LandmarkClassifier",
    "Linear",
    "LinearKernelSVC",
    "Moments",
    "PotentialSVC",
    "RegularizedQuadratic",
    "fit_by_moments",
    "recipe",
]
