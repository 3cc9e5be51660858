"""A tree of labels, such as EC numbers or a taxonomy, and lineages as labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from similitude._utils.checks import did_you_mean, is_missing

_NOTHING = {"", "-", "na", "n/a", "nan", "null", "none", "unknown", "unclassified"}
"""The parts at the end of a lineage that mean that it is not known any further."""
_SHOWN = 5


class LabelTree:
    """A tree whose nodes are labels: each node but the top ones has one parent.

    Parameters
    ----------
    parents : dict, or sequence of (child, parent)
        The parent of each node; None, an empty text, or the node itself for a node at the top.

    Attributes
    ----------
    nodes : ndarray of str of shape (N,)
        The nodes: parents before their children, and the children of a node beside one another.
    parent : ndarray of int of shape (N,)
        The position of the parent of each node; -1 for the top nodes.
    depth : ndarray of int of shape (N,)
        The depth of each node; that of the top nodes is 1.

    See Also
    --------
    HierarchicalClassifier : Predicts the node of a tree at a confidence.
    MultilabelClassifier : Predicts several labels, which may be nodes of a tree.

    Examples
    --------
    >>> from similitude import LabelTree
    >>> LabelTree([("cat", "animal"), ("dog", "animal"), ("oak", "plant"), ("animal", None), ("plant", None)])
    LabelTree of 5 nodes, 2 of rank 1, 3 of rank 2
    >>> tree = LabelTree.from_lineages(["1.1.1", "1.1.2", "2.7.-"], ".")
    >>> tree.nodes.tolist()
    ['1', '2', '1.1', '2.7', '1.1.1', '1.1.2']
    >>> tree.ancestors("1.1.2")
    ['1', '1.1', '1.1.2']
    """

    def __init__(self, parents: Mapping[Any, Any] | Iterable[tuple[Any, Any]]):
        above = _checked_parents(parents)
        depths = _checked_depths(above)
        order = sorted(above, key=lambda node: (depths[node], _line(node, above)))
        place = {node: i for i, node in enumerate(order)}
        self.nodes = np.array(order, dtype=str)
        self.parent = np.array([place.get(above[node] or "", -1) for node in order], dtype=np.intp)
        self.depth = np.array([depths[node] for node in order], dtype=np.intp)

    @classmethod
    def from_lineages(cls, lineages: Iterable[Any], separator: str | None = None) -> LabelTree:
        """Return the tree of some lineages.

        Parameters
        ----------
        lineages : iterable of str, or of sequences of str
            Lineages from coarse to fine: text such as "1.2.3.4" with a ``separator``, or sequences such as rows of a
            table. A part that is empty, "-" or "NA" ends a lineage, which is then known to an inner node only.
        separator : str, default=None
            What stands between the parts of a text.

        Returns
        -------
        LabelTree
            The tree. A node is named by its whole lineage, with the separator (";" for sequences) between its parts, so
            that parts of the same name below different parents stay different.
        """
        parents: dict[str, str | None] = {}
        for lineage in lineages:
            above = None
            for node in nodes_of_lineage(lineage, separator):
                parents[node] = above
                above = node
        if not parents:
            raise ValueError("lineages: none of them has a node.")
        return cls(parents)

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        ranks = [f"{np.count_nonzero(self.depth == d)} of rank {d}" for d in range(1, self.n_ranks + 1)]
        return f"LabelTree of {len(self)} nodes, {', '.join(ranks)}"

    @property
    def n_ranks(self) -> int:
        """The largest depth of a node."""
        return int(self.depth.max())

    @property
    def is_leaf(self) -> np.ndarray:
        """Whether each node has no children."""
        return ~np.isin(np.arange(len(self)), self.parent)

    def position(self, node: Any) -> int:
        """Return the position of a node in ``nodes``, or raise a ValueError if it is not in the tree.

        Parameters
        ----------
        node : str
            The name of the node.

        Returns
        -------
        int
            The position.
        """
        found = self._places().get(str(node))
        if found is None:
            names = self.nodes.tolist()
            raise ValueError(f"y: the label {str(node)!r} is not in the tree.{did_you_mean(str(node), names)}")
        return found

    def ancestors(self, node: Any) -> list[str]:
        """Return the nodes from the top to a node, which is the last one.

        Parameters
        ----------
        node : str
            The name of the node.

        Returns
        -------
        list of str
            The nodes.
        """
        return [str(self.nodes[i]) for i in self.line(self.position(node))]

    def line(self, position: int) -> list[int]:
        """Return the positions of the nodes from the top to the node at a position.

        Parameters
        ----------
        position : int
            The position of the node in ``nodes``.

        Returns
        -------
        list of int
            The positions.
        """
        found = [int(position)]
        while self.parent[found[-1]] >= 0:
            found.append(int(self.parent[found[-1]]))
        return found[::-1]

    def lines(self) -> np.ndarray:
        """Return the node of each rank on the way to each node.

        Returns
        -------
        ndarray of int of shape (N, ranks)
            Positions in ``nodes``; -1 below the node.
        """
        found = np.full((len(self), self.n_ranks), -1, dtype=np.intp)
        for i in range(len(self)):  # parents come first
            if self.parent[i] >= 0:
                found[i] = found[self.parent[i]]
            found[i, self.depth[i] - 1] = i
        return found

    def _places(self) -> dict[str, int]:
        return {node: i for i, node in enumerate(self.nodes.tolist())}

    def positions(self, labels: Iterable[Any]) -> np.ndarray:
        """Return the positions of several nodes, or raise a ValueError if one is not in the tree.

        Parameters
        ----------
        labels : iterable of str
            The names of the nodes.

        Returns
        -------
        ndarray of int
            The positions.
        """
        places = self._places()
        found = [places.get(str(label), -1) for label in labels]
        if -1 in found:
            self.position(list(labels)[found.index(-1)])
        return np.array(found, dtype=np.intp)


def nodes_of_lineage(lineage: Any, separator: str | None) -> list[str]:
    """Return the names of the nodes of one lineage, from coarse to fine."""
    if isinstance(lineage, str) or not isinstance(lineage, (Sequence, np.ndarray)):
        if separator is None:
            raise ValueError(f"separator must be given for lineages that are text, such as {lineage!r}.")
        parts, between = str(lineage).split(separator), separator
    else:
        parts, between = ["" if is_missing(part) else str(part) for part in lineage], separator or ";"
    parts = [part.strip() for part in parts]
    while parts and parts[-1].lower() in _NOTHING:
        parts.pop()
    if any(part.lower() in _NOTHING for part in parts):
        raise ValueError(f"y: the lineage {lineage!r} has a gap before its last part; only its end may be unknown.")
    return [between.join(parts[: i + 1]) for i in range(len(parts))]


def _checked_parents(parents: Any) -> dict[str, str | None]:
    """Return the parent of each node by name, also of those that occur as parents only."""
    pairs = list(parents.items()) if isinstance(parents, Mapping) else list(parents)
    found: dict[str, str | None] = {}
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError(f"parents must be pairs (child, parent); got {pair!r}.")
        child, parent = (None if is_missing(name) or not str(name).strip() else str(name).strip() for name in pair)
        if child is None:
            raise ValueError(f"parents: the pair {tuple(pair)!r} has no child.")
        parent = None if parent == child else parent
        if child in found and found[child] != parent:
            raise ValueError(
                f"parents: {child!r} has two parents, {found[child] or 'none'!r} and {parent or 'none'!r}; in a tree "
                "each node has one."
            )
        found[child] = parent
    if not found:
        raise ValueError("parents: the tree has no nodes.")
    for parent in [parent for parent in found.values() if parent is not None]:
        found.setdefault(parent, None)
    return found


def _checked_depths(above: dict[str, str | None]) -> dict[str, int]:
    """Return the depth of each node, or raise a ValueError if some are their own ancestors."""
    depths: dict[str, int] = {}
    for node in above:
        way: dict[str, None] = {}
        at: str | None = node
        while at is not None and at not in depths:
            if at in way:
                cycle = list(way)[list(way).index(at) :]
                shown = " -> ".join([*cycle[:_SHOWN], *(["..."] if len(cycle) > _SHOWN else []), at])
                raise ValueError(f"parents: the tree has a cycle: {shown}; a node cannot be its own ancestor.")
            way[at] = None
            at = above[at]
        depth = 0 if at is None else depths[at]
        for step in reversed(way):
            depth += 1
            depths[step] = depth
    return depths


def _line(node: str, above: dict[str, str | None]) -> list[str]:
    """Return the names from the top to a node."""
    found, at = [node], above[node]
    while at is not None:
        found.append(at)
        at = above[at]
    return found[::-1]
