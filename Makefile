# Everything a person or CI runs here. `make` alone lists it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
TYPED := $(wildcard core sources bot faultlib prompts slacksim lab tests benchmarks)

.PHONY: help setup demo test check format bench bench-speed lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 13

setup: $(INSTALLED) ## install everything into .venv

# Made again when a dependency changed; uv takes seconds where pip takes minutes, but pip is enough.
$(INSTALLED): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Firstfault needs Python 3.11 or newer: make setup PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "python3 -m venv does not work here. On Debian: apt-get install python3-venv" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet uv || echo "No uv: going on with pip, which takes minutes." >&2
	{ test -x $(BIN)/uv && $(BIN)/uv pip install --python $(BIN)/python -r requirements.lock; } \
	  || $(BIN)/python -m pip install -r requirements.lock
	{ test -x $(BIN)/uv && $(BIN)/uv pip install --python $(BIN)/python --no-deps --no-build-isolation -e .; } \
	  || $(BIN)/python -m pip install --no-deps --no-build-isolation -e .
	@$(BIN)/python -m core.logs.kernel || echo "The log scanner will be compiled when it is first needed." >&2
	@touch $@

demo: setup ## diagnose a failed example job; then, on a terminal, offer the bot in a local Slack
	$(BIN)/firstfault diagnose f07 --jobs examples
	@if test -t 0 && test -t 1; then \
	  printf '\nNow the Slack bot, in a local Slack in your browser? It needs no account. [Y/n] '; \
	  if read -r answer; then case "$$answer" in [nN]*) ;; *) exec $(BIN)/firstfault demo ;; esac; else echo; fi; \
	fi

test: check ## the same as check

check: setup ## everything that CI holds: format, lint, types, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy $(TYPED)
	$(BIN)/pytest --numprocesses=auto --dist=worksteal --cov --cov-report=term

format: setup ## format the code and repair what ruff can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup ## measure speed and quality (minutes)
	$(BIN)/python -m benchmarks

bench-speed: setup ## measure speed against drain3 and grep, by size, into docs/speed.md (minutes)
	$(BIN)/python -m benchmarks.speed --write docs/speed.md

# The command is in the header of the file, so that it names neither a machine nor a registry.
lock: setup ## pin every dependency anew in requirements.lock
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --quiet \
	  --no-annotate --custom-compile-command "make lock" --output-file requirements.lock

clean: ## remove what was installed, cached and built
	rm -rf $(VENV) .firstfault .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage htmlcov build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
