"""Generative classifiers: how the similarities to a few samples are distributed in each class."""
