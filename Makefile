# What people and CI run; "make help" tells.  Plain GNU make 3.81, as macOS has it.
.DEFAULT_GOAL := help
.PHONY: help run test screens chaos check lock migration catalogs clean bench bench-data

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
UV ?= uv
# The first Python of this machine that is new enough; "make run PYTHON=..." decides.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$p && break; done)

help: ## Tell what there is
	@echo "Carillon. make <what>:"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) \
	| awk -F'|' '{ printf "%-12s %s\n", $$1, $$2 }'
	@echo "Settings come from the environment: docs/configuration.md"

run: $(VENV)/.run $(if $(DEMO),$(VENV)/.demo) ## Start console and worker (DEMO=1: with a made-up congregation)
	@exec $(BIN)/carillon run $(if $(DEMO),--demo)

test: $(VENV)/.dev ## Run every test, with a real PostgreSQL and a real Redis
	@$(BIN)/python -m pytest $(if $(TESTS),$(TESTS),-n 3 --dist loadfile --no-loadscope-reorder)

screens: $(VENV)/.dev ## Make the pictures of README and docs anew
	@mkdir -p docs/screens
	SCREENS=docs/screens $(BIN)/python -m pytest -q -p no:randomly tests/browser/test_screens.py tests/browser/test_mail_look.py
	@$(BIN)/python -m tests.browser.gallery docs/screens/pages

chaos: $(VENV)/.dev ## Break things for hours, or replay a break (TIER=nightly SEED=...)
	TIER=$(or $(TIER),nightly) $(BIN)/python -m pytest -q -rP tests/chaos

bench: $(VENV)/.dev $(if $(PEERS),build/peers/.made) ## Measure speed side by side (PEERS=1: with other queues); writes docs/benchmarks.md
	@RUNS=$(RUNS) N=$(N) $(BIN)/python -m bench $(or $(ONLY),$(if $(PEERS),peers) $(USUAL))
USUAL := emit drain latency schedule web

bench-data: $(VENV)/.dev ## Measure what up to N finished executions cost the others
	@SIZES=$(if $(N),10000$(comma)$(N)) $(BIN)/python -m bench size
comma := ,

build/peers/.made: bench/peers.txt | $(VENV)/.made
	@echo "Installing the other queues into build/peers ..."
	@$(BIN)/python -m venv build/peers
	@build/peers/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r $<
	@touch $@

check: $(VENV)/.dev ## Check format, style, types and directions
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_architecture.py

lock: ## Resolve all dependencies anew (needs uv)
	@$(UV) --version >/dev/null || { echo "make lock needs uv; name it: make lock UV=/path/to/uv"; exit 1; }
	$(COMPILE) --extra dev -o requirements-dev.lock
	@# What is tested is what users get, so the others follow it.
	$(COMPILE) -c requirements-dev.lock -o requirements.lock
	$(COMPILE) -c requirements-dev.lock --extra demo -o requirements-demo.lock
COMPILE = $(UV) pip compile --quiet --upgrade --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-emit-find-links --no-header \
	--extra build pyproject.toml

migration: $(VENV)/.dev ## Write the step from the last migration to the models (SENTENCE="...")
	@test -n "$(SENTENCE)" || { echo 'Say what it does: make migration SENTENCE="Give rules a colour"'; exit 1; }
	@$(BIN)/carillon new-migration "$(SENTENCE)"
	@$(BIN)/ruff format --quiet tasks/migrations/versions

catalogs: $(VENV)/.dev ## Write what code and templates say into the catalogs, for translators
	@$(BIN)/carillon catalogs

clean: ## Remove what was made here, except the data in var/
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .hypothesis test-results
	find . -name __pycache__ -prune -exec rm -rf {} +

# A stamp for each lock: as long as lock and project are older, nothing is installed.
$(VENV)/.run: requirements.lock
$(VENV)/.demo: requirements-demo.lock
$(VENV)/.dev: requirements-dev.lock
$(VENV)/.run $(VENV)/.demo $(VENV)/.dev: pyproject.toml | $(VENV)/.made
	@echo "Installing what $(filter %.lock,$^) names; the first time takes a minute ..."
	@$(PIP) install --require-hashes -r $(filter %.lock,$^)
	@$(PIP) install --no-deps --no-build-isolation --no-index -e .
	@touch $@

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "Carillon needs Python 3.11 or newer. If you have one, name it: make run PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "Could not make $(VENV). On Debian: apt install python3-venv"; exit 1; }
	@touch $@
