"""The raw objects: promoter sequences as they ship, and scikit-learn's digits as images."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from similitude.datasets import bundled, load_digit_images, load_promoters


def test_promoters_counts():
    promoters = load_promoters()
    assert isinstance(promoters.data, list)
    assert len(promoters.data) == len(set(promoters.data)) == 106
    assert {len(sequence) for sequence in promoters.data} == {57}
    assert set("".join(promoters.data)) == set("acgt")
    assert dict(zip(*np.unique(promoters.target, return_counts=True))) == {"+": 53, "-": 53}


def test_promoters_known_sequences():
    """Two promoters as the repository prints them (S10 and AMPC)."""
    data, target = load_promoters(return_X_y=True)
    for sequence in (
        "tactagcaatacgcttgcgttcggtggttaagtatgtataatgcgcgggcttgtcgt",
        "tgctatcctgacagttgtcacgctgattggtgtcgttacaatctaacgcatcgccaa",
    ):
        assert target[data.index(sequence)] == "+"


def test_promoters_description():
    text = load_promoters().DESCR
    for part in ("UCI", "CC BY 4.0", "53"):
        assert part in text


def test_promoters_can_be_told_apart():
    """Leave-one-out 1-NN on the number of equal letters is far better than chance."""
    data, target = load_promoters(return_X_y=True)
    letters = np.array([list(sequence) for sequence in data])
    S = (letters[:, None] == letters).sum(axis=2)
    np.fill_diagonal(S, -1)
    assert (target[S.argmax(axis=1)] == target).mean() > 0.7


@pytest.mark.parametrize("damage", ["+,acgt\n", "*,{}\n".format("a" * 57)])
def test_damaged_promoters_are_refused(monkeypatch, tmp_path, damage):
    folder = tmp_path / "data"
    folder.mkdir()
    rows = "".join(f"{label},{sequence}\n" for sequence, label in zip(*load_promoters(return_X_y=True)))
    (folder / "promoters.csv").write_text("class,sequence\n" + rows.split("\n", 1)[1] + damage)
    monkeypatch.setattr(bundled.resources, "files", lambda _: tmp_path)
    with pytest.raises(ValueError, match=r"promoters.csv is damaged"):
        load_promoters()


def test_digit_images():
    digits = load_digit_images()
    assert digits.data.shape == (1797, 8, 8)
    np.testing.assert_array_equal(digits.data.reshape(1797, 64), load_digits().data)
    np.testing.assert_array_equal(digits.target, load_digits().target)
    assert digits.target_names == list(range(10))
    X, y = load_digit_images(return_X_y=True)
    np.testing.assert_array_equal(X, digits.data)
    np.testing.assert_array_equal(y, digits.target)
