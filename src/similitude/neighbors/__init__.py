"""Classifiers that use the neighbourhood of each sample, and nearest centroids."""
