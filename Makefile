# Each target makes what it needs (.venv, once); `make help` prints them.
# PYTHON=… names another interpreter, 3.11 or newer.

.DEFAULT_GOAL := help
PYTHON ?=
export PYTHON

.PHONY: help
help: ## Print the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

.PHONY: setup
setup: ## Make .venv with the deedbox command and the tools of a developer
	@scripts/setup

.PHONY: demo
demo: setup ## Kill two servers, in the terminal: a ladder in memory beside a ladder written down
	@.venv/bin/deedbox demo $(DEMO)

.PHONY: test
test: setup ## Run all checks and tests, with the time of each part
	@.venv/bin/python scripts/parts.py all

.PHONY: check
check: setup ## Run the checks that run no test: lint, format, layers, types, generated code
	@.venv/bin/python scripts/parts.py static

.PHONY: coverage
coverage: setup ## Print the lines and branches of all packages that no test reaches; takes longer than make test
	@.venv/bin/python scripts/parts.py coverage

.PHONY: build
build: setup ## Generate anew all committed code that comes from a spec
	@.venv/bin/python scripts/parts.py build

.PHONY: bench
bench: bench-reducer bench-saga bench-wakes bench-recovery bench-checker ## Run all benchmarks

.PHONY: bench-reducer
bench-reducer: setup ## Transitions a second of the generated order machine
	@PYTHONPATH=tests/replay .venv/bin/python bench/reducer.py

.PHONY: bench-saga
bench-saga: setup ## Sagas a second on SQLite, beside bare SQLite
	@PYTHONPATH=tests/replay .venv/bin/python bench/saga.py

.PHONY: bench-wakes
bench-wakes: setup ## How late deadlines fire, on time and behind
	@PYTHONPATH=tests/replay .venv/bin/python bench/wakes.py

.PHONY: bench-recovery
bench-recovery: setup ## From SIGKILL to the first command handed out anew
	@PYTHONPATH=tests/replay .venv/bin/python bench/recovery.py

.PHONY: bench-checker
bench-checker: setup ## States a second of the model checker, beside Spin and rumur
	@scripts/strangers
	@.venv/bin/python bench/checker.py $(SIZES)

.PHONY: soak
soak: setup ## 100,000 simulated runs (goes on where it was stopped), and the kill tests SOAK times (default 10)
	@DEEDBOX_SOAK=1 .venv/bin/python scripts/parts.py soak $(or $(SOAK),10)

.PHONY: clean
clean: ## Remove .venv and all caches
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .deedbox-cache dist
