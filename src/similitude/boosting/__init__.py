"""Boosting of base classifiers that compare the similarities to two training samples."""

from similitude.boosting.dboost import DBoostClassifier

__all__ = ["DBoostClassifier"]
