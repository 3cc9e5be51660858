"""Hits with planted families: training samples and queries of any number, at the cost of their hits.

Each class is one or more families, five classes are a superfamily. A sample has a divergence from its family; the bits
of a hit fall with the divergence of both sides, and more so between families and between classes. Some samples are in
no family and have no hits at all, some labels are wrong.
"""

from pathlib import Path

import numpy as np

PER_SAMPLE = 50
PER_CLASS = 200
_ALONE, _WRONG = 0.04, 0.02
_LEVELS = ((1.0, 0.66), (0.62, 0.2), (0.55, 0.14))
"""The factor of the bits, and the share of the hits: within families, within classes, within superfamilies."""


class Families:
    """The families of samples; new samples are drawn from the same ones."""

    def __init__(self, n, n_classes, seed=0):
        self.rng = rng = np.random.default_rng(seed)
        sizes = 1 / np.arange(3, n_classes + 3) ** 0.7
        n_families = rng.integers(1, 4, n_classes)
        self.class_of = np.repeat(np.arange(n_classes), n_families)
        self.shares = np.repeat(sizes / n_families, n_families)
        self.shares /= self.shares.sum()
        self.superfamily_of = rng.permutation(n_classes)[self.class_of] // 5
        self.family, self.divergence, self.label = self.drawn(n)

    def drawn(self, n):
        """Return the families (-1 for none), divergences and labels of n samples."""
        rng = self.rng
        family = rng.choice(len(self.shares), n, p=self.shares)
        label = self.class_of[family]
        wrong = rng.random(n) < _WRONG
        label = np.where(wrong, rng.permutation(label), label)
        family = np.where(rng.random(n) < _ALONE, -1, family)
        return family, rng.exponential(0.35, n), label

    def hits(self, family, divergence, per_sample=PER_SAMPLE):
        """Return the hits of samples to the training samples: rows, columns and bits, each pair at most once."""
        rng, found = self.rng, []
        groups = (np.arange(len(self.shares)), self.class_of, self.superfamily_of)
        for group, (factor, share) in zip(groups, _LEVELS):
            of_training = np.where(self.family < 0, -1, group[self.family])
            order = np.argsort(of_training, kind="stable")
            starts = np.searchsorted(of_training[order], np.arange(group.max() + 2))
            own = np.where(family < 0, -1, group[family])
            counts = np.where(own < 0, 0, rng.poisson(share * per_sample, len(own)))
            rows = np.repeat(np.arange(len(own)), counts)
            low, high = starts[own[rows]], starts[own[rows] + 1]
            columns = order[low + (rng.random(len(rows)) * (high - low)).astype(np.int64)]
            decay = np.exp(-divergence[rows] - self.divergence[columns])
            bits = 600 * factor * decay * rng.gamma(20, 1 / 20, len(rows))
            found.append((rows, columns, bits))
        rows, columns, bits = (np.concatenate(part) for part in zip(*found))
        kept = bits > 30
        rows, columns, bits = rows[kept], columns[kept], bits[kept]
        _, first = np.unique(rows * len(self.family) + columns, return_index=True)
        return rows[first], columns[first], bits[first]

    def among(self):
        """Return the hits among the training samples: in both directions, and of each sample in a family to itself."""
        rows, columns, bits = self.hits(self.family, self.divergence, PER_SAMPLE / 2)
        apart = rows != columns
        rows, columns, bits = rows[apart], columns[apart], bits[apart]
        own = np.flatnonzero(self.family >= 0)
        full = 650 * np.exp(-self.divergence[own])
        both = np.concatenate([rows, columns, own]), np.concatenate([columns, rows, own])
        return *both, np.concatenate([bits, bits, np.maximum(full, 31)])


def write_hits(path, rows, columns, bits, names=("t", "t")):
    """Write hits as BLAST's tabular output of twelve columns, query by query."""
    order = np.lexsort((-bits, rows))
    rest = "\t90.0\t200\t20\t0\t1\t200\t1\t200\t1e-20\t"
    with Path(path).open("w") as file:
        for start in range(0, len(order), 2**18):
            part = order[start : start + 2**18]
            ends = zip(rows[part].tolist(), columns[part].tolist(), bits[part].tolist())
            file.writelines(f"{names[0]}{i}\t{names[1]}{j}{rest}{b:.1f}\n" for i, j, b in ends)


def write_labels(path, labels, name="t"):
    """Write the labels of all samples, those without a hit too."""
    lines = [f"{name}{i}\tclass{label}\n" for i, label in enumerate(labels.tolist())]
    Path(path).write_text("".join(["id\tclass\n", *lines]))


def write_problem(folder, n, n_queries, n_classes=None, seed=0):
    """Write train.m8, train.tsv, test.m8 and test.tsv; return the numbers of their hits."""
    families, folder = Families(n, n_classes or max(20, n // PER_CLASS), seed), Path(folder)
    among = families.among()
    write_hits(folder / "train.m8", *among)
    write_labels(folder / "train.tsv", families.label)
    family, divergence, labels = families.drawn(n_queries)
    found = families.hits(family, divergence)
    write_hits(folder / "test.m8", *found, names=("q", "t"))
    write_labels(folder / "test.tsv", labels, "q")
    return len(among[0]), len(found[0])
