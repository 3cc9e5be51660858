"""What a mixture of several similarities gains over the best single one, on real data.

The data are 16 judges and 8 brain sessions on the same 92 images (from the folder of ``SIMILITUDE_DATA``), and four
similarities of promoters and three of votes, which ship with the package. Errors are means over random partitions (80%
for training, seeds 0, 1, ...); all parameters, and for "best similarity" the similarity, are chosen by cross-validation
on the training part. Each way of using several similarities is compared with the best similarity by the signed-rank
test over the partitions, two-sided and corrected for their number (Holm). Then ``compare_similarities`` answers with
methods of other kinds on all samples.
"""

import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline

from benchmarks.askf import SubspaceFusion
from similitude import (
    MixedSimilarity,
    MixtureSVC,
    PathSearchCV,
    Proximities,
    SimilaritySVC,
    compare_similarities,
)
from similitude.datasets import load_promoters, load_voting
from similitude.numerics.significance import holm, wilcoxon_greater
from similitude.similarities import batch

PARTITIONS, FOLDS = 20, 3
COSTS = [10.0**j for j in range(-3, 4)]
METHODS = ["k-NN", "nearest centroid", "SVM (clip)", "SVM (flip)"]
SPECTRA = {"eta": [0.001, 0.01, 0.1], "gamma": [0.01, 1.0], "target": ["clip"]}
CHOICE = "best similarity, SVM"


@batch
def kmers(A, B):
    """Return the cosine of the counts of the words of four letters."""
    counts = CountVectorizer(analyzer="char", ngram_range=(4, 4)).fit([*A, *B])
    a, b = (counts.transform(X).toarray().astype(float) for X in (A, B))
    return (a / np.linalg.norm(a, axis=1)[:, None]) @ (b / np.linalg.norm(b, axis=1)[:, None]).T


def problems():
    """Return for each data set the samples, the labels and the input contract."""
    found = {}
    folder = Path(os.environ.get("SIMILITUDE_DATA", "../shared/data")) / "proximity"
    for name, file, key, one in (
        ("16 judges", "objects92_judged_1subj.npz", "D_subjects", "judge"),
        ("8 brain sessions", "objects92_fmri_1subj.npz", "D_sessions", "session"),
    ):
        if not (folder / file).exists():
            print(f"{name}: left out, there is no {folder / file}")
            continue
        data = np.load(folder / file)
        matrices = {f"{one} {i + 1}": D.astype(float) for i, D in enumerate(data[key])}
        found[name] = Proximities(matrices), data["y"], {"dissimilarity": "max-minus"}
    promoters, voting = load_promoters(), load_voting()
    strings = {"levenshtein": "levenshtein", "lcs": "lcs", "alignment": "smith-waterman", "4-mers": kmers}
    votes = {name: name for name in ("counting", "vdm", "overlap")}
    found["promoters"] = promoters.data, np.asarray(promoters.target), {"similarity": strings}
    found["votes"] = voting.data, np.asarray(voting.target), {"similarity": votes}
    return found


def ways(contract):
    """Return the estimators that use several similarities, with their grids."""
    return {
        "SVM, equal mixture": (
            make_pipeline(MixedSimilarity(**contract), SimilaritySVC()),
            {"similaritysvc__C": COSTS},
        ),
        "SVM, aligned mixture": (
            make_pipeline(MixedSimilarity("aligned", **contract), SimilaritySVC()),
            {"similaritysvc__C": COSTS},
        ),
        "MixtureSVC": (MixtureSVC(**contract), SPECTRA),
        "MixtureSVC, tied": (MixtureSVC(tied=True, **contract), SPECTRA),
        "ASKF": (SubspaceFusion(**contract), {"C": [1.0, 100.0], "gamma": [10.0, 1000.0]}),
    }


def cut(X, rows, columns):
    """Return a block of matrices, or some of the objects."""
    if isinstance(X, Proximities):
        return X[np.ix_(rows, columns)]
    return X[rows] if isinstance(X, np.ndarray) else [X[i] for i in rows]


def tuned(estimator, grid, X, y, folds):
    """Return the search, fitted."""
    return PathSearchCV(estimator, grid, cv=folds).fit(X, y)


def single(X, y, rows, contract, folds):
    """Return the predictions of an SVM on each similarity, and the similarity that cross-validation prefers."""
    names = list(X.similarities) if isinstance(X, Proximities) else list(contract["similarity"])
    predicted, scores = {}, {}
    for name in names:
        if isinstance(X, Proximities):
            own, test, one = X.select(name), rows.select(name), contract
        else:
            own, test, one = X, rows, {"similarity": contract["similarity"][name]}
        search = tuned(SimilaritySVC(**one), {"C": COSTS, "spectrum": ["clip", "flip"]}, own, y, folds)
        predicted[name], scores[name] = search.predict(test), search.best_score_
    return predicted, max(scores, key=scores.get)


def errors_of(X, y, contract, seed):
    """Return the errors on one partition: of each similarity, of their choice, and of each way of using several."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed)
    inner = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    own, rows = cut(X, train, train), cut(X, test, train)
    folds = list(inner.split(train, y[train]))
    predicted, best = single(own, y[train], rows, contract, folds)
    predicted = {**predicted, CHOICE: predicted[best]}
    for name, (estimator, grid) in ways(contract).items():
        predicted[name] = tuned(estimator, grid, own, y[train], folds).predict(rows)
    return {name: float(np.mean(labels != y[test])) for name, labels in predicted.items()}


def partitions(name, X, y, contract, number):
    """Print the mean errors over the partitions, with the tests, and return the errors."""
    start = time.perf_counter()
    found = [errors_of(X, y, contract, seed) for seed in range(number)]
    errors = {way: np.array([row[way] for row in found]) for way in found[0]}
    several = list(ways(contract))
    p_values = [
        min(1.0, 2 * min(wilcoxon_greater(errors[way], errors[CHOICE]), wilcoxon_greater(errors[CHOICE], errors[way])))
        for way in several
    ]
    corrected = dict(zip(several, holm(p_values)))
    singles = [way for way in errors if way not in (CHOICE, *several)]
    means = sorted(100 * errors[way].mean() for way in singles)
    print(f"\n{name}: {number} partitions of {len(y)} samples ({time.perf_counter() - start:.0f} s)")
    print(f"  single similarities, SVM: {means[0]:.2f} to {means[-1]:.2f}")
    for way in (CHOICE, *several):
        spread = errors[way].std(ddof=1) / np.sqrt(number)
        p = f"  p = {corrected[way]:.2g}" if way in corrected else ""
        print(f"  {way:22} {100 * errors[way].mean():6.2f} ({100 * spread:.2f}){p}", flush=True)
    return errors


def run(number=PARTITIONS, only=None):
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (X, y, contract) in problems().items():
            if only is not None and name not in only:
                continue
            errors = partitions(name, X, y, contract, number)
            for way in ways(contract):
                ours, peer = (100 * errors[key].mean() for key in (way, CHOICE))
                rows.append(
                    {
                        "name": f"{name}: {way} and the best similarity, error in %",
                        "ours_seconds": f"{ours:.2f} %",
                        "peer_seconds": f"{peer:.2f} %",
                        "goal": "",
                    }
                )
            print(f"\n{name}: compare_similarities, {', '.join(METHODS)}, on 5 folds")
            mixed = ["SVM (equal mixture)", "SVM (aligned mixture)", "mixture SVM"]
            print(compare_similarities(X, y, methods=[*METHODS, *mixed], n_repeats=1, **contract), flush=True)
    return rows


if __name__ == "__main__":
    run(only=sys.argv[1:] or None)
