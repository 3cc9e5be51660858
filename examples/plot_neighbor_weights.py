"""
Weights of neighbours
=====================

The weights of neighbours against lambda in the three examples of Chen et al. (2009), and the weights of the
neighbours of one word among words of three languages. This needs ``similitude[plot,strings]``.
"""

import matplotlib.pyplot as plt

from similitude import KNNClassifier
from similitude.plotting import WEIGHT_EXAMPLES, NeighborWeightsDisplay

WORDS = {
    "Dutch": "vader moeder broeder zuster dochter huis muis water vuur winter zomer nacht licht hand vinger",
    "English": "father mother brother sister daughter house mouse water fire winter summer night light hand finger",
    "German": "vater mutter bruder schwester tochter haus maus wasser feuer winter sommer nacht licht hand finger",
}


def weights_against_lambda():
    """The three examples of Chen et al. (2009), Section 5.2.2, a row each."""
    figure, axes = plt.subplots(3, 2, figsize=(7, 6.2), sharex=True, sharey="row", layout="constrained")
    for number, (shows, (S, s)) in enumerate(WEIGHT_EXAMPLES.items()):
        NeighborWeightsDisplay.from_matrix(S, s, ax=axes[number])
        axes[number, 0].set_ylabel(f"Example {number + 1}: {shows}\nweight")
        if number:
            for ax in axes[number]:
                ax.set_title("")
            axes[number, 1].get_legend().remove()
    for ax in axes.flat:
        ax.label_outer()
    return figure


def neighbors_of_a_word():
    """Who votes on the Swedish word "fader", and with what weight."""
    words = [word for language in WORDS.values() for word in language.split()]
    languages = [name for name, language in WORDS.items() for _ in language.split()]
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
    for ax, weights in zip(axes, ("affinity", "kri", "krr")):
        knn = KNNClassifier(8, weights=weights, reg=0.1, similarity="levenshtein").fit(words, languages)
        NeighborWeightsDisplay.from_estimator(knn, ["fader"], ids=words, ax=ax)
    return figure


PICTURES = {"neighbor-weights": weights_against_lambda, "neighbors-of-a-word": neighbors_of_a_word}

if __name__ == "__main__":
    weights_against_lambda()
    neighbors_of_a_word()
    plt.show()
