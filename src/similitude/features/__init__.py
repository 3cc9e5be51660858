"""Classifiers that use similarities to training samples or landmarks as features."""

from similitude.features.gaussian_svc import GaussianSVC
from similitude.features.linear_svc import LinearKernelSVC
from similitude.features.quadratic import RegularizedQuadratic
from similitude.features.recipes import RECIPES, recipe

__all__ = ["RECIPES", "GaussianSVC", "LinearKernelSVC", "RegularizedQuadratic", "recipe"]
