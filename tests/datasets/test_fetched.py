"""Fetched data: where it is searched, what is refused, and its size. No test uses a network."""

import io
import sys
import tarfile

import numpy as np
import pytest

from similitude.datasets import fetch_protein, fetched

pytestmark = pytest.mark.usefixtures("no_network")


@pytest.fixture
def protein_file(data_folder):
    path = data_folder / "protein.RData"
    if not path.is_file():
        pytest.skip(f"no {path}")
    return path


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty cache of the user's, instead of the real one."""
    pooch = pytest.importorskip("pooch")
    pytest.importorskip("rdata")
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache" / name)
    return tmp_path / "cache" / "similitude"


def archive_of(content, name=fetched.PROTEIN_MEMBER):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def serve(monkeypatch, content):
    """Let pooch "download" these bytes; returns the addresses that were asked for."""
    import pooch

    asked = []

    def retrieve(url, known_hash, path, **options):
        asked.append(url)
        target = f"{path}/archive.tar.gz"
        with open(target, "wb") as file:
            file.write(content)
        return target

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    return asked


# Protein


def check_protein(protein):
    assert protein.D.shape == (213, 213)
    assert protein.D.dtype == np.float64
    np.testing.assert_array_equal(protein.D, protein.D.T)
    np.testing.assert_array_equal(np.diag(protein.D), 0)
    assert dict(zip(*np.unique(protein.y, return_counts=True))) == {"G": 30, "HA": 72, "HB": 72, "M": 39}
    assert "Hofmann" in protein.DESCR


def test_protein_in_data_home(cache, protein_file):
    check_protein(fetch_protein(protein_file.parent))


def test_protein_in_the_environments_folder(cache, monkeypatch, protein_file):
    monkeypatch.setenv("SIMILITUDE_DATA", str(protein_file.parent))
    check_protein(fetch_protein(download_if_missing=False))


def test_protein_classes_are_near_themselves(cache, protein_file):
    protein = fetch_protein(protein_file.parent)
    D = protein.D + np.diag(np.full(213, np.inf))
    assert (protein.y[D.argmin(axis=1)] == protein.y).mean() > 0.9


def test_protein_is_downloaded_once(cache, monkeypatch, protein_file):
    asked = serve(monkeypatch, archive_of(protein_file.read_bytes()))
    check_protein(fetch_protein())
    assert asked == [fetched.PROTEIN_URL]
    assert [path.name for path in cache.iterdir()] == ["protein.RData"]
    check_protein(fetch_protein())
    assert len(asked) == 1


def test_protein_is_downloaded_to_data_home(cache, monkeypatch, protein_file, tmp_path):
    serve(monkeypatch, archive_of(protein_file.read_bytes()))
    fetch_protein(tmp_path / "home")
    assert (tmp_path / "home" / "protein.RData").read_bytes() == protein_file.read_bytes()
    assert not cache.exists()


def test_wrong_hash_in_a_folder(cache, tmp_path):
    (tmp_path / "protein.RData").write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"protein.RData: the SHA-256 is [0-9a-f]{64}, not the known 009f95ed"):
        fetch_protein(tmp_path)


def test_wrong_hash_of_the_download(cache, monkeypatch):
    serve(monkeypatch, archive_of(b"something else"))
    with pytest.raises(ValueError, match=r"evclust/data/protein.RData in https:.*the SHA-256 is"):
        fetch_protein()
    assert not cache.exists()


@pytest.mark.parametrize("content", [b"no archive", archive_of(b"x", "evclust/other")])
def test_archive_without_the_file(cache, monkeypatch, content):
    serve(monkeypatch, content)
    with pytest.raises(OSError, match=r"could not be downloaded .* Put protein.RData"):
        fetch_protein()


def test_no_network(cache, monkeypatch):
    import pooch

    def fail(*arguments, **options):
        raise ConnectionError("no route")

    monkeypatch.setattr(pooch, "retrieve", fail)
    with pytest.raises(OSError, match="no route") as caught:
        fetch_protein()
    assert str(cache) in str(caught.value)
    assert "SIMILITUDE_DATA" in str(caught.value)


def test_download_not_wanted(cache, tmp_path):
    with pytest.raises(OSError, match="download_if_missing=False") as caught:
        fetch_protein(tmp_path, download_if_missing=False)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("package", ["rdata", "pooch"])
def test_missing_extra(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"needs {package}: pip install 'similitude\[data\]'"):
        fetch_protein()
