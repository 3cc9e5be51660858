"""Matrices, neighbours and landmarks computed on a Dask cluster, which needs the extra ``dask``."""

from similitude.distributed.landmarks import fit_landmarks
from similitude.distributed.matrix import compute, pairwise
from similitude.distributed.neighbors import ClusterSearch

__all__ = ["ClusterSearch", "compute", "fit_landmarks", "pairwise"]
