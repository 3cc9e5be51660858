"""Numerical functions that several rooms share: spectra, neighbour selection, votes, medoids, calibration."""
