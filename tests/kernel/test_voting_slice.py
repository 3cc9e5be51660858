"""A slice of Chen, Gupta & Recht 2009, Table 1, on Voting: the whole is `python -m benchmarks voting_kernels`."""

import numpy as np
import pytest
from benchmarks import bench_voting_kernels
from benchmarks.voting_data import pooled_errors, search, voting, voting_partition
from sklearn.model_selection import KFold, cross_val_predict

from similitude import LearnedSpectrumSVC, SimilaritySVC

pytestmark = pytest.mark.filterwarnings("ignore::similitude.SimilarityWarning")


@pytest.mark.parametrize(("weighted", "rank"), [(False, 18), (True, 33)])
def test_zero_eigenvalues_have_left_the_program(weighted, rank):
    S, y = voting(weighted)
    model = LearnedSpectrumSVC(0.01, 0.1, "both").fit(S, y)
    assert len(y) == 435
    assert model.eigenvalues_.shape == model.spectrum_weights_.shape == (rank,)
    assert np.min(np.abs(model.eigenvalues_)) > 1e-10 * np.max(np.abs(model.eigenvalues_))
    assert np.all(model.eigenvalues_ * model.spectrum_weights_ >= 0)
    assert model.duality_gap_ < 1e-6


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("name", "grid"),
    [("SVM, clip", {"C": [1.0, 10.0, 100.0]}), ("learned spectrum", {"eta": [1e-4], "gamma": [0.001, 0.1]})],
)
def test_voting_is_told_apart(name, grid):
    """Table 1: 5.00 (1.79) and 4.72 (1.96)."""
    assert 2.0 < bench_voting_kernels.error_of(name, 0, grid=grid) < 8.0


def test_errors_are_pooled_over_folds():
    S_train, _, y_train, _ = voting_partition(0)
    costs = [1.0, 10.0]
    chosen = search(SimilaritySVC(), {"C": costs}, 0, S_train, y_train)
    folds = KFold(10, shuffle=True, random_state=0)
    errors = [np.sum(cross_val_predict(SimilaritySVC(C), S_train, y_train, cv=folds) != y_train) for C in costs]
    assert pooled_errors(chosen.cv_results_, len(y_train)).tolist() == errors
    assert chosen.best_params_ == {"C": costs[int(np.argmin(errors))]}


@pytest.mark.parametrize(("clip", "flip", "target"), [(14, 15, "clip"), (15, 14, "flip"), (14, 14, "both")])
def test_the_regularizer_is_that_of_the_better_machine(monkeypatch, clip, flip, target):
    errors = {"SVM, clip": clip, "SVM, flip": flip}
    monkeypatch.setattr(bench_voting_kernels, "fewest_errors", lambda name, seed, weighted: errors[name])
    assert bench_voting_kernels.regularizer(0) == target
