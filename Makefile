# `make` prints the targets; the line that begins with two signs above a target is its help.
# Targets set up .venv first, which needs Python 3.11 to 3.14 with its headers, g++ and make.
.DEFAULT_GOAL := help

PYTHON ?= $(shell for p in python3.11 python3 python3.14 python3.13 python3.12; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
CPP_FILES = $(shell git ls-files -co --exclude-standard '*.hpp' '*.cpp')

# An environment that is active in the shell is not used here, and IPython would warn about it.
unexport VIRTUAL_ENV

# pytest caches the bytecode of tests, so that they are parsed once and not by every process.
unexport PYTHONDONTWRITEBYTECODE

# Concurrent test processes: one per core.
JOBS ?= $(shell nproc)
TIER = $(BIN)/python -m tests.tiers --jobs $(JOBS)
# Code that every process needs is compiled once, into a folder that they only read.
CACHE = $(abspath $(VENV))/cache
READ_CACHE = BURLAB_CACHE=$(CACHE):ro

# pip compiles the files that it copies, but not those of an editable install.
BYTECODE = $(BIN)/python -m compileall -q burlab

.PHONY: help lab bundle quick test full near static cache matrix sanitizers smoke cppjit peers pages lint types layers cpp-format format clean

## this list
help:
	@awk '/^## / { help = substr($$0, 4) } /^[a-z-]+:/ { printf "  make %-12s%s\n", substr($$1, 1, length($$1) - 1), help }' Makefile

## open the tutorials in JupyterLab
lab: $(VENV)/lab.stamp bundle
	$(BIN)/burlab lab

## join the JavaScript of the widgets where it has changed
bundle: $(VENV)/lab.stamp
	$(BIN)/python burlab/widgets/hatch_build.py

## at every save: the short tests
quick: $(VENV)/test.stamp cache bundle
	$(READ_CACHE) $(TIER) quick

## once in a clone, and before you send a change: static checks, tests, examples, three tutorials
test: $(VENV)/test.stamp
	$(call checks_and,test)

## before an issue is done: all that exists
full: $(VENV)/test.stamp
	$(call checks_and,full)

# The static checks run at the same time as the tests: the slowest of them is one process that takes a minute.
define checks_and
	@$(MAKE) --no-print-directory cache bundle; log=$$(mktemp); \
	$(MAKE) --no-print-directory --keep-going static > $$log 2>&1 & checks=$$!; \
	code=0; $(READ_CACHE) $(TIER) $(1) || code=$$?; \
	wait $$checks || { code=$$?; cat $$log; }; rm $$log; exit $$code
endef

SINCE ?= HEAD
## the tests that import what you have changed since the last commit, or since SINCE=main
near: $(VENV)/test.stamp cache bundle
	$(READ_CACHE) $(TIER) near --since $(SINCE)

## a part of full: other instruction sets, precompiled headers and Pythons
matrix: $(VENV)/test.stamp cache
	$(READ_CACHE) $(TIER) full --only tests/matrix

## a part of full: C++ under the sanitizers
sanitizers: $(VENV)/test.stamp cache
	$(READ_CACHE) $(TIER) full --only tests/project/test_sanitizers.py

## compile the code that every test process needs
cache: $(VENV)/test.stamp
	BURLAB_CACHE=$(CACHE) $(BIN)/burlab warm

## write the pages, the table of scalar operations and the mirrors of C++ structs, from the code
pages: $(VENV)/test.stamp
	$(BIN)/python docs/catalogue.py
	$(BIN)/python docs/words.py
	$(BIN)/python cpp/generate/scalar_table.py
	$(BIN)/python cpp/generate/structs.py

# In a fresh environment: burlab without extras, the doctor, and the tests that depend on CPython itself.
## the tests that another Python has to pass: make smoke PYTHON=python3.13
smoke:
	@set -e; folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; $(PYTHON) -m venv "$$folder"; \
	"$$folder/bin/pip" install --quiet --editable . hypothesis pytest pytest-timeout; \
	"$$folder/bin/burlab" doctor; \
	"$$folder/bin/python" -m pytest -q -p no:cacheprovider tests/runtime/test_stable_abi.py tests/runtime/test_host.py \
		tests/runtime/test_interpreter.py tests/eager/test_value.py tests/eager/test_tape.py tests/eager/test_memory.py \
		tests/compiler/test_gate.py tests/graph/tracing/test_trace.py tests/run/test_run.py

# cppjit has wheels for Python 3.12 to 3.14.
## burlab on the successor of cppyy: numbers and programs of users; make cppjit PYTHON=python3.13
cppjit:
	@set -e; folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; $(PYTHON) -m venv "$$folder"; \
	"$$folder/bin/pip" install --quiet --editable . autograd cppjit==0.1.0a1 hypothesis mpmath pytest pytest-timeout; \
	BURLAB_INTERPRETER=cppjit "$$folder/bin/python" -m pytest -q -p no:cacheprovider tests/numbers tests/programs \
		tests/run/test_run.py tests/compiler/test_gate.py

## install the engines that gradients are compared with: PyTorch, JAX, HIPS autograd
peers: $(VENV)/peers.stamp

## all static checks: lint types layers cpp-format
static: lint types layers cpp-format

## ruff and biome: style of Python and JavaScript, format of Python, names in notebooks
lint:
	$(BIN)/ruff check .
	$(BIN)/ruff check --isolated --select F notebooks docs
	$(BIN)/ruff format --check .
	$(BIN)/python burlab/widgets/hatch_build.py lint

## pyright and tsc: types of Python and JavaScript
types:
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/python burlab/widgets/hatch_build.py types

## import-linter: each layer imports only from those below it
layers:
	$(BIN)/lint-imports

## clang-format: format of C++
cpp-format:
	$(BIN)/clang-format --dry-run --Werror $(CPP_FILES)

## format Python and C++ in place
format: $(VENV)/test.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)

## delete .venv and what was built
clean:
	rm -rf $(VENV) dist build burlab/widgets/bundle burlab/widgets/node_modules

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "burlab needs Python 3.11 to 3.14: install it, or run make PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/lab.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --editable '.[lab,frames,bundle]'
	@$(BIN)/pip install --quiet --editable '.[layout]' || echo "burlab: without fast-sugiyama, which has no wheel for this system, graphs are laid out by burlab itself"
	@$(BIN)/pip install --quiet --editable '.[data]' || echo "burlab: without the data extra, 03_names.ipynb and data sets of scikit-learn ask for it"
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
