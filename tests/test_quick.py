"""``make quick`` runs the tests of what has changed."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.quick import COMMON, ROOT, changed, checked_by


@pytest.mark.parametrize(
    ("name", "tests"),
    [
        ("src/similitude/kernel/robust_svc.py", ["tests/kernel", "src/similitude/kernel/robust_svc.py"]),
        ("src/similitude/meta.py", ["tests/test_meta.py", "src/similitude/meta.py"]),
        ("native/kernel/bindings.cpp", ["tests/kernel"]),
        ("native/common/arrays.hpp", []),
        ("tests/kernel/test_askf.py", ["tests/kernel/test_askf.py"]),
        ("tests/neighbors/problems.py", ["tests/neighbors"]),
        ("docs/kernel.md", ["docs/kernel.md"]),
        ("CHANGELOG.md", []),
    ],
)
def test_what_checks_a_file(name, tests):
    if not (ROOT / name).exists():
        pytest.skip("the source of the package is not here")
    assert checked_by(name, ROOT) == tests


def test_a_reference_runs_the_tests_that_import_it():
    found = [f"tests/kernel/test_learned_{what}.py" for what in ("kernel", "spectrum")]
    assert checked_by("tests/reference/learned_kernel.py", ROOT) == found


def test_common_tests_exist():
    assert [name for name in COMMON if not (ROOT / name).is_file()] == []


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_changed_files_are_those_of_the_branch_and_of_no_commit(tmp_path):
    def git(*words):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    def write(*names):
        for name in names:
            Path(tmp_path, name).write_text(name + "!" * len(list(tmp_path.iterdir())))

    git("init", "-b", "main")
    write("same.py", "removed.py", "edited.py", "committed.py")
    git("add", ".")
    git("commit", "-m", "a")
    git("checkout", "-b", "branch")
    write("committed.py")
    git("rm", "removed.py")
    git("commit", "-am", "b")
    write("edited.py", "new.py")
    assert sorted(changed(tmp_path)) == ["committed.py", "edited.py", "new.py"]
