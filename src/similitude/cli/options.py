"""The options that commands share: where the samples come from and how files are read, and what is done with them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from similitude._utils.files import check_writable
from similitude.finders import PairBudget
from similitude.proximity.files import Beside, Reading, check_file, check_streams
from similitude.similarities.registry import is_family

Form = StrEnum("Form", "table edges condensed triangle phylip ratings odd-one-out triads")
Repeated = StrEnum("Repeated", ["max", "min", "mean", "error"])
Direction = StrEnum("Direction", ["keep", "max", "mean", "min"])
Normalised = StrEnum("Normalised", ["self", "rows"])
Combined = StrEnum("Combined", ["mean", "ranks", "separate"])
SCAFFOLD = "scaffold"
"""The word for ``--groups`` that means the scaffolds of molecules."""
YesNo = StrEnum("YesNo", ["yes", "no"])
Preference = StrEnum("Preference", ["accuracy", "simple"])


def option(text: str, metavar: str | None = None, *names: str) -> Any:
    """Return an option of a command whose help does not show its default."""
    return typer.Option(*names, metavar=metavar, help=text, show_default=False)


def argument(text: str, metavar: str) -> Any:
    """Return an argument of a command whose help does not show its default."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)


class Unlabelled(StrEnum):
    """What is done with samples that have no label."""

    ignore = "ignore"
    use = "use"


