"""Ensembles of classifiers that compare the similarities of a sample to a few training samples."""
