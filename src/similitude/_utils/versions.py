"""Versions of the libraries that a result or a model depends on."""

from __future__ import annotations

import platform

import numpy as np
import scipy
import sklearn

__version__ = "0.3.0"


def versions() -> dict[str, str]:
    """Return the versions of similitude, numpy, scipy, scikit-learn and Python by name."""
    return {
        "similitude": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
