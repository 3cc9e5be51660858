"""Model files, which load without running any code."""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Literal, overload

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from similitude._utils.files import check_writable, replacing
from similitude._utils.scikit_learn import num_samples, safe_indexing
from similitude._utils.versions import versions
from similitude.auto import AutoClassifier
from similitude.base import PathClassifier, SimilarityEstimator, contract_of, path_of, reader_of, readers_of
from similitude.generative.fused import FusedClassifier
from similitude.persistence._check import complete, try_out
from similitude.persistence._tree import Decoder, Encoder, _dtype
from similitude.proximity.proximities import Proximities

FORMAT = (4, 0)
"""The version of the format: files with another first number cannot be read, those with a larger second one can."""

_TREE = "model.json"
_ARRAY = "arrays/{}.npy"
_LARGEST_TREE = 2**28
_MOST_COLUMNS = 2**24
_MOST_LISTS, _MOST_PARTS = 2**22, 2**24
_SEAL = re.compile(rb"similitude model, format (\d{1,9})\.(\d{1,9}), sha256 ([0-9a-f]{64})\Z")
_DIGITS = 64
_BEST = "best_estimator_"


def save_model(
    path: str | os.PathLike,
    model: BaseEstimator,
    *,
    ids: Sequence | None = None,
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Save a fitted model in a file that :func:`load_model` reads without running any code.

    The file is written completely or not at all, and the same model gives the same bytes.

    Parameters
    ----------
    path : path
        The file; by convention its name ends in ``.model``.
    model : estimator
        A fitted estimator of similitude, a pipeline that begins with one, or a search over either. Its similarity is
        "precomputed", "columns", a registered name, or an object of one of similitude's classes; a function of your own
        has to be registered.
    ids : sequence of str, default=None
        The names of the training samples, in the order of the columns; by default those that ``fit`` got.
    notes : dict, default=None
        Anything that JSON can represent, such as the source of the data or how the parameters were chosen.

    Raises
    ------
    ValueError
        If the model is not fitted, or holds something that cannot be saved. The message names the attribute.

    See Also
    --------
    load_model : Loads the model again.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from similitude import KNNClassifier, load_model, save_model
    >>> path = Path(tempfile.mkdtemp()) / "knn.model"
    >>> save_model(path, KNNClassifier(1).fit(np.eye(2), ["no", "yes"]))
    >>> load_model(path).predict([[0.2, 0.9]])
    array(['yes'], dtype='<U3')
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be the name of a file; got {type(path).__name__}. Call save_model(path, model).")
    path = check_writable(path)
    if hasattr(model, _BEST) and not type(model).__module__.startswith("similitude."):
        raise ValueError(
            f"model: a model file cannot hold a {type(model).__name__} of scikit-learn; save its best_estimator_, or "
            "use PathSearchCV."
        )
    facts = _facts(model)
    own = _own_ids(model)
    ids = own if ids is None else [str(name) for name in ids]
    if own is not None and ids != own:
        raise ValueError("ids: the model was fitted with other ids of the training samples; leave ids=None.")
    if ids is not None and len(ids) != facts["n_columns"]:
        raise ValueError(f"ids must have one name per training sample ({facts['n_columns']}); got {len(ids)}.")
    encoder = Encoder()
    try:
        tree = encoder.encode(model, type(model).__name__)
    except RecursionError:
        raise ValueError("model: its content is nested too deeply to be saved.") from None
    facts["support_columns"] = None if facts["support_columns"] is None else facts["support_columns"].tolist()
    content = {"versions": versions(), **facts, "ids": ids, "notes": dict(notes or {}), "model": tree}
    text = json.dumps(content, allow_nan=False).encode()
    excess = _too_much(text)
    if excess:
        raise ValueError(f"model: its objects take {excess} in a model file; fit on the precomputed matrix.")
    with replacing(path) as part:
        _write(part, text, encoder.arrays)


@overload
def load_model(path: str | os.PathLike, *, return_info: Literal[False] = False) -> Any: ...
@overload
def load_model(path: str | os.PathLike, *, return_info: Literal[True]) -> tuple[Any, dict[str, Any]]: ...
def load_model(path: str | os.PathLike, *, return_info: bool = False) -> Any:
    """Load a model that :func:`save_model` saved, without running any code.

    Only classes of similitude and a few of scikit-learn are built, and only their attributes are set.

    Parameters
    ----------
    path : path
        The file.
    return_info : bool, default=False
        Whether ``(model, info)`` is returned; ``info`` is a dict:

        * ``classes``: the names of the classes, in order;
        * ``n_columns``: the number of training samples, or None;
        * ``ids``: their names, or None;
        * ``support_columns``: the positions of those that prediction needs, or None for all;
        * ``input``: the input of ``predict``: "similarities", "dissimilarities", "objects" or "other" (several inputs);
        * ``similarities``: the names of the similarities in the input, if there are several, or None;
        * ``versions``: the versions of similitude, numpy, scipy, scikit-learn and Python that saved the file;
        * ``notes``: the notes that were given to ``save_model``.

    Returns
    -------
    estimator, or (estimator, dict)
        The model, and the information about it if ``return_info``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is not a model, is damaged, has another format, or holds what a model file may not hold.

    Warns
    -----
    UserWarning
        If the file was written with another version of similitude or scikit-learn, which may have other attributes.

    See Also
    --------
    save_model : Saves a model.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"path: there is no file {path}.")
    if not path.is_file():
        raise ValueError(f"path: {path} is not a file.")
    other_versions: list[str] = []
    with path.open("rb") as file:
        _check_seal(path, file)
        try:
            with zipfile.ZipFile(file) as archive:
                members = _checked_members(path, archive)
                content = _read_tree(archive, members)
                other_versions = _other_versions(content["versions"])
                model, info = _read(archive, members, content)
        except Exception as error:  # a file from an unknown source may be wrong in any way
            reason = " ".join(str(error).split())[:500].rstrip(".")
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            remedy = " Load it with these versions, or fit the model again." if other_versions else ""
            hint = "".join(f" It was saved with {versions}." for versions in other_versions) + remedy
            raise ValueError(f"{path}: cannot be loaded as a model: {kind}{reason}.{hint}") from None
    for found in other_versions:
        warnings.warn(
            f"{path} was saved with {found}. The model may not work, or its predictions may differ.", stacklevel=2
        )
    return (model, info) if return_info else model


def _other_versions(written: dict[str, Any]) -> list[str]:
    """Return which versions that saved a file differ from those installed here."""
    now = versions()
    return [
        f"{name} {written[name]}; this is {now[name]}"
        for name in ("similitude", "scikit-learn")
        if str(written[name]) != now[name]
    ]


def _read_tree(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> dict[str, Any]:
    """Return the content of the JSON file, if it is not too large."""
    if members[_TREE].file_size > _LARGEST_TREE:
        raise ValueError(f"{_TREE} has {members[_TREE].file_size} bytes; {_LARGEST_TREE} are allowed")
    text = archive.read(_TREE)
    excess = _too_much(text)
    if excess:
        raise ValueError(f"{_TREE} has {excess}")
    return json.loads(text)


def _read(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], content: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return the model, checked, and the information about it."""
    arrays: dict[int, np.ndarray] = {}

    def array(position: int) -> np.ndarray:
        if position not in arrays:
            arrays[position] = _read_array(archive, members[_ARRAY.format(int(position))])
        return arrays[position]

    def build() -> Any:
        return complete(Decoder(array).decode(content["model"]))

    _try_out(build())  # predictions may change a model, for instance what it counts
    model = build()
    facts, ids, written = _facts(model), content["ids"], content["versions"]
    own = getattr(reader_of(input_reader(model)), "column_ids", None)
    fit = own is None or np.shape(own) == (facts["n_columns"],)
    if ids is not None:
        fit = fit and len(ids) == facts["n_columns"] and all(isinstance(name, str) for name in ids)
    if not fit:
        raise ValueError("its ids do not fit the number of its training samples")
    # Without its last step a pipeline is still whole, but a transformer.
    if content["classes"] != facts["classes"]:
        raise ValueError("the model does not have the classes that the file names")
    _give_ids(model, ids)
    written = {name: str(written[name]) for name in versions()}
    return model, {**facts, "ids": ids, "versions": written, "notes": content["notes"]}


def _try_out(model: Any) -> None:
    """Let a model predict two made-up samples, or, if it is made of raw objects, its first and last one."""
    facts, reader = _facts(model), input_reader(model)
    if isinstance(reader, FusedClassifier):
        for part in reader.parts_.values():
            _try_out(part)
    n_columns = facts["n_columns"]
    if facts["input"] == "objects":
        try_out(model, safe_indexing(reader.objects_, np.array([0, n_columns - 1])))
        return
    if n_columns is None or n_columns > _MOST_COLUMNS:
        return
    rows = np.random.default_rng(0).random((2, n_columns))
    rows[[0, 1], [0, -1]] = 0 if facts["input"] == "dissimilarities" else 1  # the nearest are the first and last one
    samples: Any = rows if facts["similarities"] is None else dict.fromkeys(facts["similarities"], rows)
    ids, extras = getattr(reader, "ids_", None), getattr(reader_of(reader), "extras", ())
    if ids is not None or extras:
        n_features = getattr(path_of(reader), "n_features", 1) if isinstance(reader, PathClassifier) else 1
        features = rows[:, :n_features] if "features" in extras else None
        own = np.ones(2) if "self_similarity" in extras else None
        samples = Proximities(samples, features, self_similarity=own, column_ids=ids)
    try_out(model, samples)


def _too_much(text: bytes) -> str | None:
    """Return what a tree has too much of, before it is parsed: a list of two bytes would take a hundred in memory."""
    lists, parts = text.count(b"[") + text.count(b"{"), text.count(b",")
    for found, most, what in (
        (len(text), _LARGEST_TREE, "bytes"),
        (lists, _MOST_LISTS, "lists"),
        (parts, _MOST_PARTS, "values"),
    ):
        if found > most:
            return f"{found} {what}; {most} are allowed"
    return None


def input_reader(model: Any) -> Any:
    """Return the part of a fitted model that reads its input and holds the training samples."""
    part = model
    while isinstance(part, (Pipeline, GridSearchCV)) or (isinstance(part, AutoClassifier) and hasattr(part, _BEST)):
        if not isinstance(part, Pipeline):
            if not hasattr(part, _BEST):
                raise ValueError("model: the search has no best_estimator_; fit it with refit=True.")
            part = part.best_estimator_
        else:
            part = part.steps[0][1]
    if not isinstance(part, BaseEstimator) or not type(part).__module__.startswith("similitude."):
        raise ValueError(f"model must be an estimator of similitude, or begin with one; got {type(part).__name__}.")
    check_is_fitted(part)
    return part


def _facts(model: Any) -> dict[str, Any]:
    """Return the facts about the model's input and output that are needed to predict."""
    reader = input_reader(model)
    given, n_columns = "other", getattr(reader, "n_features_in_", None)
    similarities = None
    if isinstance(reader, SimilarityEstimator):
        names = list(readers_of(reader))
        similarities = None if names in ([], ["S"]) else names
        contract = contract_of(reader)
        given = "similarities" if contract.map_name is None else "dissimilarities"
        if not contract.is_matrix:
            given, n_columns = "objects", num_samples(reader.objects_)
    support = getattr(reader, "support_columns_", None)
    return {
        "classes": [str(name) for name in getattr(model, "classes_", ())],
        "n_columns": None if n_columns is None else int(n_columns),
        "support_columns": None if support is None else np.asarray(support),
        "input": given,
        "similarities": similarities,
    }


def _own_ids(model: Any) -> list[str] | None:
    reader = input_reader(model)
    names = getattr(reader_of(reader), "column_ids", None)
    names = getattr(reader, "feature_names_in_", None) if names is None else names
    return None if names is None else [str(name) for name in names.tolist()]


def _give_ids(model: Any, ids: list[str] | None) -> None:
    """Let the reader of a loaded model know the ids in the file, if it was fitted on a matrix without ids."""
    readers = readers_of(input_reader(model))
    for name, reader in readers.items():
        if ids is not None and reader.is_matrix and reader.column_ids is None:
            readers[name] = replace(reader, column_ids=np.array(ids, dtype=object))


def _write(path: Path, tree: bytes, arrays: list[np.ndarray]) -> None:
    seal = f"similitude model, format {FORMAT[0]}.{FORMAT[1]}, sha256 "
    with zipfile.ZipFile(path, "w") as archive:
        # Nothing is compressed, so that a small file cannot unpack to a large one. The members have the fixed date of
        # 1980, so that the same model gives the same file.
        archive.writestr(zipfile.ZipInfo(_TREE), tree)
        for i, array in enumerate(arrays):
            with archive.open(zipfile.ZipInfo(_ARRAY.format(i)), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
        archive.comment = seal.encode() + b"0" * _DIGITS
    # The comment of the archive is at the end of the file; it holds the checksum of all bytes before it.
    with path.open("r+b") as file:
        digest = _digest(file)
        file.seek(-_DIGITS, os.SEEK_END)
        file.write(digest)


def _digest(file: IO[bytes]) -> bytes:
    """Return the SHA-256 of the file without its last 64 bytes."""
    left = file.seek(0, os.SEEK_END) - _DIGITS
    file.seek(0)
    digest = hashlib.sha256()
    while left > 0:
        block = file.read(min(left, 2**20))
        if not block:
            break
        digest.update(block)
        left -= len(block)
    return digest.hexdigest().encode()


def _check_seal(path: Path, file: IO[bytes]) -> None:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 200))
    seal = _SEAL.search(file.read())
    if seal is None:
        raise ValueError(f"{path}: is not a model file of similitude, or is truncated.")
    if int(seal[1]) != FORMAT[0]:
        raise ValueError(
            f"{path}: is a model file of format {int(seal[1])}; this version of similitude reads format {FORMAT[0]}. "
            "Fit the model again and save it with this version, or load it with the version that saved it."
        )
    if _digest(file) != seal[3]:
        raise ValueError(f"{path}: the model file is damaged: its checksum does not match its contents.")


