"""The posterior of the nodes of a tree, from the votes for them, with what may belong to a leaf that was never seen.

From the top down, the probability of a child c of the node v is::

    P(c | x) = P(v | x) (1 - u_v(x)) rho_c(x),   rho_c(x) proportional to (r_c(x) + q(x) n_c / n_v)^a

where r_c is the share of c among the votes for children of v, and n_c of the n_v training samples below v belong to c;
q depends on how near x is to its nearest training sample.
So the probability of a node is the sum of those of its leaves, if the samples that belong to none of the known
children of v, with probability P(v | x) u_v(x), count as one more leaf. u_v(x) is a logistic function of how near x is
to its nearest training sample, of how much the votes agree, and of the share of the children of v that have a single
sample: by the rule of Good and Turing that is how often a new sample belongs to none of those seen. All of it is
learned from left-out samples, among which are those whose leaf has no other sample.

Reference: Good, "The population frequencies of species and the estimation of population parameters", Biometrika 40,
1953.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from similitude.multilabel.left_out import LeftOut, NearnessScale, fit_logistic, greedy_weights, sigmoid
from similitude.multilabel.tree import LabelTree

_PENALTY = 1.0
_START = (0.0, -3.0)
"""The logarithms of a and q to which the parameters are drawn where there are few samples."""
_BOUNDS = ((-1.5, 1.5), (-9.0, 2.0))
_DRAWN = 10.0
"""How strongly the parameters of a rank are drawn to those of all ranks, in samples."""


@dataclass(frozen=True)
class Levels:
    """The nodes of a tree rank by rank: those of one rank, and the children of one node, are beside one another."""

    starts: np.ndarray
    """Where the nodes of each rank start, and the number of all nodes."""
    parent: np.ndarray

    @classmethod
    def of(cls, tree: LabelTree) -> Levels:
        """Return the ranks of a tree."""
        starts = np.searchsorted(tree.depth, np.arange(1, tree.n_ranks + 2))
        return cls(starts, tree.parent)

    @property
    def n_ranks(self) -> int:
        """The number of ranks."""
        return len(self.starts) - 1

    def part(self, d: int) -> slice:
        """Return the nodes of rank d + 1."""
        return slice(int(self.starts[d]), int(self.starts[d + 1]))

    def groups(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Return where the children of each parent start among the nodes of a rank, and the parents (-1: the top)."""
        parents = self.parent[self.part(d)]
        first = np.flatnonzero(np.append(True, parents[1:] != parents[:-1]))
        return first, parents[first]

    def sums_of_children(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over the children of each node, along the last axis."""
        found = np.zeros_like(values)
        for d in range(1, self.n_ranks):
            first, parents = self.groups(d)
            found[..., parents] = np.add.reduceat(values[..., self.part(d)], first, axis=-1)
        return found


def novelty_odds(counts: np.ndarray, levels: Levels) -> list[np.ndarray]:
    """Return for each rank the log-odds, by the rule of Good and Turing, that a sample is in none of its nodes.

    There is one value for each parent, in the order of :meth:`Levels.groups`.
    """
    found = []
    for d in range(levels.n_ranks):
        first, _ = levels.groups(d)
        own = counts[levels.part(d)]
        total, single = np.add.reduceat(own, first), np.add.reduceat((own == 1).astype(float), first)
        found.append(np.log((single + 0.5) / (total - single + 1.0)))
    return found


@dataclass(frozen=True)
class RankModel:
    """The parameters of one rank: the weights of the points, and the coefficients of log a and log q, and of u."""

    weights: np.ndarray
    votes: np.ndarray
    novelty: np.ndarray


@dataclass(frozen=True)
class NodeModel:
    """The parameters of all ranks, and the posterior of samples without evidence."""

    ranks: list[RankModel]
    scale: NearnessScale
    none: np.ndarray
    n_without: int

    def posteriors(
        self, scores: list[Any], near: np.ndarray, evidence: np.ndarray, counts: np.ndarray, levels: Levels
    ) -> np.ndarray:
        """Return the posteriors of all nodes, (m, N); ``scores`` are the sparse scores of the points, (m, N)."""
        m, N = len(near), len(counts)
        found = np.zeros((m, N))
        basis, odds = self.scale.features(near), novelty_odds(counts, levels)
        for d, rank in enumerate(self.ranks):
            part, (first, parents) = levels.part(d), levels.groups(d)
            used = [(weight, own[:, part]) for weight, own in zip(rank.weights, scores) if weight > 0]
            votes = np.zeros((m, part.stop - part.start))
            for weight, own in used:
                votes += weight * own.toarray()
            sums, largest = (reduce.reduceat(votes, first, axis=1) for reduce in (np.add, np.maximum))
            lengths = np.diff(np.append(first, votes.shape[1]))
            own, below = counts[part], np.add.reduceat(counts[part], first)
            shares = own / np.repeat(np.maximum(below, 1.0), lengths)
            votes /= np.repeat(np.where(sums > 0, sums, 1.0), lengths, axis=1)
            q = np.exp(np.clip(rank.votes[1] + basis @ rank.votes[2:], -20.0, 5.0))
            rho = np.where(own > 0, (votes + q[:, None] * shares) ** np.exp(rank.votes[0]), 0.0)
            total = np.repeat(np.add.reduceat(rho, first, axis=1), lengths, axis=1)
            rho = rho / np.where(total > 0, total, 1.0)
            novel = self._novelty(rank, basis, odds[d], sums, largest)
            above = np.ones((m, 1)) if d == 0 else found[:, parents]
            found[:, part] = np.repeat(above * (1.0 - novel), lengths, axis=1) * rho
        found[~evidence] = self.none
        return found

    @staticmethod
    def _novelty(
        rank: RankModel, basis: np.ndarray, odds: np.ndarray, sums: np.ndarray, largest: np.ndarray
    ) -> np.ndarray:
        """Return u of each row and parent, (m, parents)."""
        n_basis = basis.shape[1]
        constant, near, rest = rank.novelty[0], rank.novelty[1 : 1 + n_basis], rank.novelty[1 + n_basis :]
        agreement = np.where(sums > 0, largest / np.where(sums > 0, sums, 1.0), 0.0)
        z = constant + (basis @ near)[:, None] + rest[0] * odds + rest[1] * agreement + rest[2] * (sums > 0)
        return sigmoid(z + rest[3] * np.minimum(sums, 1.0))


@dataclass(frozen=True)
class _Cases:
    """Left-out samples at one rank, each below its true parent: which child it has, and what was voted for."""

    features: np.ndarray
    unseen: np.ndarray
    voted: np.ndarray
    """The case of each entry."""
    ratios: np.ndarray
    shares: np.ndarray
    own: np.ndarray
    """The entry of the true child of each case, or -1 if it has no votes."""
    own_share: np.ndarray
    all_shares: np.ndarray
    """The shares of the known children of the parents, group by group."""
    groups: np.ndarray
    """Where each group starts."""
    group: np.ndarray
    """The group of each case."""

    @property
    def basis(self) -> np.ndarray:
        """The functions of the nearness, (cases, 4)."""
        return self.features[:, 1:-4]

    def fitted_votes(self) -> np.ndarray:
        """Return the coefficients of log a and log q with the largest penalised likelihood of the known children."""
        start = np.append(_START, np.zeros(self.basis.shape[1]))
        bounds = [*_BOUNDS, *((-5.0, 5.0),) * self.basis.shape[1]]
        return minimize(self._loss, start, args=(start,), jac=True, method="L-BFGS-B", bounds=bounds).x

    def _loss(self, theta: np.ndarray, centre: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the negative log-likelihood of the children that are known, with a penalty, and its gradient."""
        a, log_q = np.exp(theta[0]), theta[1] + self.basis @ theta[2:]
        q, at = np.exp(log_q), self.voted
        powers = self.all_shares**a
        sums, log_sums = (
            np.add.reduceat(values, self.groups)[self.group] for values in (powers, powers * np.log(self.all_shares))
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            zero = q[at] * self.shares
            some, both = zero**a, (self.ratios + zero) ** a
            logs = np.log(self.ratios + zero)
            zero_logs = np.where(zero > 0, some * np.log(zero), 0.0)

        def added(values: np.ndarray) -> np.ndarray:
            return np.bincount(at, values, minlength=len(q))

        total = q**a * sums + added(both - some)
        by_a = q**a * (log_sums + log_q * sums) + added(both * logs - zero_logs)
        by_q = a * (q**a * sums + added(both * zero / (self.ratios + zero) - some))
        known = ~self.unseen
        ratio = np.where(self.own >= 0, self.ratios[self.own], 0.0) if len(self.ratios) else np.zeros(len(q))
        own = ratio + q * self.own_share
        z = a * np.log(own[known]) - np.log(total[known])
        slope_a = np.log(own[known]) - by_a[known] / total[known]
        slope_q = a * (q * self.own_share)[known] / own[known] - by_q[known] / total[known]
        slope = np.concatenate([[a * slope_a.sum(), slope_q.sum()], slope_q @ self.basis[known]])
        gap = theta - centre
        return -float(z.sum()) + _PENALTY * float(gap @ gap) / 2, -slope + _PENALTY * gap


def fit_node_model(
    left_out: LeftOut, tree: LabelTree, truth: np.ndarray, counts: np.ndarray, combine: str, without: int | None
) -> NodeModel:
    """Return the parameters that are learned from left-out samples, if ``without`` is given without those of a fold.

    ``truth`` are the positions of the labels in the tree, ``counts`` (folds, N) the numbers of training samples of each
    node in each fold.
    """
    levels, lines = Levels.of(tree), tree.lines()[truth]
    used = (left_out.parts >= 0) & left_out.evidence
    lacking = (left_out.parts >= 0) & ~left_out.evidence
    if without is not None:
        used, lacking = used & (left_out.parts != without), lacking & (left_out.parts != without)
    scale = NearnessScale.learn(left_out.near[used])
    entry_used = used[left_out.rows]
    depth = tree.depth[left_out.columns]
    weights = []
    for d in range(levels.n_ranks):
        chosen = entry_used & ((depth == d + 1) if combine == "rank" else tree.is_leaf[left_out.columns])
        products, own = left_out.products(chosen if chosen.any() else entry_used)
        weights.append(greedy_weights(products, own) if own.any() else np.full(len(own), 1.0 / len(own)))
    cases = [_cases(left_out, levels, lines, counts, d, weights[d], used, scale) for d in range(levels.n_ranks)]
    together = _logistic([case for case in cases if case is not None], None)
    ranks = []
    for d, case in enumerate(cases):
        if case is None:
            ranks.append(RankModel(weights[d], np.append(_START, np.zeros(4)), together))
        else:
            ranks.append(RankModel(weights[d], case.fitted_votes(), _logistic([case], together)))
    totals = np.bincount(lines[lines >= 0], minlength=len(tree)).astype(float)
    none = without_evidence(tree, lines[lacking], totals)
    return NodeModel(ranks, scale, none, int(lacking.sum()))


def _logistic(cases: list[_Cases], centre: np.ndarray | None) -> np.ndarray:
    """Return the coefficients of u, which are drawn to those of all ranks."""
    if not cases:
        return np.append(-10.0, np.zeros(8))
    X, y = np.concatenate([case.features for case in cases]), np.concatenate([case.unseen for case in cases])
    start = np.append(-3.0, np.zeros(X.shape[1] - 1)) if centre is None else centre
    return fit_logistic(X, y.astype(float), np.ones(len(y)), _PENALTY if centre is None else _DRAWN, start)


def _cases(
    left_out: LeftOut,
    levels: Levels,
    lines: np.ndarray,
    counts: np.ndarray,
    d: int,
    weights: np.ndarray,
    used: np.ndarray,
    scale: NearnessScale,
) -> _Cases | None:
    """Return the left-out samples whose label reaches rank d + 1 and whose parent there is known in their fold."""
    folds = np.maximum(left_out.parts, 0)
    above = lines[:, d - 1] if d else np.full(len(lines), -1)
    reaches = used & (lines[:, d] >= 0)
    if d:
        reaches &= counts[folds, np.maximum(above, 0)] > 0
    samples = np.flatnonzero(reaches)
    if not len(samples):
        return None
    place = np.full(len(lines), -1)
    place[samples] = np.arange(len(samples))
    part, (first, parents) = levels.part(d), levels.groups(d)
    entries = np.flatnonzero(
        (left_out.columns >= part.start) & (left_out.columns < part.stop) & (place[left_out.rows] >= 0)
    )
    entries = entries[levels.parent[left_out.columns[entries]] == above[left_out.rows[entries]]]
    votes = left_out.values[entries].astype(float) @ weights
    entries, votes = entries[votes > 0], votes[votes > 0]
    columns, case = left_out.columns[entries], place[left_out.rows[entries]]
    sums = np.bincount(case, votes, minlength=len(samples))
    ratios = votes / sums[case]
    agreement = np.zeros(len(samples))
    np.maximum.at(agreement, case, ratios)
    group_of = np.full(len(levels.parent) + 1, -1)
    group_of[parents] = np.arange(len(parents))  # the top is the last place
    fold, group = folds[samples], group_of[above[samples]]
    below = np.add.reduceat(counts[:, part], first, axis=1)
    shares = counts[:, part] / np.repeat(np.maximum(below, 1.0), np.diff(np.append(first, counts[:, part].shape[1])), 1)
    odds = np.array([novelty_odds(own, levels)[d] for own in counts])
    child = lines[samples, d] - part.start
    own = np.full(len(samples), -1)
    is_own = columns - part.start == child[case]
    own[case[is_own]] = np.flatnonzero(is_own)
    keys, numbers = np.unique(fold * len(parents) + group, return_inverse=True)
    stops = np.append(first, shares.shape[1])
    known = [shares[key // len(parents), stops[key % len(parents)] : stops[key % len(parents) + 1]] for key in keys]
    known = [own[own > 0] if own.any() else np.ones(1) for own in known]
    extra = [odds[fold, group], agreement, (sums > 0).astype(float), np.minimum(sums, 1.0)]
    features = np.column_stack([np.ones(len(samples)), scale.features(left_out.near[samples]), *extra])
    return _Cases(
        features,
        counts[fold, lines[samples, d]] == 0,
        case,
        ratios,
        shares[fold[case], columns - part.start],
        own,
        shares[fold, child],
        np.concatenate(known),
        np.cumsum([0, *(len(own) for own in known[:-1])]),
        numbers,
    )


@dataclass(frozen=True)
class _NoEvidence:
    """Counts from which the posterior of rows without evidence follows, from the top of the tree down.

    Of the samples without evidence ``counts`` (N,) belong to each node, and ``single`` (N + 1,) to children of it with
    no other sample; ``totals`` (N,) are the numbers of all training samples, ``all_single`` (N + 1,) of those that are
    the only ones of a child. The last place of arrays of parents is the top. With K additional samples that are
    distributed like all training samples, as many as there are top nodes::

        u_v = (single_v + all_single_v / n_v) / (count_v + 1)
        P(c) = P(v) (1 - u_v) (count_c + K n_c / n_v) / (count_v + K)
    """

    counts: np.ndarray
    totals: np.ndarray
    single: np.ndarray
    all_single: np.ndarray
    below: np.ndarray
    totals_below: np.ndarray
    top: float

    @classmethod
    def of(cls, tree: LabelTree, lines: np.ndarray, totals: np.ndarray) -> _NoEvidence:
        counts = np.bincount(lines[lines >= 0], minlength=len(tree)).astype(float)

        def by_parent(values: np.ndarray) -> np.ndarray:
            return np.bincount(np.where(tree.parent < 0, len(tree), tree.parent), values, minlength=len(tree) + 1)

        single, all_single = (by_parent(np.where(totals == 1, values, 0.0)) for values in (counts, totals))
        top = float(np.count_nonzero(tree.depth == 1))
        return cls(counts, totals, single, all_single, by_parent(counts), by_parent(totals), top)

    def child(
        self, single: Any, all_single: Any, below: Any, totals_below: Any, count: Any, total: Any
    ) -> tuple[Any, Any]:
        """Return u of a node, and the share of one of its children."""
        novel = (single + all_single / np.maximum(totals_below, 1.0)) / (below + 1.0)
        known = (count + self.top * total / np.maximum(totals_below, 1.0)) / (below + self.top)
        return np.minimum(novel, 1.0), known


def without_evidence(tree: LabelTree, lines: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Return the posterior of rows without evidence.

    ``lines`` are the nodes of the left-out samples without evidence, ``totals`` the numbers of all training samples.
    """
    found, own = np.zeros(len(tree)), _NoEvidence.of(tree, lines, totals)
    for i in range(len(tree)):  # parents come first
        v = tree.parent[i] if tree.parent[i] >= 0 else len(tree)
        novel, share = own.child(
            own.single[v], own.all_single[v], own.below[v], own.totals_below[v], own.counts[i], totals[i]
        )
        found[i] = (1.0 if v == len(tree) else found[v]) * (1.0 - novel) * (share if totals[i] else 0.0)
    return found


def scores_without_evidence(tree: LabelTree, lines: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Return for each left-out sample without evidence the probability of what is true, by all others of them.

    It is what :func:`without_evidence` would return without the sample: for its leaf or, if that has no other sample,
    for an unseen leaf below the last node that has.
    """
    own = _NoEvidence.of(tree, lines, totals)
    found, going = np.ones(len(lines)), np.ones(len(lines), dtype=bool)
    for d in range(lines.shape[1]):
        at = np.flatnonzero(going & (lines[:, d] >= 0))
        node = lines[at, d]
        v = np.where(tree.parent[node] < 0, len(tree), tree.parent[node])
        alone = totals[node] == 1
        becomes_single = totals[node] == 2
        novel, share = own.child(
            own.single[v] - alone + (becomes_single & (own.counts[node] == 2)),
            own.all_single[v] - alone + becomes_single,
            own.below[v] - 1,
            own.totals_below[v] - 1,
            own.counts[node] - 1,
            totals[node] - 1,
        )
        found[at] *= np.where(alone, novel, (1.0 - novel) * share)
        going[at[alone]] = False
    return found
