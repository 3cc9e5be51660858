"""Boosting of classifiers that compare the similarities to two training samples."""