def _checked_members(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members by name, after checking their names, their sizes and that they are not compressed."""
    members: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        if member.filename != _TREE and not re.fullmatch(r"arrays/\d{1,9}\.npy", member.filename, re.ASCII):
            raise ValueError(f"it has a member {member.filename!r}, which a model file cannot have")
        if member.filename in members:
            raise ValueError(f"it has two members {member.filename!r}")
        stored = member.compress_type == zipfile.ZIP_STORED and member.compress_size == member.file_size
        if not stored or member.flag_bits & 1:
            raise ValueError(
                f"its member {member.filename!r} is compressed or encrypted, which is not allowed in a model file"
            )
        members[member.filename] = member
    if sum(member.file_size for member in members.values()) > path.stat().st_size:
        raise ValueError("the sizes of its members add up to more than the file")
    if _TREE not in members:
        raise ValueError(f"it has no member {_TREE!r}")
    return members


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """Return the array in a member, after checking that the member has exactly the bytes that the array needs."""
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read_header: Any = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, fortran_order, dtype = read_header(file)
        dtype = _dtype(dtype.str) if dtype.names is None and dtype.subdtype is None else _dtype("V")
        count = 1
        for length in shape:
            count *= length
        if min(shape, default=0) < 0 or dtype.itemsize == 0 or count * dtype.itemsize != member.file_size - file.tell():
            raise ValueError(f"its array {member.filename} of shape {shape} has the wrong number of bytes")
        # The bytes are copied, because an array from frombuffer is read-only.
        raw = np.empty(count * dtype.itemsize, dtype=np.uint8)
        raw[:] = np.frombuffer(file.read(), dtype=np.uint8)
    order: Any = "F" if fortran_order else "C"
    return raw.view(dtype).reshape(shape, order=order) if raw.size else np.empty(shape, dtype=dtype)
