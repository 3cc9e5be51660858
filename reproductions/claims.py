"""What the papers conclude from their tables, tested on our results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from reproductions.cazzanti2007 import TABLE_1 as SIMULATIONS
from reproductions.chen2009 import WIDE_RBF
from reproductions.reproduction import Reproduction
from reproductions.wang2009 import METRICS, PUBLISHED
from similitude.numerics.significance import paired_differences, wilcoxon_greater

LEVEL = 0.05
FEWEST = 5
"""The number of pairs below which no difference can be significant at 5%."""

Errors = Mapping[tuple[str, str, str], np.ndarray]
"""Test errors in percent of each partition, by table, data set and method."""


def errors_of(found: Mapping[tuple[str, str], Reproduction]) -> dict[tuple[str, str, str], np.ndarray]:
    """Return the errors of the methods that are complete in reproduced columns, which are given by table and set."""
    return {
        (table, dataset, method): 100 * errors
        for (table, dataset), column in found.items()
        if dataset in column.results.datasets
        for method, errors in zip(column.results.methods, column.results.values(dataset))
        if np.isfinite(errors).all()
    }


class Outcome(NamedTuple):
    """The test of a conclusion on one data set."""

    where: str
    difference: float | None
    """The mean difference of the errors in percentage points."""
    p_value: float | None
    verdict: str
    """"seen", "not seen", "reversed", or "not run"."""


class Better(NamedTuple):
    """On each data set the errors of one method are smaller than those of another (one-sided Wilcoxon test)."""

    table: str
    datasets: tuple[str, ...]
    better: str
    worse: str

    def outcomes(self, errors: Errors) -> list[Outcome]:
        """Return the outcome on each data set."""
        return [self._outcome(errors, dataset) for dataset in self.datasets]

    def _outcome(self, errors: Errors, dataset: str) -> Outcome:
        where = f"{dataset}: {self.better} < {self.worse}"
        a, b = (errors.get((self.table, dataset, method)) for method in (self.better, self.worse))
        return _tested(where, a, b)


class Pooled(NamedTuple):
    """Over several data sets together the errors of one method are smaller than those of another."""

    table: str
    datasets: tuple[str, ...]
    better: str
    worse: str
    name: str
    mean: bool = False
    """Whether a data set is one pair, of its means, instead of a pair for each partition."""

    def outcomes(self, errors: Errors) -> list[Outcome]:
        """Return the one outcome."""
        pairs = []
        for dataset in self.datasets:
            pair = [errors.get((self.table, dataset, method)) for method in (self.better, self.worse)]
            if pair[0] is not None and pair[1] is not None:
                pairs.append([[np.nanmean(each)] if self.mean else each for each in pair])
        where = f"{self.name}, {len(pairs)} of {len(self.datasets)} sets: {self.better} < {self.worse}"
        if not pairs:
            return [Outcome(where, None, None, "not run")]
        return [_tested(where, *(np.concatenate(side) for side in zip(*pairs)))]


class AmongTheBest(NamedTuple):
    """On each data set a method is not significantly worse than the method of the smallest mean error."""

    table: str
    datasets: tuple[str, ...]
    method: str
    others: tuple[str, ...]

    def outcomes(self, errors: Errors) -> list[Outcome]:
        """Return the outcome on each data set, with the p-value of being worse than the best."""
        return [self._outcome(errors, dataset) for dataset in self.datasets]

    def _outcome(self, errors: Errors, dataset: str) -> Outcome:
        own = errors.get((self.table, dataset, self.method))
        known = {m: errors[self.table, dataset, m] for m in self.others if (self.table, dataset, m) in errors}
        if own is None or not known or len(paired_differences(own, own)) < FEWEST:
            return Outcome(f"{dataset}: {self.method}", None, None, "not run")
        best = min(known, key=lambda m: float(np.nanmean(known[m])))
        where = f"{dataset}: {self.method} against {best}, the best of the others"
        p = wilcoxon_greater(own, known[best])
        return Outcome(where, np.nanmean(own - known[best]), p, "seen" if p > LEVEL else "not seen")


def _tested(where: str, better: np.ndarray | None, worse: np.ndarray | None) -> Outcome:
    if better is None or worse is None or len(paired_differences(worse, better)) < FEWEST:
        return Outcome(where, None, None, "not run")
    p, opposite = wilcoxon_greater(worse, better), wilcoxon_greater(better, worse)
    verdict = "seen" if p <= LEVEL else "reversed" if opposite <= LEVEL else "not seen"
    return Outcome(where, float(np.nanmean(better - worse)), p, verdict)


Test = Better | Pooled | AmongTheBest


@dataclass(frozen=True)
class Claim:
    """A conclusion of a paper, and the tests of it."""

    paper: str
    text: str
    tests: tuple[Test, ...]

    def outcomes(self, errors: Errors) -> list[Outcome]:
        """Return the outcomes of all tests."""
        return [outcome for test in self.tests for outcome in test.outcomes(errors)]


_CHEN, _KERNELS = "Chen, Garcia, Gupta, Rahimi & Cazzanti 2009", "Chen, Gupta & Recht 2009"
_CAZZANTI, _FUSION, _WANG = "Cazzanti & Gupta 2007", "Cazzanti, Gupta & Srivastava 2009", "Wang et al. 2009"
_T3, _T4, _K1, _K43 = "chen2009-table3", "chen2009-table4", "chen2009kernels-table1", "chen2009kernels-section43"
_C1, _F2, _W = "cazzanti2007-table1", "fusion2009-table2", "wang2009-table2"
_BOTH = ("Voting", "Protein")
_FEW = tuple(f"d = {d}" for d in SIMULATIONS if d <= 12)
_MANY = tuple(f"d = {d}" for d in SIMULATIONS if d >= 40)
_ALL = tuple(f"d = {d}" for d in SIMULATIONS)

CLAIMS = [
    Claim(
        _CHEN,
        "Weights that reward diverse neighbours (KRI, KRR) have lower errors than k-NN: by about a tenth on Voting, "
        "and KRR with pinv by two thirds on Protein (Section 7.3).",
        (
            Better(_T3, ("Voting",), "KRI k-NN (clip)", "k-NN"),
            Better(_T3, _BOTH, "KRR k-NN (pinv)", "k-NN"),
        ),
    ),
    Claim(
        _CHEN,
        "On Protein the SVMs on similarities as features are better than the SVM on the kernel (Section 7.3).",
        tuple(
            Better(_T3, ("Protein",), m, "SVM, kernel (clip)")
            for m in ("SVM, features (linear)", "SVM, features (RBF)", "P-SVM")
        ),
    ),
    Claim(
        _CHEN,
        "On Protein RBF this turns around: the SVMs on features are among the worst, and k-NN is better than they are "
        "(Section 7.3).",
        tuple(Better(_T3, ("Protein RBF", WIDE_RBF), "k-NN", f"SVM, features ({kind})") for kind in ("linear", "RBF")),
    ),
    Claim(
        _CHEN,
        "On Protein pinv is better than clip, flip and shift for KRR, and flip is better than clip for SVM-KNN and SVM "
        "(Section 7.4).",
        (
            *(Better(_T4, ("Protein",), "KRR (pinv)", f"KRR ({other})") for other in ("clip", "flip", "shift")),
            Better(_T4, ("Protein",), "SVM-KNN (flip)", "SVM-KNN (clip)"),
            Better(_T4, ("Protein",), "SVM (flip)", "SVM (clip)"),
        ),
    ),
    Claim(
        _KERNELS,
        "The learned spectrum is among the best methods (Section 4.3: on five of six data sets).",
        (
            AmongTheBest(
                _K1,
                ("Protein", "Voting", "Yeast-5-12"),
                "learned spectrum",
                ("robust SVM", "SVM, clip", "SVM, flip", "SVM, shift", "linear SVM", "k-NN"),
            ),
        ),
    ),
    Claim(
        _KERNELS,
        "New rows must be treated as the training rows were (Section 4.3).",
        tuple(
            Better(_K43, ("Protein",), f"{m}, rows treated", f"{m}, rows untreated")
            for m in ("learned spectrum", "SVM, flip", "robust SVM")
        ),
    ),
    Claim(
        _CAZZANTI,
        "Local SDA is the best of the methods with a model, and mostly better than k-NN (Section 4.1).",
        tuple(
            Pooled(_C1, _ALL, "local SDA", m, "all numbers of features")
            for m in ("local nearest centroid", "SDA", "nearest centroid", "k-NN")
        ),
    ),
    Claim(
        _CAZZANTI,
        "The P-SVM is worse than the local methods up to 12 features, and the best from 40 features on (Section 4.1).",
        (
            Pooled(_C1, _FEW, "local SDA", "P-SVM", "up to 12 features"),
            Pooled(_C1, _MANY, "P-SVM", "local SDA", "from 40 features on"),
        ),
    ),
    Claim(
        _FUSION,
        "Regularization of local SDA always helps (Section 6.2.4).",
        (Better(_F2, _BOTH, "regularized local SDA", "local SDA"),),
    ),
    Claim(
        _FUSION,
        "The fused classifier is as good as the better of its parts (Section 6.2.5, on Protein and Voting).",
        (AmongTheBest(_F2, _BOTH, "fused local SDA/BDA", ("regularized local SDA", "local BDA")),),
    ),
    Claim(
        _WANG,
        "On the whole DBoost has the lowest errors (Section 4; a pair for each data set).",
        tuple(
            Pooled(_W, tuple(f"{name}, {metric}" for name in PUBLISHED), "DBoost", other, metric, mean=True)
            for metric, other in product(METRICS, ("NN", "LSVM"))
        ),
    ),
]
