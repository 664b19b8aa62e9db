# make demo   everything on this machine, no key and no network needed once installed
# make test   all that CI runs: linters, types, Python, JavaScript and browser tests
# make bench  measures against the targets in docs/benchmarks.md

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Installed alone and first: resolved together with other packages, pip may take a build for GPUs of several GB.
TORCH ?= torch==2.13.0
# Further options of `convolabel demo`, for example DEMO="--no-browser --port 8090"
DEMO ?=
# Further options of pytest, for example PYTEST="-k reveal"
PYTEST ?=

.PHONY: demo test lint test-js test-py bench services clean

demo: $(VENV)/.demo
	@exec $(BIN)/convolabel demo $(DEMO)

test: $(VENV)/.dev services lint test-js test-py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test-js:
	@command -v node >/dev/null || { echo "The tests of the page need Node.js 20 or newer (node is not on the PATH)."; exit 1; }
	node --test tests/page/*.test.mjs

test-py: $(VENV)/.dev services
	$(BIN)/python -m pytest $(PYTEST)

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

services:
	@sh tests/require_services.sh

$(VENV)/.demo: pyproject.toml
	$(call install,demo)

$(VENV)/.dev: pyproject.toml
	$(call install,dev)
	@touch $(VENV)/.demo

define install
@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "convolabel needs Python 3.11 or newer; set PYTHON=... to one.")'
@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
@echo "Installing convolabel[$(1)] into $(VENV) (some minutes, once) ..."
@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH)
@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(1)]'
@touch $@
endef

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
