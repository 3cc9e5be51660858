"""Similarities of molecules by their fingerprints, which RDKit computes from SMILES.

A batch of molecules may be a list of SMILES, of RDKit's molecules, bit vectors or count vectors, or of ``bytes`` with
packed bits; an array or a sparse matrix with a row of bits or counts for each molecule; or an array of uint8 with
packed bits, as ``np.packbits(X, axis=1)`` returns it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np
from scipy import sparse

from similitude._utils.checks import check_choice, check_positive
from similitude._utils.extras import require
from similitude._utils.ids import some
from similitude._utils.types import ListLike
from similitude.similarities.registry import BatchSimilarity, Measure, register
from similitude.similarities.sets import binary_rows, from_bytes, unpacked

OBJECTS = "molecules or fingerprints"
"""The kind of the objects."""

FINGERPRINTS = ("morgan", "rdkit", "atom-pair", "torsion", "maccs")
Fingerprint = Literal["morgan", "rdkit", "atom-pair", "torsion", "maccs"]
_KEPT = 2**17


def is_molecular(X: Any) -> bool:
    """Return whether a batch is a list of SMILES, or of molecules or vectors of RDKit."""
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and len(X) > 0 and (X.dtype.kind == "U" or (X.dtype == object and _is_one(X[0])))
    return isinstance(X, (list, tuple)) and len(X) > 0 and _is_one(X[0])


def _is_one(item: Any) -> bool:
    return isinstance(item, str) or type(item).__module__.partition(".")[0] == "rdkit"


def fingerprints(
    X: ListLike,
    fingerprint: Fingerprint = "morgan",
    *,
    radius: int = 2,
    n_bits: int = 2048,
    counts: bool = False,
) -> sparse.csr_array:
    """Return the fingerprints of molecules as a sparse matrix, with a row for each.

    Parameters
    ----------
    X : sequence of str or RDKit objects
        SMILES, molecules (``Mol``), bit vectors (``ExplicitBitVect``) or count vectors (``UIntSparseIntVect``).
    fingerprint : {"morgan", "rdkit", "atom-pair", "torsion", "maccs"}, default="morgan"
        The kind of fingerprint of SMILES and molecules; "morgan" of radius 2 is also known as ECFP4.
    radius : int, default=2
        The radius of Morgan fingerprints.
    n_bits : int, default=2048
        The number of bits; "maccs" always has 167.
    counts : bool, default=False
        Whether the entries are how often a feature occurs, instead of 1.

    Returns
    -------
    csr_array of shape (n, n_bits)
        The fingerprints.

    See Also
    --------
    Tanimoto : Tanimoto similarity of molecules or fingerprints.
    scaffolds : Return the Murcko scaffold of each molecule, as SMILES.

    References
    ----------
    D. Rogers and M. Hahn (2010), "Extended-connectivity fingerprints", Journal of Chemical Information and Modeling 50.

    Examples
    --------
    >>> from similitude.similarities import fingerprints
    >>> F = fingerprints(["CCO", "CCN", "c1ccccc1"])
    >>> F.shape, F.sum(axis=1)
    ((3, 2048), array([6., 6., 3.]))
    """
    check_choice(fingerprint, "fingerprint", FINGERPRINTS)
    for name, value in {"radius": radius, "n_bits": n_bits}.items():
        if not isinstance(value, (int, np.integer)) or value < (name == "n_bits"):
            raise ValueError(f"{name} must be a whole number; got {value!r}.")
    rows = _rows(X, "X", (fingerprint, int(radius), int(n_bits), counts))
    width = max([167 if fingerprint == "maccs" else int(n_bits), *(int(own.max(initial=-1)) + 1 for own, _ in rows)])
    return _stacked(rows, width)


def _rows(X: Any, name: str, options: tuple) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the features of each molecule and their counts; raise a ValueError that names SMILES that are invalid."""
    with _no_logs():
        rows = [_row(item, f"{name}[{i}]", options) for i, item in enumerate(X)]
    invalid = [i for i, row in enumerate(rows) if row is None]
    if invalid:
        # Positions would be those within a block of a matrix.
        raise ValueError(f"invalid SMILES: {some([str(X[i]) for i in invalid])}. Correct them or leave them out.")
    return rows  # type: ignore[return-value]


def _row(item: Any, where: str, options: tuple) -> tuple[np.ndarray, np.ndarray] | None:
    if isinstance(item, str):
        return _of_smiles(str(item), *options)
    if hasattr(item, "GetNumAtoms"):
        return _of_molecule(item, *options)
    if hasattr(item, "GetOnBits"):
        bits = np.fromiter(item.GetOnBits(), np.int64)
        return bits, np.ones(len(bits))
    if hasattr(item, "GetNonzeroElements"):
        found = dict(sorted(item.GetNonzeroElements().items()))
        values = np.fromiter(found.values(), float)
        return np.fromiter(found, np.int64), values if options[-1] else np.ones(len(values))
    raise ValueError(
        f"{where} must be SMILES, or a molecule, bit vector or count vector of RDKit; got {type(item).__name__}."
    )


