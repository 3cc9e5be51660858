"""Recognition of a protein family that was not there in training, by hits of a search that reports weak ones, too.

The sequences are read from the folder ``hits`` of ``SIMILITUDE_DATA``, and searched with MMseqs2 (the command
``mmseqs``) up to E = 10: training sequences among themselves, and test sequences against these. Each class of at least
20 training sequences is left out in turn. Its sequences are novel; test sequences of the other classes are known.
Familiarity calls those novel whose p-value is at most 5%. The peers rank by the bits and by the identity of the best
hit, at the threshold at which they call the same share of the known sequences novel. Sequences without a hit to a
sequence that is left, which are equally unknown to all, are not counted. ``non-ARG`` is not a family: it holds all
proteins that are none of the others. The same is done with the hits of DIAMOND in the folder, which end at E = 1e-3.

The score of familiarity was chosen among about twenty-five on ``drug`` and ``ec1``; ``ec2`` was looked at after that
choice, with the same sequences.
"""

import gzip
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks import hits
from similitude import CombinedClassifier, KNNClassifier

LEVEL = 0.05
SMALLEST = 20
PROBLEMS = {"arg": ("drug",), "ec": ("ec1", "ec2")}
OPEN = ("non-ARG",)
ROUTES = ("familiarity", "largest typicality", "bits of the best hit", "identity of the best hit")


def run():
    folder, missing = hits.folder()
    if missing:
        return missing
    if not hits.has_search():
        return [{"name": "hits: there is no command mmseqs (Debian's package mmseqs2)"}]
    rows = []
    for name, columns in PROBLEMS.items():
        with tempfile.TemporaryDirectory() as place:
            hits.search(folder, name, Path(place), "10")
            weak = [(Path(place) / f"{part}.m8").read_text().splitlines() for part in ("train", "test")]
        strong = [_lines(folder / f"{name}_{part}.m8.gz") for part in ("train", "test")]
        known, new = (list(hits.labels(folder / f"{name}_{part}.tsv", columns[0])) for part in ("train", "test"))
        for limit, files in (("10", weak), ("1e-3", strong)):
            matrices = [_matrices(lines, ids, known) for lines, ids in zip(files, (known, new))]
            for column in columns:
                rows += _problem(folder, name, column, limit, *matrices)
    return rows


def _problem(folder, name, column, limit, among, rows):
    known, new = (hits.labels(folder / f"{name}_{part}.tsv", column) for part in ("train", "test"))
    labels, new_labels = (np.array(list(each.values())) for each in (known, new))
    classes, counts = np.unique(labels, return_counts=True)
    about = f"{name}, {column}, E up to {limit}"
    print(f"\n{about}: share of each class that is called novel by {', '.join(ROUTES)}; share of known ones")
    found = {}
    for left_out in classes[counts >= SMALLEST].tolist():
        figures = _left_out(left_out, among, rows, labels, new_labels)
        if figures is not None:
            found[left_out] = figures
            shares = " ".join(f"{100 * share:6.1f}%" for share in figures[1:])
            print(f"  {left_out:40} {figures[0]:5} {shares}", flush=True)
    return _rows(about, found)


def _rows(name, found):
    rows = []
    families = {label: figures for label, figures in found.items() if label not in OPEN}
    for kind, some in (("all classes", found), ("families", families)):
        if kind == "families" and len(families) == len(found):
            continue
        table = np.array(list(some.values()))
        for mean, weights in (("by class", None), ("by sequence", table[:, 0])):
            ours, _, bits, identity, alarms = np.average(table[:, 1:], axis=0, weights=weights)
            about = f"{name}, {kind}, mean {mean}: called novel, at {100 * alarms:.1f}% of known ones"
            for title, peer, i in (("bits", bits, 3), ("identity", identity, 4)):
                shares = {"ours_seconds": f"{100 * ours:.1f}%", "peer_seconds": f"{100 * peer:.1f}%"}
                error = 100 * np.std(table[:, 1] - table[:, i], ddof=1) / len(table) ** 0.5
                goal = f"standard error of the difference {error:.1f}" if weights is None else ""
                rows.append({"name": f"{about}; peer: {title} of the best hit", **shares, "goal": goal})
    return rows


def _lines(path):
    with gzip.open(path, "rt") as file:
        return file.readlines()


def _matrices(lines, ids, known):
    """Return the bits and the identities of the best alignments of sequences to the training sequences."""
    places, columns = ({name: i for i, name in enumerate(each)} for each in (ids, known))
    best = {}
    for line in lines:
        query, target, identity, *_, bits = line.split("\t")
        pair = places[query], columns[target]
        best[pair] = max(best.get(pair, (0.0, 0.0)), (float(bits), float(identity)))
    i, j = np.array(list(best)).T
    values = np.array(list(best.values())).T
    return tuple(sparse.csr_matrix((each, (i, j)), shape=(len(ids), len(known))) for each in values)


def _left_out(label, among, rows, labels, new_labels):
    """Return the number of novel sequences, the share that each route calls novel, and that of known ones."""
    kept, novel = np.flatnonzero(labels != label), np.flatnonzero(labels == label)
    model = CombinedClassifier([("1-NN", KNNClassifier(1))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(among[0][kept][:, kept], labels[kept])
    new, old = np.flatnonzero(new_labels == label), np.flatnonzero(np.isin(new_labels, labels[kept]))
    of_novel = [sparse.vstack([a[novel][:, kept], b[new][:, kept]]).tocsr() for a, b in zip(among, rows)]
    scores = [_scores(model, *part) for part in (of_novel, [each[old][:, kept] for each in rows])]
    if not len(scores[0][0]):
        return None
    alarms = np.mean(scores[1][0] <= LEVEL)
    shares = [np.mean(scores[0][i] <= LEVEL) for i in (0, 1)]
    return (len(scores[0][0]), *shares, *(_at(scores[1][i], scores[0][i], alarms) for i in (2, 3)), alarms)


def _scores(model, bits, identities):
    """Return the scores of all routes, for the sequences that have a hit."""
    some = np.diff(bits.indptr) > 0
    bits, identities = bits[some], identities[some]
    if not bits.shape[0]:
        return np.empty((4, 0))
    best = np.asarray(bits.argmax(axis=1)).ravel()
    at = np.arange(len(best)), best
    largest = model.typicality(bits).max(axis=1)
    return np.stack(
        [model.familiarity(bits), largest, np.asarray(bits[at]).ravel(), np.asarray(identities[at]).ravel()]
    )


def _at(known, novel, alarms):
    """Return the share of novel ones at the threshold with this share of known ones, interpolated between ties."""
    values = np.unique(np.concatenate([known, novel]))
    shares = [
        np.concatenate([[0.0], np.searchsorted(np.sort(each), values, "right") / len(each)]) for each in (known, novel)
    ]
    return float(np.interp(alarms, *shares))
