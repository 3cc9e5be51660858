# Two commands need nothing but Python 3.11 or later: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
MINIMUM := .venv-minimum/bin

# Two pytest workers on two cores: a second BLAS thread in each would only make them wait for one another.
test test-minimum doctest pytest coverage: export OPENBLAS_NUM_THREADS := 1
test test-minimum doctest pytest coverage: export OMP_NUM_THREADS := 1

.PHONY: demo test lint types doctest pytest coverage test-minimum bench dist clean

demo: .venv/installed
	$(BIN)/similitude compare --dataset voting --output demo-voting.csv

test: lint types doctest coverage

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-dev
	$(BIN)/mypy

doctest: .venv/installed-dev
	$(BIN)/python -m pytest -n 2 --doctest-modules --doctest-continue-on-failure src
	$(BIN)/python -m pytest -n 2 --doctest-glob='*.md' README.md docs

pytest: .venv/installed-dev
	$(BIN)/python -m pytest -n 2

# The compiled kernels are invisible to coverage, so their own tests run once more, uncompiled.
coverage: .venv/installed-dev
	$(BIN)/python -m pytest -n 2 --cov --cov-report=
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n 2 -m kernel --cov --cov-append --cov-report=term

test-minimum: .venv-minimum/installed
	$(MINIMUM)/python -m pytest -n 2

bench: .venv/installed-dev
	$(BIN)/python -m benchmarks

dist: .venv/installed-dev
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/installed: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet -e .
	touch $@

.venv/installed-dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@ .venv/installed

.venv-minimum/installed: pyproject.toml requirements-minimum.txt
	$(PYTHON) -m venv .venv-minimum
	$(MINIMUM)/python -m pip install --quiet --upgrade pip
	$(MINIMUM)/python -m pip install --quiet -r requirements-minimum.txt
	$(MINIMUM)/python -m pip install --quiet --no-deps -e .
	touch $@

clean:
	rm -rf .venv .venv-minimum dist .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache
