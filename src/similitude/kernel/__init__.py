"""Support vector machines whose kernel is computed or learned from similarities, which may be indefinite."""

from similitude.kernel._spectrum_solver import TARGETS as SPECTRUM_TARGETS
from similitude.kernel._spectrum_solver import learned_spectra
from similitude.kernel.learned_kernel import LearnedKernelSVC
from similitude.kernel.learned_spectrum import LearnedSpectrumSVC
from similitude.kernel.robust_svc import RobustSVC
from similitude.kernel.similarity_svc import SimilaritySVC

__all__ = [
    "SPECTRUM_TARGETS",
    "LearnedKernelSVC",
    "LearnedSpectrumSVC",
    "RobustSVC",
    "SimilaritySVC",
    "learned_spectra",
]
