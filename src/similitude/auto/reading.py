"""The samples of a search, with one similarity or with several."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from similitude._utils.ids import labels_in_order
from similitude._utils.scikit_learn import num_samples
from similitude._utils.warn import warn
from similitude.auto.leaderboard import name_on, names_text
from similitude.auto.methods import FEW_SIMILARITIES, MIXTURES, methods, mixtures, record_of, slug
from similitude.base import partly_labelled
from similitude.evaluation.batches import uses_weights
from similitude.evaluation.engine import Entry
from similitude.labels import check_labels, check_sample_weight
from similitude.proximity.check import SimilarityWarning
from similitude.reader import Contract, Samples, are_several


def read_samples(
    X: Any, y: Any, similarity: Any = "precomputed", dissimilarity: Any = None, unlabelled: str | None = None
) -> Samples:
    """Return all samples as read according to the input contract, with one similarity or with several.

    With ``unlabelled="use"`` they are those with a label, with the others beside them.
    """
    if isinstance(X, Samples):
        return X
    contract = Contract(similarity, dissimilarity, takes_several=True)
    named, y = are_several(similarity, X, dissimilarity), labels_in_order(y, X)
    X = contract.adopted(X)
    if unlabelled is not None:
        return partly_labelled(contract, X, y, named=named)
    return Samples(contract, X, check_labels(y, num_samples(X)), named=named)


def with_weights(samples: Samples, sample_weight: Any) -> Samples:
    """Return the samples with checked weights, whose mean is 1."""
    if sample_weight is None:
        return samples
    classes, codes = np.unique(samples.y, return_inverse=True)
    weights = check_sample_weight(sample_weight, codes, classes)
    weighted = copy.copy(samples)
    vars(weighted).pop("parts", None)
    weighted.sample_weight = None if weights is None else weights / weights.mean()
    return weighted


def warn_of_unweighted(samples: Samples, estimators: dict[str, Any]) -> None:
    """Warn of the methods that are fitted without the weights of the samples."""
    names = [name for name, estimator in estimators.items() if not uses_weights(estimator)]
    if samples.sample_weight is not None and names:
        warn(
            f"sample_weight: these methods cannot use weights, and are fitted without them: {names_text(names)}. "
            "Weights count in the losses and calibrations of all methods.",
            SimilarityWarning,
        )


def entries(names: Any, samples: Samples) -> dict[str, Entry]:
    """Return every method on each of several similarities, and the methods that use all of them."""
    single, mixed = split_names(names)
    tables = {
        name: methods(
            single,
            n_samples=samples.n,
            unlabelled=samples.n_unlabelled > 0,
            similarity=part.contract.similarity,
            dissimilarity=part.contract.dissimilarity,
        )
        for name, part in samples.parts.items()
        if single or not mixed
    }
    by_method = dict.fromkeys(method for table in tables.values() for method in table)
    found = {
        name_on(method, name): Entry(*table[method], name, method)
        for method in by_method
        for name, table in tables.items()
        if method in table
    }
    contract = {"similarity": samples.contract.similarity, "dissimilarity": samples.contract.dissimilarity}
    if len(samples.parts) > 1:
        table = mixtures(n_samples=samples.n, **contract)
        if isinstance(names, str) and len(samples.parts) > FEW_SIMILARITIES:
            mixed = [name for name in mixed if not record_of(name).few]
        found |= {name: Entry(*table[name], None, name) for name in table if name.partition(",")[0] in mixed}
    return found


def split_names(names: Any) -> tuple[Any, list[str]]:
    """Return the names of methods on one similarity, and those of methods that use several."""
    if isinstance(names, str) or not isinstance(names, (list, tuple)):
        return names, list(MIXTURES)
    known = {slug(name): name for name in MIXTURES}
    plain = [name.partition(",")[0] if isinstance(name, str) else name for name in names]
    mixed = [known[slug(name)] for name in plain if isinstance(name, str) and slug(name) in known]
    single = [name for name in plain if not isinstance(name, str) or slug(name) not in known]
    return single if single or not mixed else [], mixed
