# Two commands: `make demo` and `make test`. Each sets up what it needs from a clean clone.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo test mutants test-bounds docs check-docs lint format bench integration environments packages pictures clean help

help:
	@echo "make demo    set up, evaluate the bundled example, write the page"
	@echo "make test    set up, run linters, type checker and tests"
	@echo "make test-bounds   run the numeric tests with every index of a compiled kernel checked"
	@echo "make mutants   put known faults into a copy of the source and see that the tests notice each"
	@echo "make integration   test clusters, databases, notebooks, experiments and the site"
	@echo "make environments   try the packages in empty environments, at the lowest versions and on other Pythons"
	@echo "make packages   both of them"
	@echo "make docs    set up, build the documentation into site/ (open site/index.html)"
	@echo "make check-docs   spelling, links, anchors, examples, stale pictures and figures, every page on a phone (needs Chromium)"
	@echo "make pictures   make the pictures of README and site anew (needs Chromium)"
	@echo "make bench   timings against the alternatives, as ratios"
	@echo "make clean   remove what the other commands made"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "cutline needs Python 3.11 or newer; say which with: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "Python's venv module is missing; on Debian: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The passes over rows are compiled by the C++ compiler that is there; where there is none, zig comes as a Python package.
# What it remembers stays in the environment: the home folder may not be writable.
ifeq ($(shell command -v c++ || command -v g++ || command -v clang++),)
ZIG := $(VENV)/.zig
export CXX := $(abspath $(BIN))/python -m ziglang c++
export AR := $(abspath $(BIN))/python -m ziglang ar
export ZIG_GLOBAL_CACHE_DIR := $(abspath $(VENV))/zig-cache
endif
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

$(VENV)/.zig: | $(BIN)/python
	@echo "There is no C++ compiler; installing zig, which is one (once; some minutes) …"
	$(PIP) ziglang
	@touch $@

# What compiles is installed first and stays: an editable installation compiles what has changed when it is imported.
# setuptools is for pyspark, which comes as source and is built without isolation as cutline is.
$(VENV)/.build: | $(BIN)/python $(ZIG)
	$(PIP) 'meson-python>=0.17' 'cython>=3.1' 'ninja>=1.11' 'numpy>=2.0' 'setuptools>=70.1'
	@touch $@

# The stamps make a second run quick: pip runs only when pyproject.toml or meson.build has changed.
EDITABLE = PATH="$(abspath $(BIN)):$$PATH" $(PIP) --no-build-isolation -e

$(VENV)/.demo: pyproject.toml meson.build | $(VENV)/.build
	@echo "Installing cutline and what it needs (once; a minute or two) …"
	$(EDITABLE) .
	@touch $@

$(VENV)/.docs: pyproject.toml meson.build | $(VENV)/.build
	@echo "Installing cutline and what builds its documentation (once; a minute or two) …"
	$(EDITABLE) '.[docs]'
	@touch $@

$(VENV)/.dev: pyproject.toml meson.build | $(VENV)/.build
	@echo "Installing cutline, its extras and the test tools (once; some minutes) …"
	$(EDITABLE) '.[dev]'
	@touch $@ $(VENV)/.demo $(VENV)/.docs

demo: $(VENV)/.demo
	$(BIN)/cutline demo

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -E -a -W --keep-going -q -b html -d build/doctrees docs site
	@echo "Written: site/index.html"

test: $(VENV)/.dev
	@$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m 'not integration'

# The passes are compiled once more, with every index checked, and then again as they were.
NUMERIC := kernels sweep bootstrap oracle golden edge_cases power classes counts worth
NUMERIC += engines engines_keyed engines_labels engines_sources engines_types
test-bounds: $(VENV)/.dev
	$(EDITABLE) . --no-deps -Csetup-args=-Dbounds=true
	$(BIN)/python -m pytest -q -n 2 -m 'not integration' $(NUMERIC:%=tests/test_%.py)
	$(EDITABLE) . --no-deps

check-docs: $(VENV)/.dev
	$(BIN)/codespell
	$(BIN)/python -m pytest -q tests/test_docs.py tests/test_cli_docs.py tests/test_screens.py tests/test_versions.py tests/test_site.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

pictures: $(VENV)/.dev
	$(BIN)/python docs/screens.py

bench: $(VENV)/.dev
	for script in core inference compare; do $(BIN)/python benchmarks/$$script.py || exit 1; done

# Each fault is put into a copy of the source; the tests named for it must fail.
mutants: $(VENV)/.dev
	$(BIN)/python tests/mutants/run.py

integration: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m integration

# All of them, or some: make environments ENVIRONMENTS='core sql'.
environments: $(VENV)/.dev
	$(BIN)/python tests/packages/check.py $(ENVIRONMENTS)

packages: integration environments

clean:
	rm -rf $(VENV) build dist site docs/gallery docs/measures docs/notebooks docs/reference .pytest_cache .mypy_cache .ruff_cache .hypothesis
