"""Boosting of base classifiers that compare the similarities to two training samples."""
