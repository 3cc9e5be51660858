"""The advice that follows from the figures of a diagnosis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from similitude.diagnosis.card import percent, printable

if TYPE_CHECKING:
    from similitude.diagnosis.result import Diagnosis

NEARLY_PSD = 0.01
"""Negative eigenfraction below which clipping changes little."""

STRONGLY_INDEFINITE = 0.2
"""Negative eigenfraction above which the negative eigenvalues may carry information."""

HIGH_HUBNESS = 1.4
MANY_TIES = 0.2
MANY_NEAR_DUPLICATES = 0.05
FEW_GROUPS = 10
"""Number of groups of near-duplicates below which folds by groups do not work."""

SMALL, LARGE = 0.1, 1e4
"""Largest absolute similarity below or above which grids of C and epsilon do not fit the similarities."""

MANY_ZEROS = 0.5
MANY_VIOLATIONS = 0.01
LOW_RANK = 0.1
FEW_SAMPLES = 5


def advice(d: Diagnosis) -> tuple[str, ...]:
    """Return the sentences that follow from the figures, most urgent first."""
    sentences = list(_about_input(d))
    if d.n_sampled > 1 and d.minimum == d.maximum:
        sentences.append(f"constant: every value is {d.minimum:.4g}, so the matrix does not distinguish any samples.")
    else:
        sentences += [*_about_scale(d), *_about_spectrum(d), *_about_neighbors(d)]
    return (*sentences, *_about_evidence(d), *_about_copies_and_zeros(d), *_about_labels(d))


def _about_input(d: Diagnosis) -> Iterator[str]:
    if d.n_sampled < d.n_examined:
        yield (
            "the spectrum, triangle violations, intrinsic dimension and disorder, which need all pairs, come from "
            f"{d.n_sampled} of {d.n} samples; all other figures come from all stored entries."
        )
    elif d.n_sampled < d.n:
        yield f"the figures come from {d.n_sampled} of {d.n} samples; raise max_samples to use all of them."
    if d.looks_like_dissimilarity:
        yield (
            "the matrix looks like a dissimilarity (the values of samples with themselves are the smallest of their "
            "rows): if it is one, pass dissimilarity='max-minus' or another map; the advice below assumes that larger "
            "values mean more alike."
        )
    if d.dissimilarity is not None and d.self_similarity_not_maximal > 0.5:
        yield (
            f"{percent(d.self_similarity_not_maximal)} of the samples are not their own nearest sample: check that the "
            "matrix is a dissimilarity. If larger values mean more alike, use dissimilarity=None."
        )
    if not d.symmetric:
        yield (
            f"the matrix is asymmetric ({percent(d.asymmetry)} of its norm): methods on neighbours (KNNClassifier) and "
            "on features rank or use the rows as they are. Methods that need a symmetric matrix (SpectrumModifier, "
            "SimilaritySVC) use (S + S^T)/2, and new rows should then be the mean of both directions as well."
        )


def _about_scale(d: Diagnosis) -> Iterator[str]:
    largest = max(abs(d.minimum), abs(d.maximum))
    if d.dissimilarity is None and not SMALL <= largest <= LARGE:
        yield (
            f"the largest absolute similarity is {largest:.3g}: the values of C and epsilon that are tried for SVMs "
            f"suit similarities of about 1; divide all similarities by {largest:.3g}, also those of new samples."
        )


def _about_spectrum(d: Diagnosis) -> Iterator[str]:
    nef = f"NEF {d.negative_eigenfraction:.2g}"
    matrix = "the matrix" if d.symmetric else "the symmetric part (S + S^T)/2"
    if d.psd:
        yield f"{matrix} is positive semidefinite: it is a kernel, for instance for SVC(kernel='precomputed')."
    elif d.negative_eigenratio is None:
        yield (
            f"{matrix} has no positive eigenvalue, so clipping gives no kernel; check that larger values mean "
            "more alike, or use a local method (KNNClassifier)."
        )
    elif d.negative_eigenfraction < NEARLY_PSD:
        yield (
            f"{matrix} is nearly positive semidefinite ({nef}): SpectrumModifier('clip') makes it a kernel and "
            "changes little."
        )
    else:
        indefinite = f"{matrix} is indefinite ({nef}): modify the spectrum (SpectrumModifier) or use a local method"
        strongly = d.negative_eigenfraction >= STRONGLY_INDEFINITE
        informative = ". The negative eigenvalues may carry information, so try 'flip' and 'square' besides 'clip'"
        yield f"{indefinite} (KNNClassifier){informative if strongly else ''}."
    if 0 < d.rank <= LOW_RANK * d.n_sampled:
        yield (
            f"the matrix of {d.n_sampled} samples has rank {d.rank}: PseudoEuclideanEmbedding gives vectors of "
            f"{d.rank} entries without loss."
        )
    if d.dissimilarity is None and d.self_similarity_not_maximal > 0:
        yield (
            f"self-similarity is not maximal for {percent(d.self_similarity_not_maximal)} of the samples: this does "
            "not affect local methods, but a kernel interprets s_ii as a squared length."
        )


def _about_neighbors(d: Diagnosis) -> Iterator[str]:
    if d.triangle_violations is not None and d.triangle_violations > MANY_VIOLATIONS:
        distance = "max S - S" if d.dissimilarity is None else "the dissimilarity"
        yield (
            f"{percent(d.triangle_violations)} of the triples break the triangle inequality: {distance} is not a "
            "metric, so do not use a ball tree or another search that needs a metric."
        )
    if d.neighbor_ties is not None and d.neighbor_ties > MANY_TIES:
        yield (
            f"for {percent(d.neighbor_ties)} of the samples, neighbour {d.n_neighbors} and the next one are equally "
            "similar, and share the last places; weights='affinity' gives dissimilar neighbours less weight."
        )
    elif d.hubness is not None and d.hubness > HIGH_HUBNESS:
        yield (
            f"there are hubs, samples among the {d.n_neighbors} nearest neighbours of very many others (skewness "
            f"{d.hubness:.1f}): choose n_neighbors by cross-validation, or use a method on the whole matrix."
        )


def _about_evidence(d: Diagnosis) -> Iterator[str]:
    if 0 < d.without_evidence < d.n_examined:
        yield (
            f"{d.without_evidence} of {d.n_examined} samples give no evidence, since all their similarities to others "
            "are equal: AutoClassifier learns the posterior of such samples, single methods give the class shares."
        )


def _about_copies_and_zeros(d: Diagnosis) -> Iterator[str]:
    groups = d.n_examined - d.near_duplicates
    few_groups = f"only {groups} different ones are left, too few for folds that keep copies together."
    if d.duplicates:
        repeat = "1 sample repeats" if d.duplicates == 1 else f"{d.duplicates} samples repeat"
        together = (
            "keep copies on the same side of every split (SimilarityGroupKFold, or train_test_split(groups=...)); "
            "otherwise errors are underestimated."
        )
        yield f"{repeat} the row of an earlier one: {together if groups >= FEW_GROUPS else few_groups}"
    elif d.near_duplicates > MANY_NEAR_DUPLICATES * d.n_examined:
        together = "SimilarityGroupKFold (--no-leak auto) keeps them together."
        yield (
            f"{d.near_duplicates} of {d.n_examined} samples are nearly the same as others: errors on random folds "
            f"are smaller than those for new samples; {together if groups >= FEW_GROUPS else few_groups}"
        )
    if d.unknown:
        yield (
            f"{percent(d.unknown)} of the entries are unknown: local methods (KNNClassifier) vote among the known "
            "neighbours, all others need Proximities(S, fill='class-blind mean') or another fill (--fill)."
        )
    if d.sparsity > MANY_ZEROS and d.n > 2 and d.maximum > d.minimum:
        if d.sparse:
            yield f"{percent(d.sparsity)} of the entries are zero: absent entries count as the similarity 0."
        else:
            yield f"{percent(d.sparsity)} of the entries are zero: a SciPy CSR matrix takes less memory."


def _about_labels(d: Diagnosis) -> Iterator[str]:
    if d.classes is None:
        return
    if len(d.classes) == 1:
        yield "there is one class only: a classifier needs two."
        return
    few = [c for c in d.classes if c.count < FEW_SAMPLES]
    if few:
        yield (
            f"there are fewer than {FEW_SAMPLES} samples in {_named(few)}: some folds of a cross-validation will have "
            f"none of {'it' if len(few) == 1 else 'them'}; merge classes or use fewer folds."
        )
    loose = [c for c in d.classes if c.within is not None and c.between is not None and c.within <= c.between]
    if loose:
        yield (
            f"samples of {_named(loose)} are on average no more similar to their own class than to others: "
            + (
                "methods on centroids will not work well; try local methods (KNNClassifier)."
                if d.psd
                else "try local methods (KNNClassifier), and SpectrumModifier('flip') in case the negative "
                "eigenvalues separate the classes."
            )
        )
    yield from _about_error(d)


def _about_error(d: Diagnosis) -> Iterator[str]:
    if d.leave_one_out_error is None or d.classes is None:
        return
    guess = 1 - max(c.count for c in d.classes) / d.n
    of = f" for the {d.n_examined - d.without_evidence} samples with evidence" if d.without_evidence else ""
    errors = (
        f"the error of the nearest neighbour is {percent(d.leave_one_out_error)}{of}, and that of always predicting "
        f"the largest class is {percent(guess)}"
    )
    if d.leave_one_out_error >= guess:
        yield f"{errors}: the nearest neighbour alone is not informative about the classes."
    else:
        better = "should do better than both" if d.leave_one_out_error > 0 else "can hardly do better"
        yield f"{errors}: a classifier {better}."


def _named(classes: list) -> str:
    names = ", ".join(printable(c.label) for c in classes[:3])
    if len(classes) == 1:
        return f"class {names}"
    return f"{len(classes)} classes ({names}{', ...' if len(classes) > 3 else ''})"