# Matrices are filled block by block, and a molecule is in many blocks.
@lru_cache(maxsize=_KEPT)
def _of_smiles(text: str, *options: Any) -> tuple[np.ndarray, np.ndarray] | None:
    molecule = require("rdkit.Chem", "mol").MolFromSmiles(text)
    return None if molecule is None else _of_molecule(molecule, *options)


def _of_molecule(
    molecule: Any, fingerprint: str, radius: int, n_bits: int, counts: bool
) -> tuple[np.ndarray, np.ndarray]:
    if fingerprint == "maccs":
        keys = require("rdkit.Chem.MACCSkeys", "mol").GenMACCSKeys(molecule)
        bits = np.fromiter(keys.GetOnBits(), np.int64)
        return bits, np.ones(len(bits))
    generator = _generator(fingerprint, radius, n_bits)
    if not counts:
        bits = np.fromiter(generator.GetFingerprint(molecule).GetOnBits(), np.int64)
        return bits, np.ones(len(bits))
    found = dict(sorted(generator.GetCountFingerprint(molecule).GetNonzeroElements().items()))
    return np.fromiter(found, np.int64), np.fromiter(found.values(), float)


@lru_cache(maxsize=64)
def _generator(fingerprint: str, radius: int, n_bits: int) -> Any:
    make = require("rdkit.Chem.rdFingerprintGenerator", "mol")
    if fingerprint == "morgan":
        return make.GetMorganGenerator(radius=radius, fpSize=n_bits)
    kinds = {
        "rdkit": make.GetRDKitFPGenerator,
        "atom-pair": make.GetAtomPairGenerator,
        "torsion": make.GetTopologicalTorsionGenerator,
    }
    return kinds[fingerprint](fpSize=n_bits)


@contextmanager
def _no_logs() -> Iterator[None]:
    """Return a context manager within which RDKit does not print what is wrong with SMILES."""
    block = require("rdkit.rdBase", "mol").BlockLogs()
    try:
        yield
    finally:
        del block


def _stacked(rows: list[tuple[np.ndarray, np.ndarray]], width: int) -> sparse.csr_array:
    ends = np.concatenate([[0], np.cumsum([len(own) for own, _ in rows])])
    columns = np.concatenate([np.empty(0, np.int64), *(own for own, _ in rows)])
    values = np.concatenate([np.empty(0), *(own for _, own in rows)])
    if max(len(columns), width) < 2**31:  # scikit-learn's trees and machines take no others
        columns, ends = columns.astype(np.int32), ends.astype(np.int32)
    return sparse.csr_array((values, columns, ends), shape=(len(rows), width))


def invalid_smiles(X: Sequence[str]) -> list[int]:
    """Return the positions of texts that are not the SMILES of a molecule; an empty one is none."""
    parse = require("rdkit.Chem", "mol").MolFromSmiles
    with _no_logs():
        return [i for i, text in enumerate(X) if not text.strip() or parse(text) is None]


def scaffolds(X: ListLike) -> list[str]:
    """Return the Murcko scaffold of each molecule, as SMILES.

    The scaffold is what is left of the rings and the chains between them. Pass it as ``groups``, so that molecules
    with the same scaffold are never on both sides of a fold: the error is then that of new series of compounds. A
    molecule without a ring has none, and is a group of its own, under its own SMILES.

    Parameters
    ----------
    X : sequence of str or RDKit molecules
        SMILES, or molecules.

    Returns
    -------
    list of str
        The scaffolds.

    See Also
    --------
    fingerprints : Return the fingerprints of molecules as a sparse matrix, with a row for each.
    Tanimoto : Tanimoto similarity of molecules or fingerprints.

    References
    ----------
    G. W. Bemis and M. A. Murcko (1996), "The properties of known drugs. 1. Molecular frameworks", Journal of Medicinal
    Chemistry 39.

    Examples
    --------
    >>> from similitude.similarities import scaffolds
    >>> scaffolds(["Cc1ccccc1", "Oc1ccccc1", "CCO"])
    ['c1ccccc1', 'c1ccccc1', 'CCO']
    """
    chem, murcko = require("rdkit.Chem", "mol"), require("rdkit.Chem.Scaffolds.MurckoScaffold", "mol")
    items: list[Any] = list(X)  # type: ignore[arg-type]
    with _no_logs():
        molecules = [chem.MolFromSmiles(item) if isinstance(item, str) else item for item in items]
        invalid = [f"X[{i}] {items[i]}" for i, molecule in enumerate(molecules) if molecule is None]
        if invalid:
            raise ValueError(f"invalid SMILES: {some(invalid)}. Correct them or leave them out.")
        return [murcko.MurckoScaffoldSmiles(mol=own) or chem.MolToSmiles(own) for own in molecules]


