"""What the papers conclude from their tables, tested on our results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from reproductions.cazzanti2007 import TABLE_1 as SIMULATIONS
from reproductions.chen2009 import WIDE_RBF
from reproductions.reproduction import PAPERS, Reproduction
from reproductions.variants import AS_PRINTED
from reproductions.wang2009 import METRICS, PUBLISHED
from similitude.numerics.significance import paired_differences, standard_error, wilcoxon_greater

LEVEL = 0.05
FEWEST = 5
"""The number of pairs below which no difference can be significant at 5%."""

Errors = Mapping[tuple[str, str, str], np.ndarray]
"""Test errors in percent of each partition, by table, data set and method."""


def errors_of(found: Mapping[tuple[str, str], Reproduction]) -> dict[tuple[str, str, str], np.ndarray]:
    """Return the errors of the methods that are complete, from reproduced columns by table and data set."""
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
    """"seen", "not seen", "no effect", "reversed", or "not run"."""
    published: float | None = None
    """The p-value of the paper's own figures by the same test, if each pair consists of means that it prints."""


class Better(NamedTuple):
    """On each data set the errors of one method are smaller than those of another (one-sided Wilcoxon test)."""

    table: str
    datasets: tuple[str, ...]
    better: str
    worse: str
    more: bool = False
    """Whether it is tested on the new partitions of the variants, which are more than the paper's."""

    def outcomes(self, errors: Errors) -> list[Outcome]:
        """Return the outcome on each data set."""
        return [self._outcome(errors, dataset) for dataset in self.datasets]

    def _outcome(self, errors: Errors, dataset: str) -> Outcome:
        where = f"{dataset}: {self.better} < {self.worse}"
        if not self.more:
            return _tested(where, *(errors.get((self.table, dataset, m)) for m in (self.better, self.worse)))
        names = [f"{method}: {AS_PRINTED}" for method in (self.better, self.worse)]
        pair = [errors.get((self.table, dataset, name)) for name in names]
        if pair[0] is None or pair[1] is None:
            return _tested(where, *pair)
        found = _tested(f"{where}, {len(pair[0])} partitions", *pair)
        figures = PAPERS[self.table].published[dataset]
        claimed = figures[self.better][0] - figures[self.worse][0]
        return found._replace(verdict="no effect") if _excludes(pair[0] - pair[1], claimed, found) else found


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
        found = _tested(where, *(np.concatenate(side) for side in zip(*pairs))) if pairs else _not_run(where)
        return [found._replace(published=self.published())]

    def published(self) -> float:
        """Return the p-value of the means that the paper prints, a pair for each data set."""
        figures = [PAPERS[self.table].published[dataset] for dataset in self.datasets]
        worse, better = ([each[method][0] for each in figures] for method in (self.worse, self.better))
        return wilcoxon_greater(worse, better)


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
            return _not_run(f"{dataset}: {self.method}")
        best = min(known, key=lambda m: float(np.nanmean(known[m])))
        where = f"{dataset}: {self.method} against {best}, the best of the others"
        p = wilcoxon_greater(own, known[best])
        return Outcome(where, np.nanmean(own - known[best]), p, "seen" if p > LEVEL else "not seen")


def _tested(where: str, better: np.ndarray | None, worse: np.ndarray | None) -> Outcome:
    if better is None or worse is None or len(paired_differences(worse, better)) < FEWEST:
        return _not_run(where)
    p, opposite = wilcoxon_greater(worse, better), wilcoxon_greater(better, worse)
    verdict = "seen" if p <= LEVEL else "reversed" if opposite <= LEVEL else "not seen"
    return Outcome(where, float(np.nanmean(better - worse)), p, verdict)


def _not_run(where: str) -> Outcome:
    return Outcome(where, None, None, "not run")


def _excludes(differences: np.ndarray, claimed: float, found: Outcome) -> bool:
    """Return whether the mean difference is within two standard errors of 0, and not of the paper's difference."""
    mean, error = float(differences.mean()), standard_error(differences)
    return found.verdict == "not seen" and abs(mean) <= 2 * error < abs(mean - claimed)


Test = Better | Pooled | AmongTheBest


