"""Running of experiments: every cell that the store does not hold yet is computed and stored at once."""

from __future__ import annotations

import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from joblib.parallel import get_active_backend
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed

from similitude._utils.extras import require
from similitude._utils.ids import labels_in_order
from similitude._utils.progress import ProgressBars
from similitude._utils.scikit_learn import num_samples
from similitude.base import SimilarityEstimator, contract_of
from similitude.evaluation.engine import reading_part
from similitude.evaluation.path_search import input_parameters
from similitude.experiments.cells import Cell
from similitude.experiments.identity import digest
from similitude.experiments.protocol import Protocol
from similitude.experiments.results import Results
from similitude.experiments.store import Failure, Row, Store
from similitude.proximity.check import SimilarityWarning
from similitude.similarities import pairwise
from similitude.similarities.registry import resolve

LARGEST = 4000
"""Up to this number of raw objects the whole matrix is computed once (128 MB), and each cell uses a part of it."""


class ExperimentWarning(UserWarning):
    """A warning that some cells of an experiment failed.

    See Also
    --------
    run : Compute every cell (data set, partition, method) of an experiment that the store does not hold yet.
    """


class Dataset(NamedTuple):
    """Data with labels, the input contract, and the splits that come with the data.

    Parameters
    ----------
    X : square matrix, Proximities, or sequence of raw objects
        The samples.
    y : array-like of shape (n,)
        The labels.
    contract : dict, default={}
        ``similarity`` and ``dissimilarity`` of every method on these data.
    splits : sequence of pairs of positions, default=None
        The training and test parts for :meth:`Protocol.given`.

    See Also
    --------
    run : Compute every cell (data set, partition, method) of an experiment that the store does not hold yet.
    Protocol
        The protocol of an experiment: the outer partitions, and how parameters are chosen within their training
        parts.
    """

    X: Any
    y: Any
    contract: Mapping[str, Any] = {}
    splits: Sequence | None = None


