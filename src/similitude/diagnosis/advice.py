"""What follows from the figures, in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from similitude.diagnosis.card import percent, printable

if TYPE_CHECKING:
    from similitude.diagnosis.result import Diagnosis

NEARLY_PSD = 0.01
"""Negative eigenfraction below which clipping changes little."""

STRONGLY_INDEFINITE = 0.2
"""Negative eigenfraction above which the negative part may well carry information."""

HIGH_HUBNESS = 1.4
MANY_TIES = 0.2
MANY_ZEROS = 0.5
MANY_VIOLATIONS = 0.01
LOW_RANK = 0.1
FEW_SAMPLES = 5


def advice(d: Diagnosis) -> tuple[str, ...]:
    """Return the sentences that follow from the figures, most urgent first."""
    sentences = list(_about_input(d))
    if d.n_sampled > 1 and d.minimum == d.maximum:
        sentences.append(f"constant: every value is {d.minimum:.4g}, so the matrix tells no two samples apart.")
    else:
        sentences += [*_about_spectrum(d), *_about_neighbors(d)]
    return (*sentences, *_about_copies_and_zeros(d), *_about_labels(d))


def _about_input(d: Diagnosis) -> Iterator[str]:
    if d.n_sampled < d.n:
        yield f"the figures come from {d.n_sampled} of {d.n} samples; raise max_samples to look at all."
    if d.looks_like_dissimilarity:
        yield (
            "looks like a dissimilarity (zero diagonal, positive elsewhere): if it is one, pass "
            "dissimilarity='max-minus' or another map; what follows takes larger to mean more alike."
        )
    if d.dissimilarity is not None and d.self_similarity_not_maximal > 0.5:
        yield (
            f"{percent(d.self_similarity_not_maximal)} of the samples are not the nearest to themselves: is it really "
            "a dissimilarity? If larger means more alike, leave dissimilarity=None."
        )
    if not d.symmetric:
        yield (
            f"asymmetric ({percent(d.asymmetry)} of its norm): KNNClassifier ranks the rows as they are; "
            "SpectrumModifier (clip, flip, shift) and PseudoEuclideanEmbedding use (S + S^T)/2, where a new row should "
            "be the mean of both directions too."
        )


def _about_spectrum(d: Diagnosis) -> Iterator[str]:
    nef = f"NEF {d.negative_eigenfraction:.2g}"
    if d.psd:
        yield "positive semidefinite: use it as a kernel as it is, for instance SVC(kernel='precomputed')."
    elif d.negative_eigenratio is None:
        yield (
            "no positive eigenvalue: no kernel can be made by clipping; check that larger means more alike, or use a "
            "local method (KNNClassifier)."
        )
    elif d.negative_eigenfraction < NEARLY_PSD:
        yield f"nearly positive semidefinite: {nef}: SpectrumModifier('clip') makes it a kernel and changes little."
    elif d.negative_eigenfraction < STRONGLY_INDEFINITE:
        yield f"indefinite: {nef}: modify the spectrum (SpectrumModifier) or use a local method (KNNClassifier)."
    else:
        yield (
            f"indefinite: {nef}: modify the spectrum (SpectrumModifier) or use a local method (KNNClassifier); the "
            "negative part may carry information, so try 'flip' and 'square' beside 'clip'."
        )
    if 0 < d.rank <= LOW_RANK * d.n_sampled:
        yield (
            f"rank {d.rank} of {d.n_sampled}: PseudoEuclideanEmbedding gives vectors of {d.rank} entries with nothing "
            "lost."
        )
    if d.dissimilarity is None and d.self_similarity_not_maximal > 0:
        yield (
            f"self-similarity is not maximal for {percent(d.self_similarity_not_maximal)} of the samples: local "
            "methods do not mind; a kernel takes s_ii for a squared length."
        )


def _about_neighbors(d: Diagnosis) -> Iterator[str]:
    if d.triangle_violations is not None and d.triangle_violations > MANY_VIOLATIONS:
        distance = "max S - S" if d.dissimilarity is None else "the dissimilarity"
        yield (
            f"{percent(d.triangle_violations)} of the triples break the triangle inequality: {distance} is not a "
            "metric, so do not search it with a ball tree or anything else that needs one."
        )
    if d.neighbor_ties is not None and d.neighbor_ties > MANY_TIES:
        yield (
            f"for {percent(d.neighbor_ties)} of the samples the neighbour number {d.n_neighbors} is tied with the "
            "next: the order of the samples decides there; weights='affinity' counts only what is similar."
        )
    elif d.hubness is not None and d.hubness > HIGH_HUBNESS:
        yield (
            f"hubs: a few samples are among the {d.n_neighbors} nearest of very many (skewness {d.hubness:.1f}): "
            "choose n_neighbors by cross-validation, or prefer a method that sees the whole matrix."
        )


def _about_copies_and_zeros(d: Diagnosis) -> Iterator[str]:
    if d.duplicates:
        repeat = "1 sample repeats" if d.duplicates == 1 else f"{d.duplicates} samples repeat"
        yield (
            f"{repeat} the row of an earlier one: keep copies on the same side of every split "
            "(train_test_split(groups=...)), or errors look too small."
        )
    if d.sparsity > MANY_ZEROS and d.n_sampled > 2 and d.maximum > d.minimum:
        if d.sparse:
            yield f"{percent(d.sparsity)} of the entries are zero: what is absent is taken as the similarity 0."
        else:
            yield f"{percent(d.sparsity)} of the entries are zero: as a scipy CSR matrix it takes less memory."


def _about_labels(d: Diagnosis) -> Iterator[str]:
    if d.classes is None:
        return
    if len(d.classes) == 1:
        yield "one class only: a classifier needs two."
        return
    few = [c for c in d.classes if c.count < FEW_SAMPLES]
    if few:
        yield (
            f"fewer than {FEW_SAMPLES} samples in {_named(few)}: folds of a cross-validation will miss "
            f"{'it' if len(few) == 1 else 'them'}; merge classes or use fewer folds."
        )
    loose = [c for c in d.classes if c.within is not None and c.between is not None and c.within <= c.between]
    if loose:
        yield (
            f"samples of {_named(loose)} are on average no more alike than they are to others: "
            + (
                "centroids will not do; try local methods (KNNClassifier)."
                if d.psd
                else "either local methods (KNNClassifier) tell them apart, or a negative direction does: compare with "
                "SpectrumModifier('flip')."
            )
        )
    yield from _about_error(d)


def _about_error(d: Diagnosis) -> Iterator[str]:
    if d.leave_one_out_error is None or d.classes is None:
        return
    guess = 1 - max(c.count for c in d.classes) / d.n
    beside = f"the nearest neighbour errs on {percent(d.leave_one_out_error)}, always the largest class on"
    if d.leave_one_out_error >= guess:
        yield f"{beside} {percent(guess)}: the nearest neighbour alone tells nothing about the classes."
    else:
        better = "should beat both" if d.leave_one_out_error > 0 else "can hardly do better"
        yield f"{beside} {percent(guess)}: a classifier {better}."


def _named(classes: list) -> str:
    names = ", ".join(printable(c.label) for c in classes[:3])
    if len(classes) == 1:
        return f"class {names}"
    return f"{len(classes)} classes ({names}{', ...' if len(classes) > 3 else ''})"