UseUnlabelled = Annotated[
    Unlabelled,
    typer.Option("--unlabelled", help="Whether samples without a label are left out, or used by methods that can."),
]
NoLeak = Annotated[
    str | None,
    option(
        "Keep samples whose similarity is at least THRESHOLD (or whose dissimilarity is at most THRESHOLD) on the same "
        "side of every fold; auto keeps near-duplicates together.",
        "THRESHOLD",
    ),
]
Fill = Annotated[
    str | None,
    option(
        "The value of unknown pairs for methods that need all pairs: class-blind-mean, class-blind-median, farthest or "
        "a number.",
        "RULE",
    ),
]
Methods = Annotated[str | None, option("Methods, separated by commas: k-nn,svm-clip. Default: all.", "NAMES")]
Prefer = Annotated[
    Preference,
    typer.Option(help="accuracy: combine the methods; simple: the simplest one that is nearly as good as the best."),
]
TimeBudget = Annotated[
    float | None, option("Time limit for trying methods; those for which there is no time are listed.", "SECONDS")
]
Pairs = Annotated[
    float | None,
    option(
        "Largest number of evaluations of --similarity, such as 2e7; only neighbours, and all similarities to some "
        "landmarks, are then computed.",
        "N",
    ),
]
PairsFile = Annotated[
    Path | None,
    option(
        "File that keeps the pairs evaluated by --similarity, so that an interrupted run, or one with more --pairs, "
        "continues.",
        "FILE",
    ),
]
Scheduler = Annotated[
    str | None,
    option("Address of a Dask scheduler, such as tcp://host:8786, whose workers evaluate the methods.", "ADDRESS"),
]
ObjectColumn = Annotated[
    str | None,
    option(
        "Column of the objects in a table, by name or place from 1; several for rows of numbers or words: a,b,c.",
        "COLUMN",
        "--object",
    ),
]
LabelColumn = Annotated[
    str | None,
    option(
        "Column of the labels, by name or place from 1: of --labels, or of FILE if it is a table of raw objects.",
        "COLUMN",
        "--label",
        "--label-column",
    ),
]
Param = Annotated[
    list[str] | None,
    option("Parameter of --similarity, such as matrix=BLOSUM62 or ngram_range=1,3; repeatable.", "NAME=VALUE"),
]
Key = Annotated[str | None, option("Name of the array, if the file holds several.", "NAME")]
Header = Annotated[YesNo | None, option("Whether the first line is a header, if that is not recognised.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Seed of folds and random draws.")]
Jobs = Annotated[int, typer.Option(metavar="N", help="Number of parallel jobs; -1 means one per core.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Suppress notes, progress, and the result if it is in a file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def is_yes(given: YesNo | None) -> bool | None:
    """Return the answer as a truth value, or None if there is none."""
    return None if given is None else given == YesNo.yes


@dataclass(frozen=True)
class Source:
    """Where the samples come from: a file with how it is read, or a named data set.

    The annotations are those of the command line.
    """

    matrix: Annotated[
        Path | None, argument("File with similarities: a matrix, a triangle, an edge list or hits.", "FILE")
    ] = None
    labels: Annotated[Path | None, option("File with one class label per sample.", "FILE")] = None
    label_column: LabelColumn = None
    label_separator: Annotated[
        str | None, option("What stands between several labels of one sample, such as ';'.", "TEXT")
    ] = None
    several_labels: Annotated[
        bool,
        option("State that a sample may have several rows in --labels, each with a label.", None, "--several-labels"),
    ] = False
    lineage: Annotated[
        str | None,
        option(
            "State that labels are lineages: what stands between their parts, such as '.', or their columns from "
            "coarse to fine, such as phylum,class,order.",
            "TEXT|COLUMNS",
        ),
    ] = None
    tree: Annotated[
        Path | None, option("File with a child and its parent in each row; labels are nodes of this tree.", "FILE")
    ] = None
    labels_in_order: Annotated[
        bool,
        option(
            "State that labels (and groups) with ids are in the order of the samples, which have no ids.",
            None,
            "--labels-in-order",
        ),
    ] = False
    groups: Annotated[
        Path | None,
        option(
            "File with one group per sample; the samples of a group are never on both sides of a fold. scaffold means "
            "the Murcko scaffolds of molecules.",
            "FILE",
        ),
    ] = None
    group_column: Annotated[
        str | None,
        option(
            "Column of the groups: of --groups, or of FILE if it is a table of raw objects.",
            "COLUMN",
            "--group",
            "--group-column",
        ),
    ] = None
    dissimilarity: Annotated[
        str | None,
        option(
            "State that FILE holds dissimilarities, and name the map to similarities: max-minus, gauss, exp, ... If "
            "only some of several files do, name them: a=gauss,b=exp for a.csv and b.csv.",
            "MAP",
        ),
    ] = None
    similarity: Annotated[
        str | None,
        option(
            "State that FILE holds raw objects, and name their similarity: smith-waterman, levenshtein, dtw, ...; "
            "elastic means a family of distances of time series, words one of similarities of words.",
            "NAME",
        ),
    ] = None
    object_column: ObjectColumn = None
    param: Param = None
    form: Annotated[Form | None, option("Form of a text file, if it is not recognised.")] = None
    key: Key = None
    query: Annotated[str | None, option("Column of the queries of edges, by name or place from 1.", "COLUMN")] = None
    target: Annotated[str | None, option("Column of the targets of edges.", "COLUMN")] = None
    score: Annotated[
        str | None, option("Column of the scores of edges; in hits of BLAST bits, pident or evalue.", "COLUMN")
    ] = None
    missing: Annotated[
        str | None, option("Value of pairs without an edge: zero, farthest, unknown or a number.", "VALUE")
    ] = None
    duplicates: Annotated[Repeated | None, option("Value of a pair with several edges.")] = None
    direction: Annotated[
        Direction, typer.Option(help="Value of a pair with edges in both directions; keep keeps both.")
    ] = Direction.keep
    normalise: Annotated[
        Normalised | None,
        option(
            "self: divide scores by the root of the product of the self-scores; rows: divide each row by its sum, for "
            "counts of answers (confusions)."
        ),
    ] = None
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Keep only the best N hits of each query, and those that tie with the last one, while FILE is read.",
            show_default=False,
        ),
    ] = None
    judge: Annotated[str | None, option("Column of the judges of ratings, by name or place from 1.", "COLUMN")] = None
    combine: Annotated[
        Combined | None,
        option(
            "What the ratings of several judges become: their mean, the mean of each judge's ranks, or separate "
            "similarities. Default: mean."
        ),
    ] = None
    diagonal: Annotated[float | None, option("Value of a sample with itself, if FILE does not hold it.", "VALUE")] = (
        None
    )
    header: Header = None
    dataset: Annotated[str | None, option("Data set of `similitude datasets`, instead of FILE.", "NAME")] = None
    others: tuple[Path, ...] = field(default=(), metadata={"option": False})
    """Further files with other similarities of the same samples."""

    @property
    def are_several(self) -> bool:
        """Whether there are several similarities of the same samples: those of several files, or a family."""
        return bool(self.others) or is_family(self.similarity) or self.combine == Combined.separate

    @property
    def matrices(self) -> list[Path]:
        """All files with similarities."""
        return [] if self.matrix is None else [self.matrix, *self.others]

    @property
    def by_scaffold(self) -> bool:
        """Whether the groups are the scaffolds of molecules."""
        return self.groups is not None and str(self.groups) == SCAFFOLD and not self.groups.exists()

    def inputs(self) -> dict[str, list[Path | None]]:
        """Return the files that are read, by the names of their arguments."""
        return {
            "FILE": [*self.matrices],
            "--labels": [self.labels],
            "--groups": [None if self.by_scaffold else self.groups],
            "--tree": [self.tree],
        }

    @property
    def has_several_labels(self) -> bool:
        """Whether a sample may have several labels."""
        return self.several_labels or self.label_separator is not None

    @property
    def is_structured(self) -> bool:
        """Whether labels form a tree, or a sample may have several."""
        return self.has_several_labels or self.lineage is not None or self.tree is not None

    @property
    def lineage_separator(self) -> str | None:
        """What stands between the parts of lineages."""
        given = self.lineage
        return given if given is not None and not any(letter.isalnum() for letter in given) else None

    @property
    def lineage_columns(self) -> tuple[str, ...]:
        """The columns of lineages, from coarse to fine."""
        given = self.lineage
        return () if given is None or self.lineage_separator is not None else tuple(listed(given) or ())

    def check_structure(self) -> None:
        """Raise a ValueError for options about trees and several labels that do not fit together."""
        if self.lineage is not None and not self.lineage.strip():
            raise ValueError("--lineage must be what stands between the parts of lineages, or names of columns.")
        if self.label_separator is not None and not self.label_separator.strip():
            raise ValueError("--label-separator must not be blank.")
        if self.lineage_columns and (self.has_several_labels or self.tree is not None):
            other = "--tree" if self.tree is not None else "several labels"
            raise ValueError(f"--lineage with columns cannot be combined with {other}; use lineages in one column.")
        if self.lineage_columns and (self.labels is None or self.label_column is not None):
            raise ValueError("--lineage with columns names columns of --labels, instead of --label-column.")
        if self.lineage_separator is not None and self.tree is not None:
            raise ValueError("give --lineage or --tree; a lineage has its tree in itself.")
        if self.several_labels and self.labels is None:
            raise ValueError("--several-labels is about the rows of --labels, which must also be given.")

    def opened(self) -> Source:
        """Return the source with copies of streams, which can be read only once; all files must be there."""
        check_streams(self.inputs())
        found: dict[str, Any] = {
            name: None if path is None else check_file(path, argument)
            for name, argument, path in (
                ("matrix", "FILE", self.matrix),
                ("labels", "--labels", self.labels),
                ("groups", "--groups", None if self.by_scaffold else self.groups),
                ("tree", "--tree", self.tree),
            )
        }
        return replace(self, **found | ({"groups": self.groups} if self.by_scaffold else {}))

    def given(self) -> dict[str, Any]:
        """Return the options that were given, by name, as arguments of ``load_proximity``."""
        options = [own for own in fields(self) if own.metadata.get("option", True)]
        values = {own.name: getattr(self, own.name) for own in options}
        defaults = {own.name: own.default for own in options}
        plain = {name: value for name, value in values.items() if value not in (defaults[name], None, [])}
        if "missing" in plain:
            plain["missing"] = number_or_text(str(plain["missing"]))
        if "header" in plain:
            plain["header"] = is_yes(self.header)
        return {name: str(value) if isinstance(value, StrEnum) else value for name, value in plain.items()}

    def beside(self) -> Beside:
        """Return the options about labels and groups."""
        groups = None if self.by_scaffold else self.groups
        own = Beside(self.labels, groups, self.labels_in_order, self.label_column, self.group_column)
        return replace(
            own,
            lineage=self.lineage_columns,
            several=self.several_labels,
            separated=self.label_separator is not None,
            lineage_separator=self.lineage_separator,
        )

    def reading(self) -> dict[str, Any]:
        """Return the options for ``load_proximity`` that say how a file is read."""
        found = {name: value for name, value in self.given().items() if name in _READING}
        return found if self.dissimilarity is None else {**found, "orientation": "dissimilarity"}


