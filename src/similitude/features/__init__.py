"""Classifiers that use similarities to training samples or landmarks as features."""

from similitude.features.recipes import RECIPES, RegularizedQuadratic, recipe
from similitude.features.vector_svc import GaussianSVC, LinearKernelSVC

__all__ = ["RECIPES", "GaussianSVC", "LinearKernelSVC", "RegularizedQuadratic", "recipe"]
