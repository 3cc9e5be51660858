"""AutoClassifier against a tuned k-NN and against the best single method, over random partitions of seven data sets.

A partition is 80/20, stratified if every class has five samples. Every single method is tuned on the training part by
the same ten folds, and refitted at its best parameters. AutoClassifier chooses one of these methods. The best single
method is known only afterwards, from the test parts, so that no choice can be much better. Protein needs
SIMILITUDE_DATA. The slow methods (robust, learned spectrum, LP machine, RBF, RQD) are left out.
"""

import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from benchmarks.voting_data import voting
from similitude import AutoClassifier, SimilarityWarning, to_similarity, train_test_split
from similitude.datasets import (
    fetch_protein,
    load_digit_images,
    load_promoters,
    make_copurchase,
    make_negative_direction,
    make_patrol,
)
from similitude.numerics.significance import standard_error
from similitude.search.contest import at_best
from similitude.search.methods import SLOW, methods
from similitude.similarities import pairwise

N_PARTITIONS = 20
N_DIGITS = 200
# The methods that take most of the time are left out.
NAMES = [name for name in methods() if name not in SLOW]


def _promoters():
    data = load_promoters()
    return to_similarity(pairwise(data.data, similarity="levenshtein"), "max-minus"), data.target


def _digits():
    data = load_digit_images()
    some = np.random.RandomState(0).choice(len(data.target), N_DIGITS, replace=False)
    D = pairwise(np.asarray(data.data)[some], similarity="euclidean-image")
    return to_similarity(D, "max-minus"), np.asarray(data.target)[some]


def _protein():
    data = fetch_protein()
    return to_similarity(data.D, "max-minus"), data.y


def _simulated(make):
    data = make(random_state=0)
    return data.S, data.y


DATA = {
    "Protein": _protein,
    "negative direction": lambda: _simulated(make_negative_direction),
    "promoters": _promoters,
    "Voting": voting,
    "co-purchase": lambda: _simulated(make_copurchase),
    "patrol": lambda: _simulated(make_patrol),
    f"digit images ({N_DIGITS} of them)": _digits,
}


def errors_of(S, y, seed, names=NAMES):
    """Return the test errors in percent of AutoClassifier, as ``"auto"``, and of every method, on one partition."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", SimilarityWarning)
    # Classes of few samples, such as the authors of co-purchase, cannot be stratified.
    evenly = y if np.unique(y, return_counts=True)[1].min() >= 5 else None
    S_train, S_test, y_train, y_test = train_test_split(S, y, test_size=0.2, stratify=evenly, random_state=seed)
    auto, table = AutoClassifier(names).fit(S_train, y_train), methods(names)
    found = {"auto": auto.predict(S_test)}
    for row in auto.leaderboard_:
        found[row.method] = at_best(table[row.method][0], row.parameters).fit(S_train, y_train).predict(S_test)
    return {name: 100 * np.mean(said != y_test) for name, said in found.items()}, auto.best_method_


def rows_of(name, S, y, n_partitions=N_PARTITIONS, names=NAMES):
    """Return the rows of the table for one data set."""
    done = Parallel(n_jobs=-1)(delayed(errors_of)(S, y, seed, names) for seed in range(n_partitions))
    chosen = [method for _, method in done]
    common = set.intersection(*(set(errors) for errors, _ in done))
    errors = {method: np.array([found[method] for found, _ in done]) for method in common}
    auto = errors.pop("auto")
    best = min(errors, key=lambda method: errors[method].mean())
    often = max(set(chosen), key=chosen.count)
    rows = []
    for peer in ("k-NN", best):
        behind = auto - errors[peer]
        what = "tuned k-NN" if peer == "k-NN" else f"the best single method, {best}"
        rows.append(
            {
                "name": f"{name}: AutoClassifier (most often {often}) against {what}, error % (s.e.)",
                "ours_seconds": f"{auto.mean():.2f} ({standard_error(auto):.2f})",
                "peer_seconds": f"{errors[peer].mean():.2f} ({standard_error(errors[peer]):.2f})",
                "goal": f"at most one s.e. behind: {behind.mean():+.2f} ({standard_error(behind):.2f})",
            }
        )
    return rows


def run(names=tuple(DATA)):
    found = []
    for name in names:
        try:
            S, y = DATA[name]()
        except (OSError, ValueError) as error:
            found.append({"name": f"{name}: not run ({error})"})
            continue
        found += rows_of(name, S, y)
        nested = AutoClassifier(NAMES, nested_cv=5, n_jobs=-1).fit(S, y)
        optimistic = nested.leaderboard_[[row.chosen for row in nested.leaderboard_].index(True)].optimistic_error
        found.append(
            {
                "name": f"  {name}, all of it: nested error % | the optimistic one",
                "ours_seconds": f"{100 * nested.nested_error_:.2f}",
                "peer_seconds": f"{100 * optimistic:.2f}",
            }
        )
        for row in found[-3:]:
            print("   ", row, flush=True)
    return found
