"""The result of one method in a comparison."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from similitude._utils.extras import require
from similitude.proximity.unknown import NEEDS_ALL_PAIRS

COMBINATION = "combination"
"""The name of the combination of methods on a leaderboard."""

BY_EVIDENCE = ("error_with_evidence", "error_without_evidence", "without_evidence")
"""The fields of a standing that :func:`by_evidence` returns."""

UNEQUAL = 1.5
"""The ratio of the sizes of the largest and the smallest class from which on the balanced error is shown."""

_ON = " on "


@dataclass(frozen=True)
class LeaderboardRow:
    """The result of one method, or of the combination, on a leaderboard."""

    method: str
    error: Any
    standard_error: Any
    parameters: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    loss: float | None = None
    optimistic_error: float | None = None
    weight: float = 0.0
    p_value: float | None = None
    chosen: bool = False
    failure: str | None = None
    similarity: str | None = None
    error_with_evidence: float | None = None
    error_without_evidence: float | None = None
    without_evidence: float = 0.0
    score: float | None = None
    n_folds: int | None = None
    error_of_others: float | None = None
    balanced_error: float | None = None
    """The mean of the errors of the classes, if their sizes differ (:func:`balanced_error`)."""

    @property
    def stopped(self) -> bool:
        """Whether the method was evaluated on some of the folds only; the others' error is that on the same folds."""
        return self.error_of_others is not None

    @property
    def name(self) -> str:
        """The method, and the similarity if there are several."""
        return name_on(self.method, self.similarity)


@dataclass(frozen=True, repr=False)
class Leaderboard(Sequence):
    """The methods and their combination, the best first; ``print`` shows them as a table.

    Methods that were stopped, because the combination could not be expected to gain from them, come last.

    Parameters
    ----------
    rows : list of LeaderboardRow
        The methods.
    """

    rows: list[LeaderboardRow]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: Any) -> Any:
        return self.rows[i]

    def _table(self) -> list[dict[str, str]]:
        found = []
        for row in self.rows:
            cells = {"method": row.name}
            if self.rows[0].score is not None:
                cells["score"] = "" if row.score is None else f"{row.score:.4f}"
            cells["error %"] = f"{100 * row.error:.1f}"
            cells["s.e."] = f"{100 * row.standard_error:.1f}"
            if self.rows[0].balanced_error is not None:
                cells["balanced %"] = "" if row.balanced_error is None else f"{100 * row.balanced_error:.1f}"
            cells["weight"] = f"{row.weight:.2f}" if row.weight else ""
            cells["seconds"] = f"{row.seconds:.1f}"
            note = "" if row.p_value is None else f"p = {row.p_value:.2g}"
            if row.error_of_others is not None:
                folds = f"{row.n_folds} fold{'' if row.n_folds == 1 else 's'}"
                note = f"stopped after {folds}; others {100 * row.error_of_others:.1f}% there"
            cells["note"] = "chosen" if row.chosen else note
            found.append(cells)
        return found

    def __repr__(self) -> str:
        table = self._table()
        rows = [list(table[0]), *(list(cells.values()) for cells in table)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        return "\n".join("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows)

    def _repr_html_(self) -> str:
        table = self._table()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in table[0])
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in cells.values()) + "</tr>" for cells in table
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def to_frame(self) -> Any:
        """Return the rows as a DataFrame, with a column for each field.

        Returns
        -------
        pandas.DataFrame
            One row for each method.
        """
        return require("pandas", "data").DataFrame([{"name": row.name, **asdict(row)} for row in self.rows])


def by_evidence(wrong: np.ndarray, lacking: np.ndarray, weights: np.ndarray | None = None) -> dict[str, Any]:
    """Return the errors with and without evidence and the share without, by the names of the fields of a standing."""
    shares = [1.0 - lacking, lacking] if weights is None else [(1.0 - lacking) * weights, lacking * weights]
    errors = [float(np.average(wrong, weights=own)) if own.any() else None for own in shares]
    return dict(zip(BY_EVIDENCE, [*errors, float(np.average(lacking, weights=weights))]))


def balanced_error(wrong: np.ndarray, codes: np.ndarray, weights: np.ndarray | None = None) -> float | None:
    """Return the mean of the errors of the classes, or None if these are of about the same size.

    If one class is much larger than another, a small error may hide that the other is hardly ever recognised.
    """
    counts = np.bincount(codes, weights)
    present = counts > 0
    if counts[present].max() < UNEQUAL * counts[present].min():
        return None
    wrong = wrong if weights is None else wrong * weights
    return float(np.mean(np.bincount(codes, wrong)[present] / counts[present]))


def name_on(method: str, similarity: str | None) -> str:
    """Return the name of a method on one of several similarities."""
    return method if similarity is None else f"{method}{_ON}{similarity}"


def failure_text(failures: Mapping[str, str], where: str) -> str:
    """Return a warning that names the methods that failed; those that need all pairs share one phrase."""
    need_all = [name for name, why in failures.items() if NEEDS_ALL_PAIRS in why]
    others = [name for name in failures if name not in need_all]
    parts = []
    if need_all:
        parts.append(
            f"some pairs are unknown, and these methods need all pairs: {names_text(need_all)}; "
            "Proximities(X, fill='class-blind mean') gives unknown pairs a value"
        )
    if others:
        parts.append(f"these methods failed: {names_text(others)}")
    return f"some methods are left out: {'; '.join(parts)}. {where} holds the error message of each."


def names_text(names: Sequence[str]) -> str:
    """Return the names of methods as one text, in which a method on several similarities appears once."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.partition(_ON)[0], []).append(name)
    texts = [own[0] if len(own) == 1 else f"{method}{_ON}{len(own)} similarities" for method, own in found.items()]
    return ("; " if any("," in text for text in texts) else ", ").join(texts)
