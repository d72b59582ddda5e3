# Two commands: `make lab` opens the tutorials in JupyterLab, `make test` says whether burlab works here.
# Both set up .venv first, and need Python 3.11 to 3.14 with its headers, g++ and make.
# `make quick` is for every save, `make near` runs what a change touches, `make full` is all that exists.
# `make smoke PYTHON=python3.13` is what another Python needs to pass.

PYTHON ?= $(shell for p in python3.11 python3 python3.14 python3.13 python3.12; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
CPP_FILES = $(shell git ls-files -co --exclude-standard '*.hpp' '*.cpp')

# Another environment that is active in the shell is not the one that runs here, and IPython would warn of it.
unexport VIRTUAL_ENV

# What pytest makes of the texts of tests is kept, so that they are read once and not by every process.
unexport PYTHONDONTWRITEBYTECODE

# Processes of tests beside each other: one for each core.
JOBS ?= $(shell nproc)
TIER = $(BIN)/python -m tests.tiers --jobs $(JOBS)
# What every process would compile is compiled once, into a folder that they only read.
CACHE = $(abspath $(VENV))/cache
READ_CACHE = BURLAB_CACHE=$(CACHE):ro

# As pip does for what it copies, and not for an editable install.
BYTECODE = $(BIN)/python -m compileall -q burlab

.PHONY: lab quick test full near static cache matrix sanitizers smoke peers pages lint types layers cpp-format format clean

lab: $(VENV)/lab.stamp
	$(BIN)/burlab lab

quick: $(VENV)/test.stamp cache
	$(READ_CACHE) $(TIER) quick

test: $(VENV)/test.stamp
	$(call checks_and,test)

full: $(VENV)/test.stamp
	$(call checks_and,full)

# The static checks beside the tests, as the slowest of them is one process that takes a minute.
define checks_and
	@$(MAKE) --no-print-directory cache; said=$$(mktemp); \
	$(MAKE) --no-print-directory --keep-going static > $$said 2>&1 & checks=$$!; \
	code=0; $(READ_CACHE) $(TIER) $(1) || code=$$?; \
	wait $$checks || { code=$$?; cat $$said; }; rm $$said; exit $$code
endef

# The tests that reach what differs from a commit: of what is not committed, or `make near SINCE=main`.
SINCE ?= HEAD
near: $(VENV)/test.stamp cache
	$(READ_CACHE) $(TIER) near --since $(SINCE)

# Parts of the full tier: other instruction sets, precompiled headers and Pythons; C++ under the sanitizers.
matrix: $(VENV)/test.stamp cache
	$(READ_CACHE) $(TIER) full --only tests/matrix
sanitizers: $(VENV)/test.stamp cache
	$(READ_CACHE) $(TIER) full --only tests/project/test_sanitizers.py

cache: $(VENV)/test.stamp
	BURLAB_CACHE=$(CACHE) $(BIN)/burlab warm

# The pages whose tables are made from the code.
pages: $(VENV)/test.stamp
	$(BIN)/python docs/catalogue.py
	$(BIN)/python docs/words.py

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

static: lint types layers cpp-format

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types:
	$(BIN)/pyright --pythonpath $(BIN)/python

layers:
	$(BIN)/lint-imports

cpp-format:
	$(BIN)/clang-format --dry-run --Werror $(CPP_FILES)

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
