"""The combination of methods: greedy selection on their answers for left-out samples, and its honest error.

The weights of the methods are chosen by greedy selection with replacement [1]_: in each step the candidate is
added with which the mean posterior has the lowest loss, and the best of these selections is kept. This is
repeated on bootstrap samples, and the weights are averaged. A single method is chosen if it is clearly better than the
combination on samples that were not used for the choice.

With many similarities there are so many methods on single ones that some are good by chance. Then the combination
consists of the methods that use all similarities, with weights that are nearer to equal ones the fewer samples there
are. A method on a single similarity takes part only if it makes significantly fewer errors than these.

All choices are judged on samples on which they were not made: the tested samples are divided into parts, and the
calibrations, points and weights for each part are chosen on the others.

References
----------
.. [1] Caruana, Niculescu-Mizil, Crew & Ksikes, "Ensemble selection from libraries of models", ICML 2004; Caruana,
   Munson & Niculescu-Mizil, "Getting the most out of ensemble selection", ICDM 2006.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from similitude.auto.losses import Loss
from similitude.auto.method_results import MethodResult, MethodResults
from similitude.auto.methods import COMPARED_ONLY, FEW_SIMILARITIES
from similitude.numerics.significance import holm, mcnemar, weighted_mean

BAGS = 20
ROUNDS = 30
LEAST_WEIGHT = 0.02
"""Members with smaller weights are left out, and their weight is distributed among the others."""
N_POINTS = 1
"""The number of points of each method that take part."""
FEW_BAGS = 5
"""The number of bootstrap samples for a scorer, which is called once for each candidate in each round."""
SIGNIFICANT = 0.05
_EQUAL_SAMPLES = 100
"""For so many samples the weights of methods on many similarities are the means of the chosen and of equal ones."""
_GAIN = 1e-12
_ROUNDING = 1e-14
"""Losses of equal candidates differ by less."""
_MOST_PRODUCTS = 2**24
"""The largest number of products of posteriors that are kept for the bootstrap samples."""


@dataclass(frozen=True)
class Judgement:
    """The posteriors of the tested samples by choices that were made on other samples."""

    posteriors: np.ndarray
    losses: np.ndarray
    wrong: np.ndarray
    weights: np.ndarray | None = None
    """The weights of the samples; None if all count the same."""

    @property
    def error(self) -> tuple[float, float]:
        """The share of wrong decisions, and its standard error."""
        return weighted_mean(self.wrong, self.weights)


@dataclass(frozen=True)
class Member:
    """One point of one method, with its weight in the combination."""

    run: MethodResult
    point: int
    weight: float = 1.0

    @property
    def posteriors(self) -> np.ndarray:
        """The posteriors of the tested samples, of shape (n, G)."""
        return self.run.posteriors[self.point]


def eligible(results: MethodResults) -> list[MethodResult]:
    """Return the methods that may be chosen: all but those of :data:`~similitude.auto.methods.COMPARED_ONLY`."""
    runs = [run for run in results.runs.values() if run.method not in COMPARED_ONLY]
    return runs or list(results.runs.values())


def many_similarities(results: MethodResults) -> bool:
    """Return whether there are so many similarities that methods on single ones are good by chance."""
    return len(results.samples.parts) > FEW_SIMILARITIES


def fewer_errors(wrong: list[np.ndarray], reference: np.ndarray) -> np.ndarray:
    """Return the p-values, corrected for their number, of methods that make fewer errors than a reference; others 1."""
    found = [mcnemar(own, reference) if own.sum() < reference.sum() else 1.0 for own in wrong]
    return holm(found)


def judged(results: MethodResults, posteriors: np.ndarray) -> Judgement:
    """Return posteriors with their losses."""
    truth = results.truth
    wrong = results.loss.decisions(posteriors) != truth
    losses = results.loss.losses(posteriors, truth, results.weights)
    return Judgement(posteriors, losses, wrong, results.weights)


def best_points(results: MethodResults, run: MethodResult, part: int | None) -> np.ndarray:
    """Return the points of a method on its shortlist, best first."""
    shortlist = run.shortlists[0 if part is None else 1 + int(part)]
    used = _used(results, part)
    posteriors, weights = _posteriors(results, run, shortlist, part), results.weights_of(used)
    losses = results.loss.mean(posteriors, results.truth[used], results.classes, weights)
    return shortlist[np.argsort(losses, kind="stable")]


def _used(results: MethodResults, part: int | None) -> np.ndarray:
    return np.flatnonzero(np.ones(len(results.parts), bool) if part is None else results.parts != part)


def _posteriors(results: MethodResults, run: MethodResult, points: np.ndarray, part: int | None) -> np.ndarray:
    """Return the posteriors of the samples outside a part, for which its labels were not used."""
    found = run.posteriors[points] if part is None else results.posteriors(run, points, part)
    return found[:, _used(results, part)]


def judge_method(results: MethodResults, run: MethodResult) -> Judgement:
    """Return the answers of one method whose point is chosen, for each part, on the others."""
    posteriors = np.empty(run.posteriors.shape[1:])
    for part in np.unique(results.parts):
        own = results.parts == part
        posteriors[own] = run.posteriors[best_points(results, run, part)[0]][own]
    return judged(results, posteriors)


def judge_choice(results: MethodResults, runs: list[MethodResult]) -> Judgement:
    """Return the answers of the method of lowest loss, which is chosen, with its point, for each part on the others."""
    posteriors = np.empty(runs[0].posteriors.shape[1:])
    for part in np.unique(results.parts):
        own, candidates = results.parts == part, _candidates(results, runs, part)
        found = np.stack([posterior for _, _, posterior in candidates])
        used = _used(results, part)
        losses = results.loss.mean(found, results.truth[used], results.classes, results.weights_of(used))
        run, point, _ = candidates[int(np.argmin(losses))]
        posteriors[own] = run.posteriors[point][own]
    return judged(results, posteriors)


def combine(results: MethodResults, random_state: int) -> tuple[list[Member], Judgement]:
    """Return the members of the combination, and its answers by choices that were made on other samples."""
    (found,) = combine_each(results, random_state, [eligible(results)])
    return _members(results, random_state, None, _candidates(results, eligible(results), None)), found


def combine_each(results: MethodResults, random_state: int, choices: list[list[MethodResult]]) -> list[Judgement]:
    """Return the answers of the combinations of several choices of methods, each made on other samples."""
    posteriors = np.empty((len(choices), len(results.tested), results.columns.number))
    some = {run.name: run for runs in choices for run in runs}
    for part in np.unique(results.parts):
        own = results.parts == part
        candidates = _candidates(results, list(some.values()), part)
        for i, runs in enumerate(choices):
            names = {run.name for run in runs}
            kept = [candidate for candidate in candidates if candidate[0].name in names]
            members = _members(results, random_state, part, kept)
            posteriors[i, own] = sum(member.weight * member.posteriors[own] for member in members)
    return [judged(results, found) for found in posteriors]


_Candidate = tuple[MethodResult, int, np.ndarray]
"""A method, the position of one of its points, and its posteriors of the samples that are used for the choice."""


def _candidates(results: MethodResults, runs: list[MethodResult], part: int | None) -> list[_Candidate]:
    return [
        (run, int(point), _posteriors(results, run, np.array([point]), part)[0])
        for run in runs
        for point in best_points(results, run, part)[:N_POINTS]
    ]


def _members(results: MethodResults, random_state: int, part: int | None, candidates: list[_Candidate]) -> list[Member]:
    """Return the members that are chosen without the samples of one part."""
    used = _used(results, part)
    truth = results.truth[used]
    many = many_similarities(results) and any(run.similarity is None for run, _, _ in candidates)
    if many:
        candidates = _worth_adding(results, truth, candidates)
    posteriors = np.stack([found for _, _, found in candidates])
    weights = bagged_weights(
        posteriors,
        truth,
        results.loss,
        results.classes,
        random_state,
        sample_weight=results.weights_of(used),
    )
    if many:
        equal = _EQUAL_SAMPLES / (_EQUAL_SAMPLES + len(truth))
        weights = (1.0 - equal) * weights + equal / len(weights)
    kept = np.flatnonzero(weights >= min(LEAST_WEIGHT, weights.max()))
    kept = kept[np.argsort(-weights[kept], kind="stable")]
    total = weights[kept].sum()
    return [Member(candidates[i][0], candidates[i][1], float(weights[i] / total)) for i in kept]


def _worth_adding(results: MethodResults, truth: np.ndarray, candidates: list[_Candidate]) -> list[_Candidate]:
    """Return the methods on all similarities, and those on single ones that make significantly fewer errors."""
    mixed = [candidate for candidate in candidates if candidate[0].similarity is None]
    single = [candidate for candidate in candidates if candidate[0].similarity is not None]
    if not single:
        return mixed
    reference = results.loss.decisions(np.mean([found for _, _, found in mixed], axis=0)) != truth
    p_values = fewer_errors([results.loss.decisions(found) != truth for _, _, found in single], reference)
    return mixed + [own for own, p in zip(single, p_values) if p < SIGNIFICANT]


def bagged_weights(
    posteriors: np.ndarray,
    codes: np.ndarray,
    loss: Loss,
    classes: np.ndarray,
    random_state: int,
    share: float = 1.0,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """Return the mean of the weights that greedy selection chooses on bootstrap samples."""
    rng = np.random.RandomState(random_state)
    n_candidates, n = posteriors.shape[:2]
    n_drawn = max(1, round(share * n_candidates))
    weights = np.zeros(n_candidates)
    together = loss.is_quadratic and n * n_candidates**2 <= _MOST_PRODUCTS
    terms = _QuadraticTerms(posteriors, codes, loss, sample_weight) if together else None
    for _ in range(BAGS if loss.by_sample else FEW_BAGS):
        drawn = np.sort(rng.permutation(n_candidates)[:n_drawn])
        rows = np.asarray(rng.randint(n, size=n) if loss.by_sample else _drawn_by_class(codes, rng))
        if terms is not None:
            weights[drawn] += _selected(n_drawn, terms.losses(rows, drawn))
            continue
        own = None if sample_weight is None else sample_weight[rows]
        weights[drawn] += greedy_weights(posteriors[drawn][:, rows], codes[rows], loss, classes, own)
    return weights / weights.sum()


def _drawn_by_class(codes: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Return a bootstrap sample in which each class is as large as in the data, because a scorer may need all
    classes."""
    return np.concatenate([rng.choice(own, len(own)) for g in np.unique(codes) for own in [np.flatnonzero(codes == g)]])


