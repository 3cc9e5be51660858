"""Voting under the value difference metric, and the grids of Chen et al. 2009, Table 2."""

from similitude import train_test_split
from similitude.datasets import load_voting
from similitude.similarities import VDM

NEIGHBORS = [*range(1, 17), 32, 64, 128]
KRI_REGS = [*(10.0**j for j in range(-6, 2)), 1e6]
KRR_REGS = [10.0**j for j in range(-3, 2)]
COSTS = [10.0**j for j in range(-3, 6)]


def voting_partition(seed):
    """One random 80/20 partition: ``S_train, S_test, y_train, y_test``; the metric is learned from all labels."""
    voting = load_voting()
    S = 1 - VDM().fit(voting.data, voting.target)(voting.data, voting.data)
    return train_test_split(S, voting.target, test_size=0.2, random_state=seed)
