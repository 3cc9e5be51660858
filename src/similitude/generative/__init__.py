"""Generative classifiers, which model the distributions of similarities to a few samples in each class."""

from similitude.generative.base import Explanation

__all__ = ["Explanation"]