class _Molecular(BatchSimilarity):
    """A function of what two fingerprints have in common, and of their sizes."""

    fingerprint: Fingerprint
    radius: int
    n_bits: int

    def _read(self, A: Any, B: Any, counts: bool = False) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return both batches as sparse matrices of the same width."""
        if not counts:
            A, B = unpacked(A, B, None, warns=False)
        left = self._batch(A, "A", counts)
        right = left if B is A else self._batch(B, "B", counts)
        if left.shape[1] != right.shape[1]:
            lengths = f"{left.shape[1]} and {right.shape[1]}"
            raise ValueError(f"A and B must have fingerprints of one length; got {lengths}.")
        return left, right

    def _batch(self, X: Any, name: str, counts: bool) -> sparse.csr_array:
        if is_molecular(X):
            return fingerprints(X, self.fingerprint, radius=self.radius, n_bits=self.n_bits, counts=counts)
        X = from_bytes(X, name)
        if not counts:
            rows = binary_rows(X, name, " Count fingerprints have 'minmax-tanimoto' and 'count-tanimoto'.")
            if rows is None:
                raise ValueError(_needed(name, X))
            return rows
        if isinstance(X, (list, tuple)) and X and all(sparse.issparse(row) for row in X):
            X = sparse.vstack(X)
        if not sparse.issparse(X) and not (getattr(X, "ndim", 0) == 2 and np.asarray(X).dtype.kind in "biuf"):
            raise ValueError(_needed(name, X))
        rows = sparse.csr_array(X, dtype=np.float64)
        if rows.nnz and (rows.data.min() < 0 or not np.isfinite(rows.data).all()):
            raise ValueError(f"{name} must hold counts of at least 0; got {rows.data.min():.6g}.")
        return rows


def _needed(name: str, X: Any) -> str:
    inside = f" of {type(X[0]).__name__}" if isinstance(X, (list, tuple)) and len(X) else ""
    return (
        f"{name} must be a list of SMILES or of RDKit's objects, or an array or sparse matrix with a fingerprint in "
        f"each row; got {type(X).__name__}{inside}."
    )


def _overlap(left: sparse.csr_array, right: sparse.csr_array) -> np.ndarray:
    return (left @ right.T).toarray()


def _sizes(rows: sparse.csr_array) -> np.ndarray:
    return np.asarray(rows.sum(axis=1)).ravel()


def _share(common: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return common / total, and 1 for two fingerprints without any bit."""
    return np.divide(common, total, out=np.ones_like(common), where=total > 0)


