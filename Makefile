# Two commands need nothing but Python 3.11 or later and a C++20 compiler: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
MINIMUM := .venv-minimum/bin
# The rooms that have compiled code, and its files.
COMPILED := $(patsubst native/%/bindings.cpp,tests/%,$(wildcard native/*/bindings.cpp))
SOURCES := $(shell find native -name '*.hpp' -o -name '*.cpp')
NATIVE := CMakeLists.txt $(SOURCES)
WORKERS := -n 2 --dist worksteal
# How long `make test` takes from a fresh clone on two cores.
MINUTES := 10
# Tests, and the examples in docstrings and on the pages.
EVERYTHING := --doctest-modules --doctest-continue-on-failure --doctest-glob='*.md' \
	src reproductions tests README.md docs

# Real data for tests and benchmarks, which is not shipped; tests that need it are skipped without it.
ifneq ($(wildcard ../shared/data),)
export SIMILITUDE_DATA ?= $(abspath ../shared/data)
endif

# Two pytest workers on two cores: a second BLAS thread in each would only make them wait for one another.
quick test test-installed test-minimum pytest coverage native-coverage test-sanitized torture: export OPENBLAS_NUM_THREADS := 1
quick test test-installed test-minimum pytest coverage native-coverage test-sanitized torture: export OMP_NUM_THREADS := 1

.PHONY: demo quick test lint types pytest coverage native-coverage test-sanitized torture stubs test-minimum test-installed bench reproduce docs dist clean

demo: .venv/installed
	$(BIN)/similitude report --dataset voting --time-budget 110 --n-jobs -1 --output demo-report.html

# While one works: lint and types of what has changed since the branch left main, and the tests of the changed rooms.
quick: .venv/built
	$(BIN)/python -m tests.quick

# The second build of the compiled code needs no result of lint and types, which use one core each.
test:
	@echo "make test takes about $(MINUTES) minutes on two cores; 'make quick' checks only what has changed."
	$(MAKE) -j 2 lint types build/coverage/built
	$(MAKE) coverage native-coverage

lint: .venv/built
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(SOURCES)
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tests.docstrings

types: .venv/built
	$(BIN)/mypy

pytest: .venv/built
	$(BIN)/python -m pytest $(WORKERS) $(EVERYTHING)

coverage: .venv/built
	$(BIN)/python -m pytest $(WORKERS) $(EVERYTHING) --cov --cov-report=term

# The tests of rooms with compiled code, once more with a build that counts its lines and aborts at an index out of range.
# Those marked `untraced` reach no line of their own here either.
native-coverage: build/coverage/built
	find build/coverage -name '*.gcda' -delete
	SIMILITUDE_NATIVE=$$(ls build/coverage/_native.*) $(BIN)/python -m pytest -q $(WORKERS) -m 'not untraced' $(COMPILED)
	$(BIN)/gcovr --root native --object-directory build/coverage --merge-lines --print-summary \
		--gcov-suspicious-hits-threshold 0 \
		--fail-under-line 98 build/coverage

# The same with the address and undefined-behaviour sanitizers, whose library must be the first that is loaded, before
# that of C++, whose exceptions it follows.
test-sanitized: build/sanitized/built
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0 \
		UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		SIMILITUDE_NATIVE=$$(ls build/sanitized/_native.*) $(BIN)/python -m pytest -q -k 'not killed' $(COMPILED)

# Attempts to break the package (forged and damaged files, kills, full disks, threads), with a build that checks every
# index, and a tenth of them with the sanitizers; it prints what was tried, survived and failed. Minutes.
torture: build/checked/built build/sanitized/built
	SIMILITUDE_NATIVE=$$(ls $(CURDIR)/build/checked/_native.*) $(BIN)/python -m tests.torture
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0 \
		UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		SIMILITUDE_NATIVE=$$(ls $(CURDIR)/build/sanitized/_native.*) $(BIN)/python -m tests.torture --share 0.1

build/checked/built build/coverage/built build/sanitized/built: build/%/built: $(NATIVE) .venv/installed-dev
	$(BIN)/cmake -S . -B build/$* -G Ninja -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -DSIMILITUDE_CHECKED=ON \
		-DSIMILITUDE_$$(echo $* | tr a-z A-Z)=ON -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja > build/$*.log
	MAKEFLAGS= $(BIN)/cmake --build build/$* >> build/$*.log
	touch $@

# The types of the compiled functions, as mypy and editors read them.
stubs: .venv/built
	$(BIN)/python -m nanobind.stubgen -q -m similitude._native -o src/similitude/_native.pyi

test-minimum: .venv-minimum/installed
	$(MINIMUM)/python -m pytest $(WORKERS)

# All benchmarks that are not run alone: hours. What has ended is kept, the same command continues, and the tables of the
# page are written from it.
bench: .venv/built
	$(BIN)/python -m benchmarks --store benchmarks.jsonl --pages docs

# The papers' tables, on the data that is available: hours, as the command says. Results are kept, the same command
# continues, and the page of results is written from them.
reproduce: .venv/built
	$(BIN)/python -m reproductions --all --store reproduced.sqlite --n-jobs -1
	$(BIN)/python -m reproductions --variants --store reproduced.sqlite --n-jobs -1
	$(BIN)/python -m reproductions --page docs/results.md --store reproduced.sqlite

# A warning is an error: a link that leads nowhere, a docstring that does not parse, a page in no list.
docs: .venv/installed-docs
	rm -rf docs/generated
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

dist: .venv/installed-dev
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

# The tests of the source distribution against the wheel, which is installed in an environment of its own; the source of
# the package is not unpacked. With the part that [tool.cibuildwheel] in pyproject.toml names, every wheel is tested so.
test-installed: dist
	rm -rf .venv-installed build/installed
	$(PYTHON) -m venv .venv-installed
	.venv-installed/bin/python -m pip install --quiet --upgrade pip
	.venv-installed/bin/python -m pip install --quiet --group test "$$(ls dist/*.whl)[all]"
	mkdir -p build/installed
	tar -xzf dist/*.tar.gz -C build/installed --strip-components 1 --exclude '*/src'
	cd build/installed && ../../.venv-installed/bin/python packaging/check_installed.py
	cd build/installed && ../../.venv-installed/bin/python -m pytest $(WORKERS)

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/installed: pyproject.toml $(NATIVE) | .venv/bin/python
	$(BIN)/python -m pip install --quiet -e .
	touch $@

# The tools of the build are also installed, so that a change of native/ is built in seconds.
.venv/installed-dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --group dev
	$(BIN)/python -m pip install --quiet --no-build-isolation -e '.[all]'
	touch $@ .venv/installed .venv/built

.venv/built: $(NATIVE) .venv/installed-dev
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps -e .
	touch $@

.venv/installed-docs: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --group docs -e '.[strings,plot]'
	touch $@

.venv-minimum/installed: pyproject.toml requirements-minimum.txt
	$(PYTHON) -m venv .venv-minimum
	$(MINIMUM)/python -m pip install --quiet --upgrade pip
	$(MINIMUM)/python -m pip install --quiet -r requirements-minimum.txt
	$(MINIMUM)/python -m pip install --quiet --no-deps -e .
	touch $@

clean:
	rm -rf .venv .venv-minimum .venv-installed build dist docs/_build docs/generated .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache
