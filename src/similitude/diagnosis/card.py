"""A diagnosis as plain text: the card, and the advice that follows from the figures."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill
from typing import TYPE_CHECKING, Any

from similitude.diagnosis.disorder import verdict

if TYPE_CHECKING:
    from similitude.diagnosis.result import ClassFigures, Diagnosis

_CLASSES_SHOWN = 20
_LABEL_WIDTH = 24

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

PLAIN = {
    "negative fraction (NEF)": "how much of the matrix no points in space could have as similarities; 0 for a kernel",
    "intrinsic dimension": "the dimension of a cloud of points whose distances would vary as much",
    "hubness": f"whether a few samples are neighbours of very many others; they are if it is above {HIGH_HUBNESS}",
    "disorder (95%)": "how badly neighbours of neighbours are neighbours; 1 if they always are",
}
"""Plain words for figures that have technical names."""

PYTHON, COMMANDS = 0, 1
"""The two renderings of advice: for readers of Python, and for those of the command line."""

_NAMES = {
    "local": ("KNNClassifier", "--method k-nn"),
    "spectral": ("SpectrumModifier", "--method svm-clip"),
    "symmetric": ("SpectrumModifier, SimilaritySVC", "svm-clip, svm-flip and others"),
    "kernel": ("SVC(kernel='precomputed')", "--method svm-clip"),
    "clip": ("SpectrumModifier('clip')", "--method svm-clip"),
    "others": ("'flip' and 'square' besides 'clip'", "svm-flip and svm-square besides svm-clip"),
    "flip": ("SpectrumModifier('flip')", "--method svm-flip"),
    "embedded": ("PseudoEuclideanEmbedding gives", "--method fisher-embedded uses"),
    "affinity": ("weights='affinity'", "--method affinity-k-nn"),
    "more": ("raise max_samples", "raise --max-samples of inspect"),
    "map": ("pass dissimilarity='max-minus'", "add --dissimilarity max-minus"),
    "no map": ("use dissimilarity=None", "leave out --dissimilarity"),
    "auto": ("AutoClassifier", "fit"),
    "k": ("choose n_neighbors by cross-validation", "let fit choose the number of neighbours"),
    "copies": ("SimilarityGroupKFold, or train_test_split(groups=...)", "--no-leak auto, or --groups FILE"),
    "near copies": ("SimilarityGroupKFold (--no-leak auto)", "--no-leak auto"),
    "fill": (
        "Proximities(S, fill='class-blind mean') or another fill (--fill)",
        "--fill class-blind-mean or another fill",
    ),
    "sparse": ("a SciPy CSR matrix takes", "an edge list or a sparse .npz or .mtx file takes"),
    "transposed": (
        "pass S.T, and for new samples the similarities of the training samples to them",
        "exchange --query and --target, or transpose the table, also that of new samples",
    ),
    "both": (
        "pass (S + S.T) / 2, also for new samples",
        "average both directions (--direction mean), also of new samples",
    ),
}
"""What a thing is called in each of the renderings."""


def _called(thing: str, rendering: int) -> str:
    return _NAMES[thing][rendering]


MANY_ZEROS = 0.5
MANY_VIOLATIONS = 0.01
LOW_RANK = 0.1
FEW_SAMPLES = 5


def percent(share: float | None) -> str:
    """Return a share as text with two digits; 0% and 100% are exact."""
    if share is None:
        return "not defined"
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{share:.1%}" if 0 < share < 0.1 or 0.99 < share < 1 else f"{share:.0%}"


def number(value: float | None) -> str:
    """Return a figure as text with four digits."""
    return "not defined" if value is None else f"{value:.4g}"


def printable(label: Any, width: int = _LABEL_WIDTH) -> str:
    """Return a label on one line, with control characters escaped, cut to ``width``."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in str(label))
    return text if len(text) <= width else text[: width - 3] + "..."


def card(d: Diagnosis, rendering: int = PYTHON) -> str:
    """Return the whole card; headings start at the margin, everything else is indented."""
    sections = [[head, *(line for row in rows for line in _lines(*row))] for head, rows in figures(d, rendering)]
    if d.classes is not None:
        sections.append(_classes(d, d.classes))
    sentences = d.advice if rendering == PYTHON else advice(d, rendering)
    wrapped = (fill(s, 96, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False) for s in sentences)
    sections.append(["Advice", *wrapped])
    return "\n\n".join("\n".join(lines) for lines in sections)


