.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# Any Python from 3.11 on will do; `make setup PYTHON=/path/to/python` chooses one.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' \
	2>/dev/null && echo "$$python" && break; done)

BIN := .venv/bin
READY := .venv/.ready
PYTEST := $(BIN)/python -m pytest
ARGS ?=

.PHONY: help setup demo test check test-plain lint types layers docs bench lab clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## make .venv and install penstock in it
	@:

demo: $(READY) ## join real data on a budget, on Spark, and write a report
	@$(BIN)/penstock demo $(ARGS)

test: $(READY) ## run the tests (ARGS="-n auto" uses every processor)
	@$(PYTEST) $(ARGS)

check: lint types layers test ## everything that must pass before a change is merged

test-plain: $(READY) ## run the examples and the small tests without the compiler
	@NUMBA_DISABLE_JIT=1 $(PYTEST) src $(ARGS)
	@NUMBA_DISABLE_JIT=1 $(PYTEST) tests -m plain $(ARGS)

lint: $(READY) ## style, formatting and spelling
	@$(BIN)/ruff check src tests
	@$(BIN)/ruff format --check src tests
	@$(BIN)/codespell src tests docs $(wildcard *.md) Makefile pyproject.toml

types: $(READY) ## check the types of src
	@$(BIN)/mypy

layers: $(READY) ## check that each room imports only the rooms below it
	@$(BIN)/lint-imports --no-logo

docs: $(READY) ## run the examples in README and docs, and check that nothing is left out
	@$(PYTEST) tests/docs $(ARGS)

bench: $(READY) ## measure speed beside what a user would pick instead
	@$(BIN)/penstock bench $(ARGS)

lab: $(READY) ## run every experiment, then the slow tests
	@$(BIN)/penstock lab run all
	@$(PYTEST) -m slow $(ARGS)
	@$(PYTEST) tests/engine --hypothesis-profile=thorough $(ARGS)

clean: ## remove .venv, caches and everything a target wrote
	@rm -rf .venv build dist out .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@if [ -z "$(PYTHON)" ]; then \
		echo "No Python 3.11 or newer with the venv module was found." >&2; \
		echo "Install one, or name it: make setup PYTHON=/path/to/python3" >&2; \
		exit 1; \
	fi
	@echo "Setting up .venv with $$("$(PYTHON)" --version); the first time takes a minute or two ..."
	@"$(PYTHON)" -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[spark,demo,dev]'
	@$(BIN)/python -m penstock.spark.java >/dev/null 2>&1 || \
		$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[java]'
	@touch $@
	@echo "Ready: .venv"
