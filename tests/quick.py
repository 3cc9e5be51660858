"""Check what has changed since the branch left main: lint, types, and the tests of the changed rooms.

`make quick` runs it while one works; `make test` checks everything.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAMS = Path(sys.executable).parent
# Tests that reach no line of their own are left to `make test`.
CHOSEN = ["-n", "2", "--dist", "worksteal", "-m", "not untraced"]
# Tests of the whole package that take a few seconds together, which run after every change.
COMMON = [f"tests/test_{name}.py" for name in ("base", "docs", "package", "rooms", "scikit_learn")]
PAGES = ["--doctest-modules", "--doctest-continue-on-failure", "--doctest-glob=*.md"]


def changed(root):
    """Return the paths of files that differ from where the branch left main, or are not committed, and exist."""

    def lines(*arguments):
        found = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, encoding="utf-8")
        return found.stdout.splitlines() if found.returncode == 0 else []

    start = next((found for name in ("main", "origin/main") if (found := lines("merge-base", "HEAD", name))), ["HEAD"])
    names = lines("diff", "--name-only", *start) + lines("ls-files", "--others", "--exclude-standard")
    return [name for name in dict.fromkeys(names) if (root / name).is_file()]


def checked_by(name, root):
    """Return what pytest runs for a changed file: the tests of its room, and the file itself if it has any."""
    path = Path(name)
    own = [name] if path.suffix == ".md" and (path.parts[0] == "docs" or name == "README.md") else []
    match path.parts:
        case ("tests", *_) if path.name.startswith("test_"):
            found = [name]
        case ("tests", "reference", module):
            found = _users(f"reference.{path.stem}", root) if module != "__init__.py" else []
        case ("tests", room, _):
            found = [f"tests/{room}"]
        case ("src", "similitude", single) if path.suffix == ".py":
            found = [f"tests/test_{Path(single).stem}.py", name]
        case ("src", "similitude", room, *_) if path.suffix == ".py":
            found = [f"tests/{room}", name]
        case ("native", room, *_):
            found = [f"tests/{room}"]
        case _:
            found = own
    return [path for path in found if (root / path).exists()]


def _users(module, root):
    """Return the files of tests that import a module of ``tests``."""
    package, _, name = module.rpartition(".")
    wanted = re.compile(rf"^from tests\.({re.escape(module)} import|{package} import .*\b{name}\b)", re.MULTILINE)
    files = sorted((root / "tests").rglob("test_*.py"))
    return [str(path.relative_to(root)) for path in files if wanted.search(path.read_text(encoding="utf-8"))]


def main():
    """Run the checks one after another, and end with the first that fails."""
    names = changed(ROOT)
    sources = [name for name in names if name.endswith(".py")]
    tests = sorted({test for name in names for test in checked_by(name, ROOT)} | set(COMMON))
    print(f"{len(names)} files have changed; tests: {' '.join(tests)}", flush=True)
    ruff, python = PROGRAMS / "ruff", sys.executable
    checks = [[ruff, "check", *sources], [ruff, "format", "--check", *sources]] if sources else []
    checks += [[python, "-m", "mypy"], [python, "-m", "pytest", "-q", *CHOSEN, *PAGES, *tests]]
    start = time.monotonic()
    for check in checks:
        code = subprocess.run(check, cwd=ROOT).returncode
        if code:
            sys.exit(code)
    print(f"make quick: {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