def figures(d: Diagnosis, rendering: int = PYTHON) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the figures as text: of the matrix, the spectrum and the geometry, each with names and values."""
    kind = "Similarities"
    if d.dissimilarity is not None:
        kind = f"Dissimilarities (mapped to similarities by {d.dissimilarity!r})"
    smaller, part = d.self_similarity_not_maximal, d.n_sampled < d.n_examined
    drawn = f"{d.n_sampled} samples drawn at random"
    of_part = f" ({drawn})" if part else ""
    of_all = " (all samples)" if d.extremes_of_all else ""
    disorder = None
    if d.disorder is not None:
        judged = verdict(d.disorder)
        judged = judged if rendering == PYTHON else judged.partition(":")[0]  # commands have no search by a graph
        disorder = f"{number(d.disorder)}{of_part}, {judged}"
    matrix = [
        ("examined", drawn if d.n_examined < d.n else ""),
        ("symmetric", "yes" if d.symmetric else f"no: asymmetry {number(d.asymmetry)}"),
        ("range", f"{number(d.minimum)} to {number(d.maximum)}"),
        ("unknown", percent(d.unknown) if d.unknown else ""),
        ("zeros", percent(d.sparsity)),
        ("distinct values", str(d.n_distinct)),
        ("duplicates", str(d.duplicates)),
        ("near-duplicates", str(d.near_duplicates) if d.near_duplicates > d.duplicates else ""),
        ("self-similarity", f"not maximal for {percent(smaller)}" if smaller else "maximal for every sample"),
    ]
    spectrum = [
        ("computed from", drawn if part else ""),
        ("eigenvalues", f"{number(d.smallest_eigenvalue)} to {number(d.largest_eigenvalue)}{of_all}"),
        ("positive semidefinite", "yes" if d.psd else "no"),
        ("negative fraction (NEF)", number(d.negative_eigenfraction) + (of_part if d.extremes_of_all else "")),
        ("negative ratio (NER)", number(d.negative_eigenratio) + of_all),
        ("rank", f"{d.rank} of {d.n_sampled}"),
    ]
    geometry = [
        ("triangle violations", percent(d.triangle_violations) + of_part),
        ("intrinsic dimension", number(d.intrinsic_dimension) + of_part),
        (f"hubness (k = {d.n_neighbors})", number(d.hubness)),
        (f"ties (k = {d.n_neighbors})", percent(d.neighbor_ties)),
        ("without evidence", f"{d.without_evidence} samples" if d.without_evidence else ""),
        ("disorder (95%)", disorder or "not defined"),
    ]
    sections = {
        f"{kind} of {d.n} samples, {'sparse' if d.sparse else 'dense'}, {d.dtype}": matrix,
        "Spectrum" if d.symmetric else "Spectrum of (S + S^T)/2": spectrum,
        "Geometry": geometry,
    }
    return [(head, [(name, value) for name, value in rows if value]) for head, rows in sections.items()]


def plain_words(name: str) -> str:
    """Return a plain sentence on a figure with a technical name, or "" for any other."""
    return next((words for term, words in PLAIN.items() if name.startswith(term)), "")


def _lines(name: str, value: str) -> list[str]:
    """Return the line of a figure and, if its name is technical, one that says what it is."""
    words = plain_words(name)
    return [_line(name, value), *([f"    ({words})"] if words else [])]


def _line(name: str, value: str) -> str:
    return f"  {name:<26}{value}"


def _classes(d: Diagnosis, classes: tuple[ClassFigures, ...]) -> list[str]:
    shown = sorted(classes, key=lambda c: -c.count)[:_CLASSES_SHOWN]
    lines = [
        "Classes",
        f"  {'label':<{_LABEL_WIDTH}}  {'samples':>7}  {'within':>11}  {'between':>11}",
        *(
            f"  {printable(c.label):<{_LABEL_WIDTH}}  {c.count:>7}  {number(c.within):>11}  {number(c.between):>11}"
            for c in shown
        ),
    ]
    if len(classes) > len(shown):
        lines.append(f"  and {len(classes) - len(shown)} smaller classes")
    of = f" of {d.n_examined - d.without_evidence} samples with evidence" if d.without_evidence else ""
    error = percent(d.leave_one_out_error)
    lines.append(_line("leave-one-out 1-NN error", error + (of if d.leave_one_out_error is not None else "")))
    if d.direction_errors is not None:
        both = d.direction_errors
        lines.append(_line("  by columns, by the mean", f"{percent(both.columns)}, {percent(both.mean)}"))
    return lines


def advice(d: Diagnosis, rendering: int = PYTHON) -> tuple[str, ...]:
    """Return the sentences that follow from the figures, most urgent first, with the names of one rendering."""
    sentences = list(_about_input(d, rendering))
    if d.n_sampled > 1 and d.minimum == d.maximum:
        sentences.append(f"constant: every value is {d.minimum:.4g}, so the matrix does not distinguish any samples.")
    else:
        sentences += [*_about_scale(d), *_about_spectrum(d, rendering), *_about_neighbors(d, rendering)]
    more = (about(d, rendering) for about in (_about_evidence, _about_copies_and_zeros, _about_labels))
    return (*sentences, *(sentence for part in more for sentence in part))


def _about_input(d: Diagnosis, rendering: int) -> Iterator[str]:
    if d.n_sampled < d.n_examined:
        yield (
            f"the spectrum{' but its ends' if d.extremes_of_all else ''}, triangle violations, intrinsic dimension and "
            f"disorder, which need all pairs, come from {d.n_sampled} of {d.n} samples; all other figures come from "
            "all stored entries."
        )
    elif d.n_sampled < d.n:
        yield f"the figures come from {d.n_sampled} of {d.n} samples; {_called('more', rendering)} to use all of them."
    if d.looks_like_dissimilarity:
        yield (
            "the matrix looks like a dissimilarity (the values of samples with themselves are the smallest of their "
            f"rows): if it is one, {_called('map', rendering)} or another map; the advice below assumes that larger "
            "values mean more alike."
        )
    if d.dissimilarity is not None and d.self_similarity_not_maximal > 0.5:
        yield (
            f"{percent(d.self_similarity_not_maximal)} of the samples are not their own nearest sample: check that the "
            f"matrix is a dissimilarity. If larger values mean more alike, {_called('no map', rendering)}."
        )
    if not d.symmetric:
        yield (
            f"the matrix is asymmetric ({percent(d.asymmetry)} of its norm): methods on neighbours "
            f"({_called('local', rendering)}) and on features rank or use the rows as they are. Methods that need a "
            f"symmetric matrix ({_called('symmetric', rendering)}) use (S + S^T)/2, and new rows should then be the "
            "mean of both directions as well."
        )
        yield from _about_directions(d, rendering)


def _about_directions(d: Diagnosis, rendering: int) -> Iterator[str]:
    """Say which direction of an asymmetric similarity predicts better."""
    errors = d.direction_errors
    if errors is None:
        return
    measured = (
        f"the error of the nearest neighbour is {percent(errors.rows)} by rows (the similarity of a sample to the "
        f"others), {percent(errors.columns)} by columns (of the others to it) and {percent(errors.mean)} by the mean"
    )
    if errors.best == "rows":
        yield f"{measured}: the rows, which methods use, predict best."
    elif errors.best == "columns":
        yield f"{measured}: the columns predict best; to use them, {_called('transposed', rendering)}."
    else:
        yield f"{measured}: the mean predicts best; to use it, {_called('both', rendering)}."


def _about_scale(d: Diagnosis) -> Iterator[str]:
    largest = max(abs(d.minimum), abs(d.maximum))
    if d.dissimilarity is None and not SMALL <= largest <= LARGE:
        yield (
            f"the largest absolute similarity is {largest:.3g}: the values of C and epsilon that are tried for SVMs "
            f"suit similarities of about 1; divide all similarities by {largest:.3g}, also those of new samples."
        )


def _about_spectrum(d: Diagnosis, rendering: int) -> Iterator[str]:
    nef = f"NEF {d.negative_eigenfraction:.2g}"
    matrix = "the matrix" if d.symmetric else "the symmetric part (S + S^T)/2"
    if d.psd:
        yield f"{matrix} is positive semidefinite: it is a kernel, for instance for {_called('kernel', rendering)}."
    elif d.negative_eigenratio is None:
        yield (
            f"{matrix} has no positive eigenvalue, so clipping gives no kernel; check that larger values mean "
            f"more alike, or use a local method ({_called('local', rendering)})."
        )
    elif d.negative_eigenfraction < NEARLY_PSD:
        yield (
            f"{matrix} is nearly positive semidefinite ({nef}): {_called('clip', rendering)} makes it a kernel and "
            "changes little."
        )
    else:
        modify = f"modify the spectrum ({_called('spectral', rendering)}) or use a local method"
        strongly = d.negative_eigenfraction >= STRONGLY_INDEFINITE
        informative = f". The negative eigenvalues may carry information, so try {_called('others', rendering)}"
        local = _called("local", rendering)
        yield f"{matrix} is indefinite ({nef}): {modify} ({local}){informative if strongly else ''}."
    if 0 < d.rank <= LOW_RANK * d.n_sampled:
        yield (
            f"the matrix of {d.n_sampled} samples has rank {d.rank}: {_called('embedded', rendering)} vectors of "
            f"{d.rank} entries without loss."
        )
    if d.dissimilarity is None and d.self_similarity_not_maximal > 0:
        yield (
            f"self-similarity is not maximal for {percent(d.self_similarity_not_maximal)} of the samples: this does "
            "not affect local methods, but a kernel interprets s_ii as a squared length."
        )


def _about_neighbors(d: Diagnosis, rendering: int) -> Iterator[str]:
    if d.triangle_violations is not None and d.triangle_violations > MANY_VIOLATIONS:
        distance = "max S - S" if d.dissimilarity is None else "the dissimilarity"
        yield (
            f"{percent(d.triangle_violations)} of the triples break the triangle inequality: {distance} is not a "
            "metric, so do not use a ball tree or another search that needs a metric."
        )
    if d.neighbor_ties is not None and d.neighbor_ties > MANY_TIES:
        yield (
            f"for {percent(d.neighbor_ties)} of the samples, neighbour {d.n_neighbors} and the next one are equally "
            f"similar, and share the last places; {_called('affinity', rendering)} gives dissimilar neighbours less "
            "weight."
        )
    elif d.hubness is not None and d.hubness > HIGH_HUBNESS:
        yield (
            f"there are hubs, samples among the {d.n_neighbors} nearest neighbours of very many others (skewness "
            f"{d.hubness:.1f}): {_called('k', rendering)}, or use a method on the whole matrix."
        )


def _about_evidence(d: Diagnosis, rendering: int) -> Iterator[str]:
    if 0 < d.without_evidence < d.n_examined:
        yield (
            f"{d.without_evidence} of {d.n_examined} samples give no evidence, since all their similarities to others "
            f"are equal: {_called('auto', rendering)} learns the posterior of such samples, single methods give the "
            "class shares."
        )


def _about_copies_and_zeros(d: Diagnosis, rendering: int) -> Iterator[str]:
    groups = d.n_examined - d.near_duplicates
    few_groups = f"only {groups} different ones are left, too few for folds that keep copies together."
    if d.duplicates:
        repeat = "1 sample repeats" if d.duplicates == 1 else f"{d.duplicates} samples repeat"
        together = (
            f"keep copies on the same side of every split ({_called('copies', rendering)}); otherwise errors are "
            "underestimated."
        )
        yield f"{repeat} the row of an earlier one: {together if groups >= FEW_GROUPS else few_groups}"
    elif d.near_duplicates > MANY_NEAR_DUPLICATES * d.n_examined:
        together = f"{_called('near copies', rendering)} keeps them together."
        yield (
            f"{d.near_duplicates} of {d.n_examined} samples are nearly the same as others: errors on random folds "
            f"are smaller than those for new samples; {together if groups >= FEW_GROUPS else few_groups}"
        )
    if d.unknown:
        yield (
            f"{percent(d.unknown)} of the entries are unknown: local methods ({_called('local', rendering)}) vote "
            f"among the known neighbours, all others need {_called('fill', rendering)}."
        )
    if d.sparsity > MANY_ZEROS and d.n > 2 and d.maximum > d.minimum:
        if d.sparse:
            yield f"{percent(d.sparsity)} of the entries are zero: absent entries count as the similarity 0."
        else:
            yield f"{percent(d.sparsity)} of the entries are zero: {_called('sparse', rendering)} less memory."


def _about_labels(d: Diagnosis, rendering: int) -> Iterator[str]:
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
                f"methods on centroids will not work well; try local methods ({_called('local', rendering)})."
                if d.psd
                else f"try local methods ({_called('local', rendering)}), and {_called('flip', rendering)} in case the "
                "negative eigenvalues separate the classes."
            )
        )
    if d.leave_one_out_error is None:
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