@dataclass(frozen=True)
class Claim:
    """A conclusion of a paper, and the tests of it."""

    paper: str
    text: str
    strength: str
    """Whether the paper tested it, and how, or compared means."""
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
_MEANS = "compared mean errors"
_TESTED = "tested it (one-sided signed-rank test, 5%)"

CLAIMS = [
    Claim(
        _CHEN,
        "Weights that reward diverse neighbours (KRI, KRR) have lower errors than k-NN: by about a tenth on Voting, "
        "and KRR with pinv by two thirds on Protein (Section 7.3).",
        f"{_MEANS}; it calls the difference on Voting significant, but its test is one against the best method",
        (
            Better(_T3, ("Voting",), "KRI k-NN (clip)", "k-NN", more=True),
            Better(_T3, ("Voting",), "KRR k-NN (pinv)", "k-NN", more=True),
            Better(_T3, ("Protein",), "KRR k-NN (pinv)", "k-NN"),
        ),
    ),
    Claim(
        _CHEN,
        "On Protein the SVMs on similarities as features are better than the SVM on the kernel (Section 7.3).",
        _TESTED,
        tuple(
            Better(_T3, ("Protein",), m, "SVM, kernel (clip)")
            for m in ("SVM, features (linear)", "SVM, features (RBF)", "P-SVM")
        ),
    ),
    Claim(
        _CHEN,
        "On Protein RBF this turns around: the SVMs on features are among the worst, and k-NN is better than they are "
        "(Section 7.3).",
        _MEANS,
        tuple(Better(_T3, ("Protein RBF", WIDE_RBF), "k-NN", f"SVM, features ({kind})") for kind in ("linear", "RBF")),
    ),
    Claim(
        _CHEN,
        "On Protein pinv is better than clip, flip and shift for KRR, and flip is better than clip for SVM-KNN and SVM "
        "(Section 7.4).",
        "tested clip, flip and shift against pinv (one-sided signed-rank test, 5%), and compared mean errors of clip "
        "and flip",
        (
            *(Better(_T4, ("Protein",), "KRR (pinv)", f"KRR ({other})") for other in ("clip", "flip", "shift")),
            Better(_T4, ("Protein",), "SVM-KNN (flip)", "SVM-KNN (clip)"),
            Better(_T4, ("Protein",), "SVM (flip)", "SVM (clip)"),
        ),
    ),
    Claim(
        _KERNELS,
        "The learned spectrum is among the best methods (Section 4.3: on five of six data sets).",
        _TESTED,
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
        _MEANS,
        tuple(
            Better(_K43, ("Protein",), f"{m}, rows treated", f"{m}, rows untreated")
            for m in ("learned spectrum", "SVM, flip", "robust SVM")
        ),
    ),
    Claim(
        _CAZZANTI,
        "Local SDA is the best of the methods with a model, and mostly better than k-NN (Section 4.1).",
        _MEANS,
        tuple(
            Pooled(_C1, _ALL, "local SDA", m, "all numbers of features")
            for m in ("local nearest centroid", "SDA", "nearest centroid", "k-NN")
        ),
    ),
    Claim(
        _CAZZANTI,
        "The P-SVM is worse than the local methods up to 12 features, and the best from 40 features on (Section 4.1).",
        _MEANS,
        (
            Pooled(_C1, _FEW, "local SDA", "P-SVM", "up to 12 features"),
            Pooled(_C1, _MANY, "P-SVM", "local SDA", "from 40 features on"),
        ),
    ),
    Claim(
        _FUSION,
        "Regularization of local SDA always helps (Section 6.2.4).",
        _MEANS,
        (Better(_F2, _BOTH, "regularized local SDA", "local SDA"),),
    ),
    Claim(
        _FUSION,
        "The fused classifier is as good as the better of its parts (Section 6.2.5, on Protein and Voting).",
        _MEANS,
        (AmongTheBest(_F2, _BOTH, "fused local SDA/BDA", ("regularized local SDA", "local BDA")),),
    ),
    Claim(
        _WANG,
        "On the whole DBoost has the lowest errors (Section 4; a pair for each data set).",
        "tested each data set (t-test, 1%), and compared over all sets without a test",
        tuple(
            Pooled(_W, tuple(f"{name}, {metric}" for name in PUBLISHED), "DBoost", other, metric, mean=True)
            for metric, other in product(METRICS, ("NN", "LSVM"))
        ),
    ),
]
