"""The posterior of samples whose rows give no evidence, learned from left-out training samples of the same kind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class NoEvidence:
    """The posterior of rows that give no evidence, before class weights and priors.

    With c_g left-out training samples of class g whose rows gave no evidence, c of all G classes, and the share s_g of
    class g among all training samples::

        P(g) = (c_g + G s_g) / (c + G)

    This is the posterior mean under a Dirichlet prior: G additional samples that are distributed like the classes.
    """

    posterior: np.ndarray
    count: float

    @classmethod
    def learn(cls, codes: np.ndarray, lacking: np.ndarray, class_counts: np.ndarray) -> NoEvidence:
        """Return the posterior that is learned from left-out samples.

        ``codes`` are the classes of the left-out samples, as positions; ``lacking`` is, for each, the share of its
        tests in which its row gave no evidence; ``class_counts`` are the numbers of all training samples.
        """
        n_classes = len(class_counts)
        counts = np.bincount(codes, lacking, minlength=n_classes)
        total = float(counts.sum())
        shares = class_counts / class_counts.sum()
        return cls((counts + n_classes * shares) / (total + n_classes), total)

    def __str__(self) -> str:
        learned = "the posterior is that of the class shares, since no left-out training sample was without evidence"
        if self.count:
            samples = f"{round(self.count)} left-out training sample{'' if round(self.count) == 1 else 's'}"
            learned = f"the posterior was learned from {samples} without evidence"
        return f"no evidence: the values to all training samples are equal; {learned}"


def calibrated_on(lacking: np.ndarray) -> np.ndarray:
    """Return the rows to which temperatures are fitted: those with evidence, or all if there are none."""
    return np.arange(len(lacking)) if lacking.all() else np.flatnonzero(~lacking)