class Tanimoto(_Molecular):
    """Tanimoto similarity of molecules or fingerprints.

    With ``counts=None`` it is ``c / (a + b - c)``, where a and b are the numbers of bits of the two fingerprints and c
    that of common ones: the Jaccard similarity of the sets of bits. For counts x and z of the features it is
    ``sum_j min(x_j, z_j) / sum_j max(x_j, z_j)`` with "min-max", and ``x'z / (x'x + z'z - x'z)`` with "product".

    Parameters
    ----------
    fingerprint : {"morgan", "rdkit", "atom-pair", "torsion", "maccs"}, default="morgan"
        The fingerprint of SMILES and RDKit's molecules; "morgan" of radius 2 is also known as ECFP4.
    radius : int, default=2
        The radius of Morgan fingerprints.
    n_bits : int, default=2048
        The number of bits.
    counts : {None, "min-max", "product"}, default=None
        Whether features count as often as they occur, and how.

    See Also
    --------
    Tversky : Tversky similarity of molecules or fingerprints, which may depend on their order.
    jaccard : Return the Jaccard similarities ``|A n B| / |A u B|``.
    fingerprints : Return the fingerprints of molecules as a sparse matrix, with a row for each.

    References
    ----------
    D. J. Rogers and T. T. Tanimoto (1960), "A computer program for classifying plants", Science 132; P. Willett, J. M.
    Barnard and G. M. Downs (1998), "Chemical similarity searching".

    Examples
    --------
    >>> from similitude.similarities import Tanimoto
    >>> Tanimoto()(["CCO"], ["CCO", "CCN", "c1ccccc1"]).round(2)
    array([[1.  , 0.33, 0.  ]])
    >>> import numpy as np
    >>> Tanimoto(counts="min-max")(np.array([[2, 0, 1]]), np.array([[1, 0, 1], [0, 3, 0]])).round(2)
    array([[0.67, 0.  ]])
    """

    def __init__(
        self,
        fingerprint: Fingerprint = "morgan",
        radius: int = 2,
        n_bits: int = 2048,
        counts: Literal["min-max", "product"] | None = None,
    ):
        self.fingerprint = fingerprint
        self.radius = radius
        self.n_bits = n_bits
        self.counts = counts

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the matrix of similarities between two batches of molecules."""
        check_choice(self.counts, "counts", (None, "min-max", "product"))
        left, right = self._read(A, B, self.counts is not None)
        if self.counts == "min-max":
            left, right = _in_units(left, right)
        common = _overlap(left, right)
        if self.counts == "product":
            sizes = _sizes(left.multiply(left)), _sizes(right.multiply(right))
        else:
            sizes = _sizes(left), _sizes(right)
        return _share(common, sizes[0][:, None] + sizes[1][None, :] - common)


def _in_units(left: sparse.csr_array, right: sparse.csr_array) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return counts as sets: a feature that occurs c times is c elements, so that common ones are the smaller count."""
    for name, rows in (("A", left), ("B", right)):
        if rows.nnz and np.any(rows.data != np.floor(rows.data)):
            raise ValueError(f"{name} must hold whole numbers for counts='min-max'; use counts='product'.")
    most = int(max(left.data.max(initial=1), right.data.max(initial=1)))

    def expanded(rows: sparse.csr_array) -> sparse.csr_array:
        repeats = rows.data.astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(repeats)])
        places = np.repeat(rows.indices.astype(np.int64) * most, repeats)
        places += np.arange(len(places)) - np.repeat(starts[:-1], repeats)
        ends = starts[rows.indptr]
        return sparse.csr_array((np.ones(len(places)), places, ends), shape=(rows.shape[0], rows.shape[1] * most))

    one = expanded(left)
    return one, one if right is left else expanded(right)


class Tversky(_Molecular):
    """Tversky similarity of molecules or fingerprints, which may depend on their order.

    ``s(x, z) = c / (c + alpha (a - c) + beta (b - c))``, where a and b are the numbers of bits of x and z and c that of
    common ones. With ``alpha = beta = 1`` it is that of Tanimoto, with 0.5 that of Dice. With the default, it is large
    if most of x is in z, whatever else there is in z.

    Parameters
    ----------
    alpha, beta : float, default=0.9, 0.1
        The weights of the bits that only x, and only z, has.
    fingerprint, radius, n_bits
        See :class:`Tanimoto`.

    See Also
    --------
    Tanimoto : Tanimoto similarity of molecules or fingerprints.
    TverskyRatio : Tversky's ratio model on categorical rows, sets or binary vectors.

    References
    ----------
    A. Tversky (1977), "Features of similarity", Psychological Review 84.

    Examples
    --------
    >>> from similitude.similarities import Tversky
    >>> Tversky()(["c1ccccc1"], ["Cc1ccccc1"]).round(2), Tversky()(["Cc1ccccc1"], ["c1ccccc1"]).round(2)
    (array([[0.79]]), array([[0.29]]))
    """

    def __init__(
        self,
        alpha: float = 0.9,
        beta: float = 0.1,
        fingerprint: Fingerprint = "morgan",
        radius: int = 2,
        n_bits: int = 2048,
    ):
        self.alpha = alpha
        self.beta = beta
        self.fingerprint = fingerprint
        self.radius = radius
        self.n_bits = n_bits

    @property
    def symmetric(self) -> bool:
        """Whether the value does not depend on the order of the two molecules."""
        return self.alpha == self.beta

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the matrix of similarities between two batches of molecules."""
        for name in ("alpha", "beta"):
            check_positive(getattr(self, name), name)
        left, right = self._read(A, B)
        common = _overlap(left, right)
        only_left, only_right = _sizes(left)[:, None] - common, _sizes(right)[None, :] - common
        return _share(common, common + self.alpha * only_left + self.beta * only_right)


_molecules = partial(Measure, objects=OBJECTS, batch=True, range="0 to 1", library="RDKit")
_willett = "Rogers & Tanimoto 1960; Willett et al. 1998"
register(_molecules(Tanimoto(), name="tanimoto", symmetric=True, reference=_willett))
register(_molecules(Tanimoto(counts="min-max"), name="minmax-tanimoto", symmetric=True, reference=_willett))
register(_molecules(Tanimoto(counts="product"), name="count-tanimoto", symmetric=True, reference=_willett))
register(_molecules(Tversky(), name="tversky", reference="Tversky 1977"))
