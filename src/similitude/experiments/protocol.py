"""The division of data into training and test parts, and the choice of parameters within a training part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    train_test_split,
)

from similitude._utils.checks import check_choice, check_integer
from similitude._utils.types import ListLike

KINDS = ("partitions", "folds", "leave-one-out", "least leave-one-out", "given")


class Partition(NamedTuple):
    """One division of a data set."""

    number: int
    seed: int
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class Protocol:
    """The protocol of an experiment: the outer partitions, and how parameters are chosen within their training parts.

    Use the class methods: :meth:`partitions`, :meth:`folds`, :meth:`leave_one_out`, :meth:`given`. All randomness is
    determined by ``seed``: partition i (or repetition i of folds) is drawn with the seed ``seed + i``, and so are the
    folds within its training part. Therefore more partitions with the same seed begin with the same ones.

    Parameters
    ----------
    kind : {"partitions", "folds", "leave-one-out", "least leave-one-out", "given"}, default="partitions"
        The kind of the outer partitions.
    n_partitions : int, default=20
        The number of partitions, or of repetitions of the folds.
    test_size : float or int, default=0.2
        The share or number of test samples of random partitions.
    n_folds : int, default=5
        The number of outer folds.
    stratified : bool, default=False
        Whether outer partitions and folds keep the shares of the classes.
    seed : int, default=0
        The seed of the first partition.
    inner : int or "leave-one-out", default=10
        The number of folds within a training part, on which parameters are chosen.
    inner_stratified : bool, default=False
        Whether the inner folds keep the shares of the classes.
    selection : {"pooled", "mean"}, default="pooled"
        "pooled" is the rule of the papers: the fewest errors over all folds together, with ties broken by the order in
        which the grid is written (its first name outermost). "mean" is the rule of scikit-learn: the highest mean
        accuracy of the folds.
    ties : {"first", "last"}, default="first"
        Which of equally good grid points "pooled" chooses.
    inner_test_size : float or int, default=None
        If it is given, parameters are chosen on ``inner`` random splits with this share or number of samples held out.

    See Also
    --------
    run : Compute every cell (data set, partition, method) of an experiment that the store does not hold yet.

    Examples
    --------
    >>> from similitude.experiments import Protocol
    >>> protocol = Protocol.partitions(20, test_size=0.2)
    >>> cuts = protocol.cuts([0, 1] * 10)
    >>> len(cuts), len(cuts[0].train), len(cuts[0].test), cuts[7].seed
    (20, 16, 4, 7)
    """

    kind: Literal["partitions", "folds", "leave-one-out", "least leave-one-out", "given"] = "partitions"
    n_partitions: int = 20
    test_size: float | int = 0.2
    n_folds: int = 5
    stratified: bool = False
    seed: int = 0
    inner: int | str = 10
    inner_stratified: bool = False
    selection: Literal["pooled", "mean"] = "pooled"
    ties: Literal["first", "last"] = "first"
    inner_test_size: float | int | None = None

    def __post_init__(self) -> None:
        for name, allowed in (("kind", KINDS), ("selection", ("pooled", "mean")), ("ties", ("first", "last"))):
            check_choice(getattr(self, name), name, list(allowed))
        for name, least in (("n_partitions", 1), ("n_folds", 2), ("seed", 0), ("inner", 2)):
            value = getattr(self, name)
            if name != "inner" or value != "leave-one-out":
                check_integer(value, name, least, " or 'leave-one-out'" if name == "inner" else "")
        for name in ("test_size", "inner_test_size"):
            size = getattr(self, name)
            share = isinstance(size, Real) and not isinstance(size, (bool, Integral)) and 0 < float(size) < 1
            count = isinstance(size, Integral) and not isinstance(size, bool) and int(size) > 0
            if not (share or count or (name == "inner_test_size" and size is None)):
                raise ValueError(f"{name} must be a share between 0 and 1 or a number of samples; got {size!r}.")
        if self.inner == "leave-one-out" and self.inner_test_size is not None:
            raise ValueError("inner_test_size is for random splits; inner must be their number, not 'leave-one-out'.")

    @classmethod
    def partitions(cls, n_partitions: int = 20, *, test_size: float | int = 0.2, **options: Any) -> Protocol:
        """Return a protocol of random partitions into a training and a test part.

        Parameters
        ----------
        n_partitions : int, default=20
            The number of partitions.
        test_size : float or int, default=0.2
            The share or number of test samples.
        **options
            The other parameters of the class.

        Returns
        -------
        Protocol
            The protocol.
        """
        return cls("partitions", n_partitions, test_size, **options)

    @classmethod
    def folds(cls, n_folds: int = 5, *, repeats: int = 1, stratified: bool = True, **options: Any) -> Protocol:
        """Return a protocol of folds, each of which is the test part once.

        Parameters
        ----------
        n_folds : int, default=5
            The number of folds.
        repeats : int, default=1
            The number of repetitions, each with other folds.
        stratified : bool, default=True
            Whether the folds keep the shares of the classes.
        **options
            The other parameters of the class.

        Returns
        -------
        Protocol
            The protocol.
        """
        return cls("folds", repeats, n_folds=n_folds, stratified=stratified, **options)

    @classmethod
    def leave_one_out(cls, *, nested: bool = True, **options: Any) -> Protocol:
        """Return a protocol in which each sample is the test part once.

        Parameters
        ----------
        nested : bool, default=True
            Whether parameters are chosen within each training part. If not, there is one result per method: the least
            leave-one-out error over its grid. Parameters are then chosen by the errors that are reported, as in some
            papers, which is optimistic.
        **options
            The other parameters of the class.

        Returns
        -------
        Protocol
            The protocol.
        """
        return cls("leave-one-out" if nested else "least leave-one-out", 1, **options)

    @classmethod
    def given(cls, n_partitions: int | None = None, **options: Any) -> Protocol:
        """Return a protocol of the splits that come with the data.

        Parameters
        ----------
        n_partitions : int, default=None
            The number of splits to use, beginning with the first; None means all.
        **options
            The other parameters of the class.

        Returns
        -------
        Protocol
            The protocol.
        """
        return cls("given", 10**9 if n_partitions is None else n_partitions, **options)

    def cuts(self, y: ListLike, splits: Sequence | None = None) -> list[Partition]:
        """Return the partitions of a data set with these labels.

        Parameters
        ----------
        y : array-like of shape (n,)
            The labels.
        splits : sequence of pairs of positions, default=None
            The splits that come with the data.

        Returns
        -------
        list of Partition
            The partitions.
        """
        y = np.asarray(y)
        n, everything = len(y), np.arange(len(y))
        if self.kind == "given":
            return self._given(n, splits)
        if self.kind == "least leave-one-out":
            return [Partition(0, self.seed, everything, everything)]
        if self.kind == "leave-one-out":
            return [Partition(i, self.seed, train, test) for i, (train, test) in enumerate(LeaveOneOut().split(y))]
        seeds = range(self.seed, self.seed + self.n_partitions)
        labels = y if self.stratified else None
        if self.kind == "partitions":
            pairs = [
                (seed, *train_test_split(everything, test_size=self.test_size, random_state=seed, stratify=labels))
                for seed in seeds
            ]
        else:
            kind = StratifiedKFold if self.stratified else KFold
            pairs = [
                (seed, train, test)
                for seed in seeds
                for train, test in kind(self.n_folds, shuffle=True, random_state=seed).split(everything, y)
            ]
        return [Partition(i, *pair) for i, pair in enumerate(pairs)]

    def _given(self, n: int, splits: Sequence | None) -> list[Partition]:
        if splits is None:
            raise ValueError("the protocol uses the splits that come with the data, but there are none.")
        cuts = []
        for i, (train, test) in enumerate(list(splits)[: self.n_partitions]):
            train, test = np.asarray(train), np.asarray(test)
            for part in (train, test):
                if part.ndim != 1 or part.dtype.kind not in "iu" or not len(part) or part.min() < 0 or part.max() >= n:
                    raise ValueError(f"splits[{i}] must hold positions of samples, 0 to {n - 1}, in both parts.")
            if len(np.intersect1d(train, test)):
                raise ValueError(f"splits[{i}]: a sample is in both the training and the test part.")
            cuts.append(Partition(i, self.seed + i, train, test))
        return cuts

    def inner_folds(self, seed: int) -> Any:
        """Return the splitter of a training part on which parameters are chosen.

        Parameters
        ----------
        seed : int
            The seed of the partition.

        Returns
        -------
        splitter
            A splitter of scikit-learn.
        """
        if self.inner == "leave-one-out" or self.kind == "least leave-one-out":
            return LeaveOneOut()
        if self.inner_test_size is not None:
            random = StratifiedShuffleSplit if self.inner_stratified else ShuffleSplit
            return random(self.inner, test_size=self.inner_test_size, random_state=seed)
        kind = StratifiedKFold if self.inner_stratified else KFold
        return kind(self.inner, shuffle=True, random_state=seed)

    @property
    def within(self) -> tuple:
        """The settings that determine what is done within a partition, which is itself identified by its samples."""
        least = self.kind == "least leave-one-out"
        known = (least, str(self.inner), self.inner_stratified, self.selection, self.ties)
        # Appended only if it is given, so that cells in older stores, written before it existed, are still found.
        return known if self.inner_test_size is None else (*known, self.inner_test_size)

    @property
    def description(self) -> str:
        """A description in words, without the number of partitions."""
        shape = "stratified " if self.stratified else ""
        text = {
            "partitions": f"random {shape}partitions, test part {self.test_size:g}",
            "folds": f"{self.n_folds} {shape}folds",
            "leave-one-out": "leave-one-out",
            "least leave-one-out": "least leave-one-out error over the parameters",
            "given": "the data's own splits",
        }[self.kind]
        if self.kind == "least leave-one-out":
            return text
        inner = "leave-one-out" if self.inner == "leave-one-out" else f"{self.inner} folds"
        if self.inner_test_size is not None:
            inner = f"{self.inner} random splits, {self.inner_test_size:g} held out,"
        return f"{text}; parameters by {inner} within the training part"

    def __str__(self) -> str:
        if self.kind == "folds" and self.n_partitions > 1:
            return f"{self.n_partitions} times {self.description}"
        return f"{self.n_partitions} {self.description}" if self.kind == "partitions" else self.description