def run(
    protocol: Protocol,
    data: Mapping[str, Any],
    methods: Mapping[str, tuple],
    store: str | os.PathLike | Store | None = None,
    *,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Results:
    """Compute every cell (data set, partition, method) of an experiment that the store does not hold yet.

    A cell is one job: the parameters of the method are chosen within the training part, it is fitted there, and its
    errors on the test part are counted. Workers return results and this process writes them one by one, so that a run
    that was killed can be continued and ends with the same table. A stored cell is identified by the content of the
    data, the partition, the way of choosing parameters, and the method with its parameters and grid: other data under
    the same name are another cell. A cell that fails is recorded and reported at the end, while the others are
    computed; it is tried again when the same experiment is run again.

    Parameters
    ----------
    protocol : Protocol
        The protocol.
    data : mapping of names to tuples (X, y), (X, y, contract) or (X, y, contract, splits)
        The data sets. X is a square matrix, Proximities, or a sequence of raw objects; contract is a dict with
        ``similarity`` and ``dissimilarity``, which are set on every method that takes similarities; splits is a list of
        pairs of positions for ``Protocol.given``.
    methods : mapping of names to tuples (estimator, grid)
        The methods. The grid is a dict of lists, a list of these, or a function ``grid(X_train, y_train, folds)`` that
        returns one; an empty grid means that nothing is chosen. The randomness of a method is that of its
        ``random_state``.
    store : path or Store, default=None
        The file that keeps the results; None means that they are kept in memory.
    n_jobs : int, default=None
        The number of cells that joblib computes at a time, with any backend: ``joblib.parallel_config("dask")``
        computes them on a cluster. Each uses one BLAS thread.
    progress : bool, default=True
        Whether the time left and the best method so far are shown on stderr: with a bar for each data set on a
        terminal, in a line every ten seconds elsewhere.

    Returns
    -------
    Results
        The results.

    See Also
    --------
    stored : Return the cells of an experiment that a store holds, without computing any.
    Protocol
        The protocol of an experiment: the outer partitions, and how parameters are chosen within their training
        parts.
    Results : The results of a run.

    Examples
    --------
    >>> from similitude import KNNClassifier
    >>> from similitude.datasets import load_voting
    >>> from similitude.experiments import Protocol, run
    >>> voting = load_voting()
    >>> data = {"voting": (voting.data, voting.target, {"similarity": "counting"})}
    >>> methods = {"k-NN": (KNNClassifier(), {"n_neighbors": [1, 3, 5]}), "1-NN": (KNNClassifier(1), {})}
    >>> results = run(Protocol.partitions(3), data, methods)
    >>> print(results.table(test=None))
    method       voting
    k-NN    8.05 (1.15)
    1-NN    7.28 (1.33)
    """
    sets = {str(name): _dataset(name, given) for name, given in data.items()}
    if not sets:
        raise ValueError("data must name at least one data set; it is empty.")
    _check_methods(methods)
    with nullcontext(store) if isinstance(store, Store) else Store(store) as opened:
        cells = list(_cells(protocol, sets, methods))
        failed = _work(opened, cells, n_jobs, progress)
        results = _results(protocol, sets, methods, cells, opened)
    if failed:
        first = failed[0]
        message = (
            f"{len(failed)} of {len(cells)} cells failed; run the experiment again to retry them. The first is "
            f"{first.method} on {first.dataset}, partition {first.partition}: {first.message}"
        )
        warnings.warn(message, ExperimentWarning, stacklevel=2)
    return results


def stored(protocol: Protocol, data: Mapping[str, Any], methods: Mapping[str, tuple], store: Store) -> Results:
    """Return the cells of an experiment that a store holds, without computing any.

    Parameters
    ----------
    protocol : Protocol
        The protocol.
    data : mapping of names to tuples (X, y), (X, y, contract) or (X, y, contract, splits)
        The data sets, as in :func:`run`.
    methods : mapping of names to tuples (estimator, grid)
        The methods, as in :func:`run`.
    store : Store
        The store.

    Returns
    -------
    Results
        The results; ``missing`` are the cells that the store does not hold.

    See Also
    --------
    run : Compute every cell (data set, partition, method) of an experiment that the store does not hold yet.
    Store : The finished cells of experiments, in a file or in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude import KNNClassifier
    >>> from similitude.experiments import Protocol, Store, run, stored
    >>> data, methods = {"blocks": (np.kron(np.eye(2), np.ones((5, 5))), [0, 1] * 5)}, {"1-NN": (KNNClassifier(1), {})}
    >>> with Store() as store:
    ...     _ = run(Protocol.partitions(2), data, methods, store)
    ...     stored(Protocol.partitions(3), data, methods, store).missing
    [('blocks', 2, '1-NN')]
    """
    sets = {str(name): _dataset(name, given) for name, given in data.items()}
    _check_methods(methods)
    return _results(protocol, sets, methods, list(_cells(protocol, sets, methods)), store)


def _results(
    protocol: Protocol, sets: Mapping[str, Dataset], methods: Mapping[str, tuple], cells: list[Cell], store: Store
) -> Results:
    first, keys = str(next(iter(methods))), [cell.key for cell in cells]
    return Results(
        protocol=protocol,
        datasets={name: sum(c.dataset == name and c.method == first for c in cells) for name in sets},
        methods=[str(name) for name in methods],
        rows=store.rows(keys),
        failures=store.failures(keys),
    )


def _dataset(name: Any, given: Any) -> Dataset:
    if not isinstance(given, tuple) or not 2 <= len(given) <= 4:
        raise ValueError(f"data[{name!r}] must be a tuple (X, y), (X, y, contract) or (X, y, contract, splits).")
    X, y, contract, splits = Dataset(*given)
    y = np.asarray(labels_in_order(y, X))
    if y.ndim != 1 or len(y) != num_samples(X):
        raise ValueError(f"data[{name!r}]: y must be one label per sample ({num_samples(X)}); got shape {y.shape}.")
    if not isinstance(contract, Mapping):
        raise ValueError(
            f"data[{name!r}]: the contract must be a dict such as {{'similarity': 'vdm'}}; got {contract!r}."
        )
    return Dataset(X, y, contract, splits)


def _check_methods(methods: Mapping[str, tuple]) -> None:
    if not methods:
        raise ValueError("methods must name at least one method; it is empty.")
    for name, method in methods.items():
        if not isinstance(method, tuple) or len(method) != 2 or not hasattr(method[0], "get_params"):
            raise ValueError(f"methods[{name!r}] must be a tuple (estimator, grid); got {method!r}.")


def _cells(protocol: Protocol, sets: Mapping[str, Dataset], methods: Mapping[str, tuple]) -> Iterator[Cell]:
    """Yield all cells, in the order in which they are computed."""
    for name, dataset in sets.items():
        try:
            cuts = protocol.cuts(dataset.y, dataset.splits)
            prepared = {str(m): (_with_contract(e, dataset.contract), grid) for m, (e, grid) in methods.items()}
        except ValueError as error:
            raise ValueError(f"data[{name!r}]: {error}") from error
        data_digest = digest(dataset.X, dataset.y)
        method_digests = {method: digest(estimator, grid) for method, (estimator, grid) in prepared.items()}
        for partition in cuts:
            where = digest(data_digest, partition.train, partition.test, partition.seed, protocol.within)
            for method, (estimator, grid) in prepared.items():
                key = digest(name, method, where, method_digests[method])
                names = (key, name, method, partition, protocol, data_digest, method_digests[method])
                yield Cell(*names, dataset.X, dataset.y, estimator, grid)


def _with_contract(estimator: Any, contract: Mapping[str, Any]) -> Any:
    """Return the method with this similarity; a method that takes none, such as one of scikit-learn, is unchanged."""
    prefixes = list(_readers(estimator)) if contract else []
    values = {f"{prefix}{name}": value for prefix in prefixes for name, value in contract.items()}
    return clone(estimator).set_params(**values) if values else estimator


def _readers(estimator: Any, prefix: str = "") -> Iterator[str]:
    """Yield the prefixes of the parameters of those parts of a method that read X as similarities."""
    estimator, inner = reading_part(estimator)
    prefix += inner
    if isinstance(estimator, SimilarityEstimator):
        yield prefix
    elif hasattr(estimator, "get_params"):
        for name, part in estimator.get_params().items():
            if "__" not in name and hasattr(part, "fit"):
                yield from _readers(part, f"{prefix}{name}__")


def _on_matrix(cell: Cell, matrices: dict[tuple[str, str], Any]) -> Cell:
    """Return the cell on a matrix that is computed once for all cells, if its similarity learns nothing from data."""
    part, prefix = reading_part(cell.estimator)
    few = num_samples(cell.X) <= LARGEST and cell.protocol.kind != "given"
    if not few or not isinstance(part, SimilarityEstimator) or callable(cell.grid):
        return cell
    contract = contract_of(part)
    if contract.is_matrix:
        return cell
    reads_input = input_parameters(cell.estimator)
    grids = [cell.grid] if isinstance(cell.grid, Mapping) else cell.grid
    measure = resolve(part.similarity)
    if measure.learns or any(reads_input(name) for grid in grids for name in grid):
        return cell
    which = cell.dataset, digest(part.similarity)
    if which not in matrices:
        for other in [known for known in matrices if known[0] != cell.dataset]:
            del matrices[other]
        matrices[which] = pairwise(cell.X, similarity=measure)
    on_matrix = {f"{prefix}similarity": "precomputed", f"{prefix}dissimilarity": contract.map_name}
    return replace(cell, X=matrices[which], estimator=clone(cell.estimator).set_params(**on_matrix))


def _ready(cells: list[Cell]) -> Iterator[Cell]:
    """Yield the cells as workers get them."""
    matrices: dict[tuple[str, str], Any] = {}
    for cell in cells:
        try:
            yield _on_matrix(cell, matrices)
        except Exception:
            yield cell  # the error will occur again in the cell, and the other cells are computed


def _work(store: Store, cells: list[Cell], n_jobs: int | None, progress: bool) -> list[Failure]:
    """Compute the cells that the store does not hold, store each, and return the failures."""
    before = store.rows(cell.key for cell in cells)
    known = {row.key for row in before}
    todo = [cell for cell in cells if cell.key not in known]
    failed: list[Failure] = []
    if not todo:
        return failed
    errors: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in before:
        errors[row.dataset][row.method].append(row.error)
    totals, done = Counter(cell.dataset for cell in cells), Counter(row.dataset for row in before)
    with warnings.catch_warnings(), ProgressBars(totals, done, progress) as bars:
        # Workers inherit these filters; for threads, which share them, they are restored at the end.
        warnings.simplefilter("ignore", SimilarityWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        for record in _records(_ready(todo), n_jobs):
            store.add(record)
            if isinstance(record, Row):
                errors[record.dataset][record.method].append(record.error)
            else:
                failed.append(record)
            bars.advance(record.dataset, note=_best_so_far(errors[record.dataset]))
    return failed


def _best_so_far(errors: dict[str, list[float]]) -> str:
    if not errors:
        return ""
    means = {method: float(np.mean(own)) for method, own in errors.items()}
    method = min(means, key=means.__getitem__)
    return f"best so far: {method}, {100 * means[method]:.2f}%"


def _do(cell: Cell) -> Row | Failure:
    return cell.work()


def _records(cells: Iterator[Cell], n_jobs: int | None) -> Iterator[Any]:
    """Yield the record of each cell as soon as it is computed, by the active backend of joblib."""
    backend = get_active_backend()[0]
    client = getattr(backend, "client", None)
    if client is None:
        # All backends of joblib itself can return results in the order in which they are computed.
        return_as = "generator_unordered" if backend.supports_return_generator else "list"
        yield from Parallel(n_jobs=n_jobs, return_as=return_as)(delayed(_do)(cell) for cell in cells)
        return
    # joblib's own loop over the futures of Dask sometimes waits for ever if tasks are short.
    distributed = require("distributed", "dask")
    total = sum(client.nthreads().values())
    running = distributed.as_completed(client.submit(_do, cell, pure=False) for cell in islice(cells, 2 * total))
    for future in running:
        yield future.result()
        for cell in islice(cells, 1):
            running.add(client.submit(_do, cell, pure=False))
