"""A slice of the reproduction of Chen et al. 2009, Table 3: one partition of Voting, few parameters."""

import pytest
from benchmarks.voting_data import voting_partition

from similitude import LPMachine, PathSearchCV, PotentialSVC


@pytest.mark.parametrize(
    ("method", "grid"), [(PotentialSVC(C=1.0), {"epsilon": [0.1, 1.0]}), (LPMachine(), {"C": [1.0, 10.0]})], ids=str
)
def test_errors_on_voting_are_those_of_a_good_classifier(method, grid):
    S_train, S_test, y_train, y_test = voting_partition(0)
    search = PathSearchCV(method, grid, cv=5).fit(S_train, y_train)
    assert search.score(S_test, y_test) > 0.9
    assert len(search.best_estimator_.prototypes_) < len(y_train) / 2
