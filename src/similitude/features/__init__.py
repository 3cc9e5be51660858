"""Classifiers for which the similarities to the training samples are features."""

from similitude.features.gaussian_svc import GaussianSVC
from similitude.features.lp_machine import LPMachine
from similitude.features.potential_svc import PotentialSVC
from similitude.features.quadratic import RegularizedQuadratic

__all__ = ["GaussianSVC", "LPMachine", "PotentialSVC", "RegularizedQuadratic"]
