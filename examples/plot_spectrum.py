"""
Eigenvalues before and after clip, flip and shift
=================================================

On the left the voting data, which is nearly positive semidefinite; on the right a similarity with one large negative
direction.
"""

import matplotlib.pyplot as plt

from similitude import SpectrumModifier
from similitude.datasets import load_voting, make_negative_direction
from similitude.plotting import SpectrumDisplay


def spectra():
    """On the left the voting data, nearly positive semidefinite; on the right one large negative direction."""
    voting = load_voting()
    S = SpectrumModifier("none", similarity="vdm").fit_transform(voting.data, voting.target)
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    SpectrumDisplay.from_matrix(S, name="voting", ax=axes[0])
    SpectrumDisplay.from_matrix(make_negative_direction(random_state=0).S, name="a negative direction", ax=axes[1])
    return figure


PICTURES = {"spectrum": spectra}

if __name__ == "__main__":
    spectra()
    plt.show()
