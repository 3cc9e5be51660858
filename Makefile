# Two commands need nothing but Python 3.11 or later: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
MINIMUM := .venv-minimum/bin
# Neighbouring tests stay with one worker as long as the other has its own: each compiles other functions.
WORKERS := -n 2 --dist worksteal
# Tests, and the examples in docstrings and on the pages: in one run, so that everything is compiled once.
EVERYTHING := --doctest-modules --doctest-continue-on-failure --doctest-glob='*.md' \
	src reproductions tests README.md docs

# Two pytest workers on two cores: a second BLAS thread in each would only make them wait for one another.
test test-minimum pytest coverage: export OPENBLAS_NUM_THREADS := 1
test test-minimum pytest coverage: export OMP_NUM_THREADS := 1

.PHONY: demo test lint types pytest coverage test-minimum bench reproduce docs dist clean

demo: .venv/installed
	$(BIN)/similitude report --dataset voting --time-budget 110 --output demo-report.html

test: lint types coverage

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tests.docstrings

types: .venv/installed-dev
	$(BIN)/mypy

pytest: .venv/installed-dev
	$(BIN)/python -m pytest $(WORKERS) $(EVERYTHING)

# Compiled functions are invisible to coverage, so their own tests run once more, uncompiled.
coverage: .venv/installed-dev
	$(BIN)/python -m pytest $(WORKERS) $(EVERYTHING) --cov --cov-report=
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q $(WORKERS) -m compiled --cov --cov-append --cov-report=term \
		$$(grep -rl --include='*.py' mark.compiled tests)

test-minimum: .venv-minimum/installed
	$(MINIMUM)/python -m pytest $(WORKERS)

bench: .venv/installed-dev
	$(BIN)/python -m benchmarks

# The papers' tables, on the data that is available: hours. Results are kept, and the same command continues.
TABLES := chen2009-table3 chen2009-table4 chen2009kernels-table1 cazzanti2007-table1 cazzanti2007-table2 \
	cazzanti2007-table3 fusion2009-table1 fusion2009-table2 wang2009-table2
reproduce: .venv/installed-dev
	for name in $(TABLES); do $(BIN)/python -m reproductions $$name --store reproduced.sqlite --n-jobs -1 || exit; done

# A warning is an error: a link that leads nowhere, a docstring that does not parse, a page in no list.
docs: .venv/installed-docs
	rm -rf docs/generated
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

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

.venv/installed-docs: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	touch $@

.venv-minimum/installed: pyproject.toml requirements-minimum.txt
	$(PYTHON) -m venv .venv-minimum
	$(MINIMUM)/python -m pip install --quiet --upgrade pip
	$(MINIMUM)/python -m pip install --quiet -r requirements-minimum.txt
	$(MINIMUM)/python -m pip install --quiet --no-deps -e .
	touch $@

clean:
	rm -rf .venv .venv-minimum dist docs/_build docs/generated .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache
