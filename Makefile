# Everything a person or CI runs here. `make` alone lists it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEVELOPED := $(VENV)/.developed
SITE := .venv-docs
TYPED := $(wildcard core sources bot faultlib prompts slacksim lab tests benchmarks)

# Packages of a lock file, by uv or else by pip. Both refuse a file whose hash is not in the lock.
install = { test -x $(BIN)/uv && $(BIN)/uv pip install --python $(BIN)/python --require-hashes -r $(1); } \
  || $(BIN)/python -m pip install --no-compile --require-hashes -r $(1)

# What runs is compiled at once: who may not write there, or is told not to by PYTHONDONTWRITEBYTECODE, would compile it
# anew in each process. More than half of the files are never loaded: tests of others, and kubernetes, which Chroma asks for.
compile = $(BIN)/python -m compileall -qq -j 0 -x '/(kubernetes|tests)/' $(VENV)/lib || true

# Python keeps what it compiled, of this tree and of the tests: else each of hundreds of processes compiles it anew (a
# diagnosis takes a fifth longer, collecting the tests 18 s of CPU in place of 8). Empty is unset.
test test-fast check coverage: export PYTHONDONTWRITEBYTECODE =

.PHONY: help setup setup-dev demo docs test test-fast check types tests coverage test-pythons format audit bench bench-speed lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 13

setup: $(INSTALLED) ## install what runs into .venv: requirements.lock, each file held to its hash

setup-dev: $(DEVELOPED) ## the same, and what tests and checks need: requirements-dev.lock

# Made again when a dependency changed; uv takes seconds where pip takes minutes, but pip is enough.
$(INSTALLED): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Firstfault needs Python 3.11 or newer: make setup PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "python3 -m venv does not work here. On Debian: apt-get install python3-venv" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.lock >$(VENV)/uv.lock
	@$(BIN)/python -m pip install --quiet --require-hashes -r $(VENV)/uv.lock \
	  || echo "No uv: going on with pip, which takes minutes." >&2
	$(call install,requirements.lock)
	{ test -x $(BIN)/uv && $(BIN)/uv pip install --python $(BIN)/python --no-deps --no-build-isolation -e .; } \
	  || $(BIN)/python -m pip install --no-deps --no-build-isolation -e .
	$(compile)
	@$(BIN)/python -m core.logs.kernel || echo "The log scanner will be compiled when it is first needed." >&2
	@$(BIN)/python -m bot.library.prepare || echo "Vectors of seeds and questions will be made when they are first needed." >&2
	@touch $@

$(DEVELOPED): $(INSTALLED) requirements-dev.lock
	$(call install,requirements-dev.lock)
	@touch $@

demo: setup ## diagnose a failed example job; then, on a terminal, offer the bot in a local Slack
	$(BIN)/firstfault diagnose f07 --jobs examples
	@if test -t 0 && test -t 1; then \
	  printf '\nNow the Slack bot, in a local Slack in your browser? It needs no account. [Y/n] '; \
	  if read -r answer; then case "$$answer" in [nN]*) ;; *) exec $(BIN)/firstfault demo ;; esac; else echo; fi; \
	fi

docs: $(SITE)/.installed ## build the site of docs/ into build/site: pages that need no network and no server
	$(SITE)/bin/python -m tests.docs.site build/pages
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --strict --quiet
	@echo "Open build/site/index.html"

# In a venv of its own: the program and its tests need nothing of it.
$(SITE)/.installed: requirements-docs.lock
	test -x $(SITE)/bin/python || $(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.lock
	@touch $@

test: check ## the same as check

test-fast: setup-dev ## what a person runs between two edits: no whole programs, nothing of more than .75 s of CPU (tests/slow_tests.txt)
	$(BIN)/pytest -m "not slow" --numprocesses=auto --dist=worksteal --durations=10 -q

# Types are checked, by one process, beside the tests, of which many wait; what failed is told again at the end.
check: setup-dev ## everything that CI holds: format, lint, types, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(MAKE) --no-print-directory --jobs=2 types tests

types:
	@$(BIN)/mypy $(TYPED) || { echo "The types are wrong: see above." >&2; exit 1; }

tests:
	$(BIN)/pytest --numprocesses=auto --dist=worksteal --durations=10

coverage: setup-dev ## the tests again, and which lines no test reaches: takes more than twice as long
	$(BIN)/pytest --numprocesses=auto --dist=worksteal -q --cov --cov-report=term

test-pythons: setup-dev ## the tests with those of Python 3.11.2, 3.12, 3.13 and 3.14 that are here; says which were tested
	bash tests/pythons.sh

audit: setup-dev ## known holes of what is installed, and what bandit says of the code; exceptions in pyproject.toml
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml bot core faultlib prompts slacksim sources
	$(BIN)/python -m tests.audit

format: setup-dev ## format the code and repair what ruff can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup-dev ## measure speed and quality (minutes)
	$(BIN)/python -m benchmarks

bench-speed: setup-dev ## measure speed against drain3 and grep, by size, into benchmarks/results/speed.md (minutes)
	$(BIN)/python -m benchmarks.speed --write benchmarks/results/speed.md

# The command is in the header of the files, so that they name neither a machine nor a registry.
COMPILE = $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --quiet \
  --no-annotate --custom-compile-command "make lock"

lock: setup-dev ## pin every dependency anew: requirements.lock runs, -dev.lock holds the test tools too, -docs.lock builds the site
	$(COMPILE) pyproject.toml --extra production --extra dev --output-file requirements-dev.lock
	$(COMPILE) pyproject.toml --extra production --constraint requirements-dev.lock --output-file requirements.lock
	$(COMPILE) --group docs --output-file requirements-docs.lock

clean: ## remove what was installed, cached and built
	rm -rf $(VENV) $(SITE) .venv-pythons .firstfault .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage htmlcov build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