_READING = {own.name for own in fields(Reading)}
STRUCTURE = ("label_separator", "several_labels", "lineage", "tree")
"""The options about trees and several labels."""
NOT_PROXIMITIES = tuple(own.name for own in fields(Source) if own.name not in ("matrix", *_READING))
"""The options that do not say how a file of proximities is read."""


def number_or_text(text: str) -> Any:
    """Return a text as a number if it is one."""
    try:
        return float(text)
    except ValueError:
        return text


Files = Annotated[
    list[Path] | None,
    argument(
        "File with similarities: a matrix, a triangle, an edge list or hits. "
        "Several files are several similarities of the same samples.",
        "FILE",
    ),
]


def takes_source(
    command: Callable[..., None], without: tuple[str, ...] = (), several: bool = False
) -> Callable[..., None]:
    """Return a command whose parameter ``source`` is replaced by the options of :class:`Source`.

    With ``several`` the command takes several files.
    """
    own = inspect.signature(command, eval_str=True).parameters
    chosen = [option for option in fields(Source) if option.metadata.get("option", True) and option.name not in without]
    hints = inspect.get_annotations(Source, eval_str=True)
    if several:
        hints["matrix"] = Files
    options = [
        inspect.Parameter(
            option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=hints[option.name]
        )
        for option in chosen
    ]
    others = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own.values() if p.name != "source"]
    # Options without a default come first, then those of the source, then the others.
    needed = [p for p in others if p.default is inspect.Parameter.empty]
    parameters = [*needed, *options, *(p for p in others if p.default is not inspect.Parameter.empty)]

    @functools.wraps(command)
    def wrapped(**values: Any) -> None:
        given = {option.name: values.pop(option.name) for option in chosen}
        if several:
            first, *more = given["matrix"] or [None]
            given |= {"matrix": first, "others": tuple(more)}
        command(source=Source(**given), **values)

    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in parameters}
    return wrapped


def check_limits(n_jobs: int, time_budget: float | None = None) -> None:
    """Raise a ValueError for 0 jobs, for which joblib would show a traceback, and for a time that is not positive."""
    if n_jobs == 0:
        raise ValueError("--n-jobs must not be 0; -1 means one job per core.")
    if time_budget is not None and not 0 < time_budget < float("inf"):
        raise ValueError(f"--time-budget must be a number of seconds above 0; got {time_budget:g}.")


def listed(names: str | None) -> list[str] | None:
    """Return the names in a comma-separated list, or None for all."""
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def check_pairs(pairs: float | None, file: Path | None, source: Source) -> dict[str, Any]:
    """Return the arguments of AutoClassifier that the options about pairs give."""
    if file is None:
        return {} if pairs is None else {"pair_budget": PairBudget(pairs)}
    if source.similarity is None or source.is_structured:
        raise ValueError("--pairs-file keeps the pairs that --similarity evaluates, for one label per sample.")
    path = str(check_writable(file, "--pairs-file", source.inputs()))
    return {"pairs_file": path} if pairs is None else {"pair_budget": PairBudget(pairs, path=path)}
