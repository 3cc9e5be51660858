"""Reading of proximities with the labels and groups of their samples."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils import Bunch

from similitude.proximity.files.contents import Contents, Reading
from similitude.proximity.files.labels import Beside, with_labels
from similitude.proximity.files.text import check_file
from similitude.proximity.files.values import load_new_rows, load_values
from similitude.proximity.unknown import Absent

if TYPE_CHECKING:
    from similitude._utils.types import ListLike


def load_proximity(
    path: str | os.PathLike,
    labels: str | os.PathLike | None = None,
    *,
    groups: str | os.PathLike | None = None,
    labels_in_order: bool = False,
    label_column: str | int | None = None,
    group_column: str | int | None = None,
    square: bool = True,
    columns: ListLike | Mapping[str, Any] | None = None,
    mmap: bool = False,
    key: str | None = None,
    form: Literal["table", "edges", "condensed", "triangle", "phylip", "ratings", "odd-one-out", "triads"]
    | None = None,
    orientation: Literal["similarity", "dissimilarity"] = "similarity",
    query: str | int | None = None,
    target: str | int | None = None,
    score: str | int | None = None,
    missing: Absent | float | None = None,
    duplicates: Literal["max", "min", "mean", "error"] | None = None,
    direction: Literal["keep", "max", "mean", "min"] = "keep",
    normalise: Literal["self", "rows"] | None = None,
    diagonal: float | None = None,
    header: bool | None = None,
    judge: str | int | None = None,
    combine: Literal["mean", "ranks", "separate"] | None = None,
    top: int | None = None,
) -> Bunch:
    """Read similarities or dissimilarities, and the labels and groups of their samples, from files of any form.

    Nothing in the files is executed: pickled objects are refused. The form is recognised by the content of the file
    first, and by its suffix second; each may be compressed with gzip.

    Parameters
    ----------
    path : path
        The file, in one of these forms:

        * a table: one row per sample, with cells separated by tabs, commas, semicolons or blanks. A header row, an id
          column, or both, are recognised if their cells are not numbers, or if the header names the rows. Lines that
          begin with ``#`` above the table are comments. Cells that are empty or NA are unknown (NaN). This includes
          scikit-bio's ``.lsmat`` files.
        * a lower or upper triangle, with or without the diagonal, or a condensed vector as ``pdist`` returns it, in a
          text file, or as an array of one dimension.
        * PHYLIP: square, or a triangle.
        * an edge list: text or Parquet with columns of queries, targets and scores, such as the tabular output of
          BLAST, MMseqs2 and Foldseek (``.m8``).
        * ratings: text with the columns ``first``, ``second``, ``rating`` and, if several people judged, ``judge``, one
          row for each rating. Pairs without a rating are unknown. Choices of the odd one of three things have the
          columns ``first``, ``second``, ``third`` and ``odd``; choices of the thing that is more like another
          ``anchor``, ``chosen`` and ``other``. What they become says :meth:`similitude.Proximities.from_ratings`.
        * ``.npy`` and ``.npz`` (also SciPy's sparse matrices), ``.mat`` (version 7.3 needs ``similitude[data]``),
          Matrix Market, and Parquet, which needs ``similitude[data]``. The ids of ``D.npy`` and of other files that
          cannot hold ids are read from text files beside them, one id per line: ``D.ids.txt`` for the rows (and the
          columns, if there are as many), ``D.column_ids.txt`` for columns that are other samples, and sourmash's
          ``D.labels.txt`` for a matrix ``D``. Those of ``.npz`` files are their arrays ``ids`` and ``column_ids``.
    labels : path, default=None
        A file with one label per line, in the order of the rows; or a table with a column of ids, in any order, which
        are matched to those of the matrix. Columns are separated by commas or semicolons in ``.csv``, by tabs
        elsewhere. A header is recognised. Samples without a label, and labels of ids that are no samples, are left out
        with a warning that names them. If less than half of the samples have a label, and less than half of the ids
        with a label are samples, an error says so. An empty cell is no label.
    groups : path, default=None
        A file with the group of each sample, in the same formats as ``labels``, for cross-validation that keeps groups
        together.
    labels_in_order : bool, default=False
        Whether labels (or groups) with ids are in the order of the rows of a matrix without ids, and name them.
        Otherwise they are refused. If the matrix has ids, labels and groups are always matched to these; if only the
        labels have ids, groups are matched to those.
    label_column, group_column : str or int, default=None
        The column of the labels (groups), by its name in the header or its place from 1, if there are several besides
        the ids.
    square : bool, default=True
        Whether rows and columns must be the same samples.
    columns : sequence of ids, or dict, default=None
        For new samples, the training samples: the file is read as rows of new samples, whose columns are these samples
        in this order, matched by id. Pass the ids, such as ``ids_`` of a fitted model; or what ``load_proximity``
        returned for the training samples, or the info that ``load_model`` returns, so that edges are read as those of
        the training samples were. In an edge list the new samples are the queries that are no training samples.
    mmap : bool, default=False
        Whether the values of a ``.npy`` file stay on disk, and a read-only memmap of their own type is returned. They
        are then checked by the estimators, not here.
    key : str, default=None
        The name of the array in an ``.npz`` or ``.mat`` file; not needed if there is only one besides ids.
    form : {"table", "edges", "condensed", "triangle", "phylip", "ratings", "odd-one-out", "triads"}, default=None
        The form of a text file, if it is not recognised.
    orientation : {"similarity", "dissimilarity"}, default="similarity"
        The meaning of the values.
    query, target, score : str or int, default=None
        The columns of an edge list, or of ratings, by name or by place from 1. In tabular output of BLAST the score is
        "bits" by default, or "pident" or "evalue". E-values become ``-log10 E``; those above 1 become 0, and those
        below 1e-300 become 300.
    missing, duplicates, direction, normalise
        What edges mean: see :meth:`similitude.Proximities.from_edges`. ``missing`` is also the value of unknown pairs
        of a matrix, which stay unknown by default. ``normalise="rows"`` divides each row by its sum, for counts of
        answers such as confusions, in any form.
    diagonal : float, default=None
        The value of each sample with itself, if the file does not hold it; None means 0 for dissimilarities, the
        largest rating for ratings, and is refused for other similarities.
    header : bool, default=None
        Whether the first line of a table or an edge list is a header, if that is not recognised. False also states
        that the first line of a list of labels is a label if it looks like a heading.
    judge : str or int, default=None
        The column of the judges of ratings, by its name or its place from 1, if it is not recognised.
    combine : {"mean", "ranks", "separate"}, default=None
        What the ratings of several judges become: see :meth:`similitude.Proximities.from_ratings`. None means "mean".
    top : int, default=None
        Keep only so many edges of each query while the file is read: those of the best scores (the smallest, if they
        are dissimilarities), with those that tie with the last one, and the edge of a sample to itself. A pair with
        several edges counts once. Memory is then needed for these only. New samples are read in the same way.

    Returns
    -------
    Bunch
        S : ndarray, CSR array or memmap, or dict of ndarrays
            The matrix, or those of the judges by name with ``combine="separate"``; float32 stays float32, everything
            else becomes float64. Sparse formats are returned as CSR, and so are edges, unless ``missing`` is a number
            other than 0.
        y : ndarray of shape (n,) or None
            The labels: integers if all of them are, otherwise strings.
        groups : ndarray of shape (n,) or None
            The groups: integers if all of them are, otherwise strings.
        ids, column_ids : ndarrays of str or None
            The ids of the rows and columns in the files, which are equal if ``square``; or those in ``columns``.
        absent : {"zero", "unknown"}
            The meaning of the entries that a sparse S does not store, as :class:`~similitude.Proximities` take it.
        left_out : list of str
            The ids of samples without a label.
        notes : list of str
            Sentences on what was done that the values alone do not show, such as what absent edges mean.
        reading : dict or None
            For edges, what a model needs to know to read new ones in the same way.
        columns : dict of str to Columns
            Which columns of "path", "labels" and "groups" were read and as what, for those that are text; ``str()``
            of each is a sentence.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a file cannot be read in one of the forms. The message names the file and, for text files, the row (the line
        as an editor counts it) and the column, from 1.

    See Also
    --------
    save_proximity : Write a matrix to a file that ``load_proximity`` reads again, with the same values and ids.
    load_objects : Read raw objects, and their labels and groups, from files.
    similitude.Proximities
        A similarity matrix together with the data that belong to its samples, which are sliced together.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from similitude.datasets import load_proximity
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "S.csv").write_text("id,a,b\\na,1,0.2\\nb,0.2,1\\n")
    >>> _ = (folder / "y.csv").write_text("b,yes\\na,no\\n")
    >>> data = load_proximity(folder / "S.csv", folder / "y.csv")
    >>> data.S
    array([[1. , 0.2],
           [0.2, 1. ]])
    >>> data.y.tolist(), data.ids.tolist()
    (['no', 'yes'], ['a', 'b'])
    >>> _ = (folder / "hits.tsv").write_text("a\\ta\\t9\\na\\tb\\t4\\nb\\tb\\t8\\n")
    >>> data = load_proximity(folder / "hits.tsv", folder / "y.csv", direction="max")
    >>> data.S.toarray()
    array([[9., 4.],
           [4., 8.]])
    >>> _ = (folder / "new.tsv").write_text("c\\tb\\t7\\nc\\tx\\t1\\n")
    >>> rows = load_proximity(folder / "new.tsv", columns=data)
    >>> rows.ids.tolist(), rows.S.toarray()
    (['c'], array([[0., 7.]]))
    """
    meaning = missing, duplicates, direction, normalise, orientation
    reading = Reading(*meaning, form, key, query, target, score, diagonal, header, judge, combine, top)
    beside = Beside(labels, groups, labels_in_order, label_column, group_column)
    found = read_proximity(path, reading, beside, square=square, columns=columns, mmap=mmap)
    return Bunch(
        S=found.values,
        y=found.y,
        groups=found.groups,
        ids=None if found.ids is None else np.array(found.ids),
        column_ids=None if found.column_ids is None else np.array(found.column_ids),
        absent=found.absent,
        left_out=found.left_out,
        notes=list(found.notes),
        reading=found.stored_reading() if columns is None else None,
        columns=found.columns,
    )


def read_proximity(
    path: str | os.PathLike,
    reading: Reading,
    beside: Beside,
    *,
    square: bool = True,
    columns: Any = None,
    mmap: bool = False,
) -> Contents:
    """Return the proximities in a file with the labels and groups of their samples: see :func:`load_proximity`."""
    path = check_file(path, "path")
    if columns is None:
        found = load_values(path, reading, square=square, mmap=mmap)
    elif mmap:
        raise ValueError("mmap=True cannot be combined with columns, whose order may be another one in the file.")
    else:
        found = load_new_rows(path, reading, columns)
    return with_labels(found, beside, reading.header)
