"""Versions of what a result or a model depends on."""

from __future__ import annotations

import platform

import numpy as np
import scipy
import sklearn


def versions() -> dict[str, str]:
    """By name: similitude, numpy, scipy, scikit-learn, python."""
    from similitude import __version__

    return {
        "similitude": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
