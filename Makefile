# Two commands: `make lab` opens the tutorials in JupyterLab, `make test` runs every check.
# Both set up .venv first, and need Python 3.11 to 3.14 with its headers, g++ and make.
# `make quick` is for every save: what needs no browser, notebook, sanitizer or wheel. `make matrix` runs the flagship
# programs for other CPUs and Pythons. `make smoke PYTHON=python3.13` is what another Python needs to pass.

PYTHON ?= $(shell for p in python3.11 python3 python3.14 python3.13 python3.12; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
CPP_FILES = $(shell git ls-files -co --exclude-standard '*.hpp' '*.cpp')

# Another environment that is active in the shell is not the one that runs here, and IPython would warn of it.
unexport VIRTUAL_ENV

# Beside each other, one process for each core; the tests of a file share a process, and so the kernels they compile.
JOBS ?= auto
PYTEST = $(BIN)/python -m pytest --numprocesses=$(JOBS) --dist=loadfile

# As pip does for what it copies, and not for an editable install.
BYTECODE = $(BIN)/python -m compileall -q burlab

.PHONY: lab test quick matrix smoke peers check lint types layers cpp-format unit format clean

lab: $(VENV)/lab.stamp
	$(BIN)/burlab lab

test: $(VENV)/test.stamp
	$(MAKE) --no-print-directory --keep-going check

# Without the plugin that runs notebooks: every process would spend seconds to import it.
quick: $(VENV)/test.stamp
	$(PYTEST) -p no:nbval -m "not slow and not browser and not matrix" tests

matrix: $(VENV)/test.stamp
	$(PYTEST) -m matrix tests/matrix

# In a fresh environment: burlab without extras, the doctor, and the tests that meet CPython itself.
smoke:
	@set -e; folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; $(PYTHON) -m venv "$$folder"; \
	"$$folder/bin/pip" install --quiet --editable . hypothesis pytest pytest-timeout scipy; \
	"$$folder/bin/burlab" doctor; \
	"$$folder/bin/python" -m pytest -q -p no:cacheprovider tests/runtime/test_stable_abi.py tests/runtime/test_host.py \
		tests/runtime/test_interpreter.py tests/eager/test_value.py tests/eager/test_tape.py tests/eager/test_memory.py \
		tests/compiler/test_gate.py tests/graph/tracing/test_trace.py tests/run/test_run.py

# The second engines that gradients are compared with: tests that need an absent one are skipped by name.
peers: $(VENV)/peers.stamp

check: lint types layers cpp-format unit

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types:
	$(BIN)/pyright --pythonpath $(BIN)/python

layers:
	$(BIN)/lint-imports

cpp-format:
	$(BIN)/clang-format --dry-run --Werror $(CPP_FILES)

# Unit tests, the examples in docstrings, the notebooks, the C++ headers under g++, the sanitizers and the built wheel.
# Hundreds of processes start: what each would compile is compiled once, into a folder that they only read.
unit: export BURLAB_CACHE = $(abspath $(VENV))/cache
unit:
	$(BIN)/burlab warm
	BURLAB_CACHE=$(BURLAB_CACHE):ro $(PYTEST) -m "not matrix" --doctest-modules --nbval-lax $(wildcard notebooks) burlab tests

format: $(VENV)/test.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)

clean:
	rm -rf $(VENV) dist build

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "burlab needs Python 3.11 to 3.14: install it, or run make PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/lab.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --editable '.[lab,data,frames]'
	$(BYTECODE)
	touch $@

$(VENV)/test.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --editable '.[test]'
	$(BYTECODE)
	touch $@ $(VENV)/lab.stamp

# torch first and alone, so that an index that serves the CPU build of exactly this version is asked for nothing else.
$(VENV)/peers.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet --editable '.[peers]'
	touch $@