def greedy_weights(
    posteriors: np.ndarray,
    codes: np.ndarray,
    loss: Loss,
    classes: np.ndarray,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """Return the weights of the prefix of lowest loss; of equally good candidates the first is added."""
    if loss.is_quadratic:
        roots = np.sqrt(_sample_weights(codes, loss, sample_weight))[:, None] * _roots(loss)
        flat = (posteriors * roots).reshape(len(posteriors), -1)
        own = posteriors[:, np.arange(len(codes)), codes] @ _sample_weights(codes, loss, sample_weight)
        return _selected(len(posteriors), _QuadraticLosses(flat @ flat.T, own))

    def losses_after(counts: np.ndarray, size: int) -> np.ndarray:
        means = (np.tensordot(counts, posteriors, axes=1) + posteriors) / size
        return loss.mean(means, codes, classes, sample_weight)

    return _selected(len(posteriors), losses_after)


def _selected(n_candidates: int, losses_after: Callable[[np.ndarray, int], np.ndarray]) -> np.ndarray:
    """Return the weights that are selected by the losses after each candidate has been added to those counted."""
    counts = chosen = np.zeros(n_candidates)
    lowest = np.inf
    for size in range(1, ROUNDS + 1):
        losses = losses_after(counts, size)
        best = int(np.argmax(losses <= losses.min() + _ROUNDING))
        counts[best] += 1
        if size == 1 or losses[best] < lowest - _GAIN:
            lowest, chosen = losses[best], counts / size
    return chosen


def _sample_weights(codes: np.ndarray, loss: Loss, sample_weight: np.ndarray | None) -> np.ndarray:
    """Return the weights of samples in the mean loss."""
    weights = np.ones(len(codes)) if loss.class_weights is None else loss.class_weights[codes]
    weights = weights / len(codes)
    return weights if sample_weight is None else weights * sample_weight


def _roots(loss: Loss) -> np.ndarray | float:
    """Return the square roots of the numbers of classes that the columns of posteriors stand for."""
    return 1.0 if loss.counts is None else np.sqrt(loss.counts)


class _QuadraticTerms:
    """The products of the posteriors of all candidates for each sample, of which each bootstrap sample needs sums."""

    def __init__(self, posteriors: np.ndarray, codes: np.ndarray, loss: Loss, sample_weight: np.ndarray | None):
        by_sample = np.ascontiguousarray((posteriors * _roots(loss)).transpose(1, 0, 2))
        self._weights = _sample_weights(codes, loss, sample_weight)
        self._products = by_sample @ by_sample.transpose(0, 2, 1)
        self._own = posteriors[:, np.arange(len(codes)), codes]

    def losses(self, rows: np.ndarray, drawn: np.ndarray) -> _QuadraticLosses:
        """Return the losses of some of the candidates on a bootstrap sample."""
        weights = self._weights * np.bincount(rows, minlength=len(self._weights))
        products = np.tensordot(weights, self._products, axes=1)
        return _QuadraticLosses(products[np.ix_(drawn, drawn)], (self._own @ weights)[drawn])


class _QuadraticLosses:
    """The Brier score of a mean of posteriors, which is a quadratic function of the weights."""

    def __init__(self, products: np.ndarray, own: np.ndarray):
        self._products, self._own = products, own

    def __call__(self, counts: np.ndarray, size: int) -> np.ndarray:
        """Return the loss, up to a constant, after each candidate has been added to those counted, ``size`` in all."""
        squares = counts @ self._products @ counts + 2 * self._products @ counts + np.diagonal(self._products)
        return squares / size**2 - 2 * (counts @ self._own + self._own) / size
