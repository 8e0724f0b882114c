# Everything runs in $(VENV), which needs nothing but Python 3.11 or newer.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# The versions to install; the two targets below name others.
CONSTRAINTS ?= constraints.txt
EXTRAS ?= dev
# Of the interpreters on the path and those of pyenv, whose stubs answer for one of them only.
NEWEST := $(shell for minor in 14 13 12; do for each in python3.$$minor $(HOME)/.pyenv/versions/3.$$minor.*/bin/python; do $$each -c pass >/dev/null 2>&1 && echo $$each && exit; done; done)
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check

# Processes side by side, in tests and studies; JOBS=0 runs the tests in this process.
JOBS ?= 2

# Many tests start a program: it should find our modules compiled.
unexport PYTHONDONTWRITEBYTECODE

# Small matrices lose more to thread hand-over than they gain, and timings should compare.
export OMP_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-lowest test-newest pytest docs tutorials charts bench study clean distclean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.installed ## simulate hidden causes, recover them, and print what was found
	@$(BIN)/mixoracle demo

test: $(VENV)/.installed-dev ## the whole gate: format, lint, types, import rules, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n $(JOBS) --dist worksteal

pytest: $(VENV)/.installed-dev
	$(BIN)/pytest -n $(JOBS) --dist worksteal

test-slow: $(VENV)/.installed-dev ## the tests of real data that take long, which the gate leaves out
	MIXORACLE_SLOW=1 $(BIN)/pytest tests/test_real_tests.py tests/test_rig.py

test-lowest: ## the tests with the oldest versions that pyproject.toml allows
	$(MAKE) pytest VENV=.venv-lowest CONSTRAINTS=constraints-lowest.txt EXTRAS=test

test-newest: ## the tests with the newest Python found and the newest versions there are
	$(MAKE) pytest VENV=.venv-newest CONSTRAINTS=/dev/null PYTHON=$(or $(NEWEST),$(PYTHON))

docs: $(VENV)/.installed-docs ## build the site in build/site; a dead link or any other warning is an error
	$(BIN)/python docs/site/build.py

tutorials: $(VENV)/.installed ## run every program of the tutorials and how-to pages, and compare the output
	$(BIN)/python docs/site/run_pages.py

charts: ## bundle the charting library of the report anew (needs Node.js and npm)
	cd tools/charts && npm ci --ignore-scripts --no-audit --no-fund && npm run build

bench: $(VENV)/.installed ## time recovery, layout and sampling on one core
	@set -e; for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script; done

# About half an hour on two cores; interrupted, the same command continues.
STUDY ?= study-result
study: $(VENV)/.installed ## the paper's experiments, 600 + 136 runs, with a report beside theirs
	$(BIN)/mixoracle experiment paper --jobs $(JOBS) --out $(STUDY)/paper
	$(BIN)/mixoracle experiment small --jobs $(JOBS) --out $(STUDY)/small
	$(BIN)/mixoracle experiment report $(STUDY)/paper $(STUDY)/small --out $(STUDY)/report

clean: ## remove caches and results
	rm -rf build dist demo-result tools/charts/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks examples docs -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## also remove the virtual environment
	rm -rf $(VENV) .venv-lowest .venv-newest

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "mixoracle needs Python 3.11 or newer; set PYTHON=, got " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)

# The build backend is installed first and used from there, so that it is pinned like the rest.
$(VENV)/.installed: pyproject.toml $(CONSTRAINTS) | $(BIN)/python
	$(PIP) install -c $(CONSTRAINTS) hatchling editables
	$(PIP) install -c $(CONSTRAINTS) --no-build-isolation -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) install -c $(CONSTRAINTS) --no-build-isolation -e '.[$(EXTRAS)]'
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(PIP) install -c $(CONSTRAINTS) --no-build-isolation -e '.[docs]'
	@touch $@
