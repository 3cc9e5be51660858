"""Transformers that modify spectra, embed samples, compute features, or turn dissimilarities into similarities."""
