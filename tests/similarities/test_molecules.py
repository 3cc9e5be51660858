"""Similarities of molecules: equal to RDKit's, in every form in which fingerprints come."""

import numpy as np
import pytest
from scipy import sparse

from similitude import KNNClassifier
from similitude.similarities import Tanimoto, Tversky, dice, fingerprints, jaccard, scaffolds
from similitude.similarities.registry import resolve
from tests.cli.command import done, read_table, refused

Chem = pytest.importorskip("rdkit.Chem")
from rdkit import DataStructs  # noqa: E402
from rdkit.Chem import rdFingerprintGenerator  # noqa: E402

ACIDS = ["CC(=O)O", "CCC(=O)O", "CCCC(=O)O", "CC(C)C(=O)O", "OC(=O)CC(=O)O", "OC(=O)c1ccccc1", "Cc1ccccc1C(=O)O"]
AMINES = ["CN", "CCN", "CCCN", "CC(C)N", "NCCN", "Nc1ccccc1", "Cc1ccccc1N"]
SMILES, Y = [*ACIDS, *AMINES], np.repeat(["acid", "amine"], 7)
MOLECULES = [Chem.MolFromSmiles(text) for text in SMILES]
GENERATOR = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
BITS = [GENERATOR.GetFingerprint(molecule) for molecule in MOLECULES]
COUNTS = [GENERATOR.GetCountFingerprint(molecule) for molecule in MOLECULES]
DENSE = np.array([list(bits) for bits in BITS], dtype=np.uint8)
COUNT_ROWS = np.array([counts.ToList() for counts in COUNTS])
TANIMOTO = np.array([DataStructs.BulkTanimotoSimilarity(bits, BITS) for bits in BITS])
FORMS = {
    "SMILES": SMILES,
    "molecules": MOLECULES,
    "bit vectors": BITS,
    "array": DENSE,
    "booleans": DENSE.astype(bool),
    "packed": np.packbits(DENSE, axis=1),
    "bytes": [row.tobytes() for row in np.packbits(DENSE, axis=1)],
    "sparse": sparse.csr_array(DENSE),
}


@pytest.mark.parametrize("form", FORMS)
def test_tanimoto_is_that_of_rdkit_in_every_form(form):
    X = FORMS[form]
    np.testing.assert_allclose(Tanimoto()(X, X), TANIMOTO, rtol=1e-15)
    # Estimators take every form, and cut it into folds.
    model = KNNClassifier(1, similarity="tanimoto").fit(X, Y)
    assert model.predict(X).tolist() == Y.tolist()
    if form not in ("packed", "bytes"):
        np.testing.assert_allclose(jaccard(X, X), TANIMOTO, rtol=1e-15)
        np.testing.assert_allclose(dice(X, X), 2 * TANIMOTO / (1 + TANIMOTO), rtol=1e-14)


def test_counts():
    expected = np.array([DataStructs.BulkTanimotoSimilarity(counts, COUNTS) for counts in COUNTS])
    for X in (SMILES, COUNTS, COUNT_ROWS, sparse.csr_array(COUNT_ROWS)):
        np.testing.assert_allclose(resolve("minmax-tanimoto").function(X, X), expected, rtol=1e-15)
        products = (COUNT_ROWS @ COUNT_ROWS.T).astype(float)
        squares = np.diag(products)
        product = products / (squares[:, None] + squares - products)
        np.testing.assert_allclose(resolve("count-tanimoto").function(X, X), product, rtol=1e-14)
    with pytest.raises(ValueError, match="Count fingerprints have 'minmax-tanimoto' and 'count-tanimoto'"):
        Tanimoto()(COUNT_ROWS, COUNT_ROWS)


def test_tversky_depends_on_the_order():
    expected = [[DataStructs.TverskySimilarity(x, z, 0.9, 0.1) for z in BITS] for x in BITS]
    np.testing.assert_allclose(Tversky()(SMILES, SMILES), expected, rtol=1e-14)
    np.testing.assert_allclose(Tversky(1.0, 1.0)(SMILES, SMILES), TANIMOTO, rtol=1e-14)
    assert [resolve(own).symmetric for own in ("tversky", Tversky(1.0, 1.0))] == [False, True]


def test_other_fingerprints():
    for name in ("rdkit", "atom-pair", "torsion", "maccs"):
        S = Tanimoto(fingerprint=name)(SMILES, SMILES)
        np.testing.assert_allclose(S, S.T)
        assert np.diag(S).min() == 1
    assert fingerprints(SMILES, radius=0).sum() < fingerprints(SMILES).sum()
    np.testing.assert_array_equal(fingerprints(SMILES, n_bits=64).sum(axis=1) <= 64, True)


def test_invalid_smiles_are_named():
    with pytest.raises(ValueError, match="invalid SMILES: 'C1CC', 'benzene'"):
        Tanimoto()(["CCO", "C1CC", "benzene"], ["CCO"])
    with pytest.raises(ValueError, match=r"invalid SMILES: 'X\[1\] C1CC'"):
        scaffolds(["CCO", "C1CC"])
    with pytest.raises(ValueError, match="invalid SMILES: 'C1CC'"):
        KNNClassifier(1, similarity="tanimoto").fit(SMILES, Y).predict(["C1CC"])


def test_names_that_people_use():
    for name, meant in {
        "ecfp4": "tanimoto",
        "Tanimoto": "tanimoto",
        "ruzicka": "minmax-tanimoto",
        "edit": "levenshtein",
    }.items():
        with pytest.raises(ValueError, match=f"Did you mean '{meant}'"):
            resolve(name)


def test_scaffolds_are_groups():
    assert scaffolds(["Cc1ccccc1", "Oc1ccccc1", "CCO", "C1CCCCC1C"]) == ["c1ccccc1", "c1ccccc1", "CCO", "C1CCCCC1"]


def test_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"m{i},{text},{label}\n" for i, (text, label) in enumerate(zip(SMILES, Y)))
    (tmp_path / "t.csv").write_text(f"mol_id,smiles,kind\n{rows}bad,C1CC,acid\n")
    fit = ("fit", "t.csv", "--object", "smiles", "--label", "kind", "--method", "k-nn", "-o", "m.model")
    said = done(*fit, "--similarity", "tanimoto", "--groups", "scaffold").stderr
    assert "1 SMILES is invalid and is left out: 'bad (C1CC)'." in said
    assert "--groups scaffold: 11 scaffolds, the largest with 4 of 14 molecules." in said
    (tmp_path / "new.csv").write_text("mol_id,smiles\nx,CCCCC(=O)O\ny,nonsense\n")
    assert (
        "1 SMILES is invalid, which gives no evidence: 'y (nonsense)'"
        in done("predict", "m.model", "new.csv", "-o", "out.csv").stderr
    )
    assert [row[:2] for row in read_table(tmp_path / "out.csv")[1:]] == [["x", "acid"], ["y", "unassigned"]]
    # A column of SMILES is one of molecules also for similarities of sets.
    assert "1 SMILES is invalid" in done(*fit, "--similarity", "dice").stderr
    (tmp_path / "t.smi").write_text("".join(f"{text} m{i}\n" for i, text in enumerate(SMILES)))
    done("pairwise", "t.smi", "--similarity", "tanimoto", "-o", "S.csv")
    S = [row[1:] for row in read_table(tmp_path / "S.csv")[1:]]
    np.testing.assert_allclose(np.array(S, dtype=float), TANIMOTO, rtol=1e-14)
    assert "--groups scaffold is for molecules" in refused(*fit, "--similarity", "levenshtein", "--groups", "scaffold")
