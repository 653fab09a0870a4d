# Two commands do everything: `make demo` and `make test`. Each sets up what it needs.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
# Or each process that the tests start would compile every module of ours again.
unexport PYTHONDONTWRITEBYTECODE
READY := .venv/.ready

comma := ,

.DEFAULT_GOAL := help
.PHONY: help setup demo watch pictures monitors packaged image elsewhere test check lint types layers browser redis fuzz stress bench experiments broker corpora kafka stress-brokers lock schemas docs wheel clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo "reusewatch needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
	  || { echo "$(PYTHON) cannot make environments; on Debian: apt-get install python3-venv" >&2; exit 2; }
	@echo "setting up .venv (once, a few minutes)" >&2
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@mkdir -p .venv/typed && ln -sfn ../.. .venv/typed/reusewatch  # mypy does not see through the editable installation
	@$(BIN)/python -Pc 'from reusewatch.streams import kernels; kernels.prepare(print)'
	@touch $@

setup: $(READY) ## make .venv with the command .venv/bin/reusewatch

demo: $(READY) ## a small web of copies, replayed; shows what is found
	@$(BIN)/reusewatch demo

# Two workers more than there are cores, as tests wait for a broker, a group or a command a good half
# of their time; six at most, as each starts a broker of its own. One that is idle takes tests from
# another: a file of slow tests would keep one worker busy alone.
WORKERS ?= $(shell cores=$$(nproc 2>/dev/null || echo 2); echo $$((cores < 4 ? cores + 2 : 6)))
PYTEST := $(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=worksteal

test: broker monitors ## all tests, with a real Kafka broker; WORKERS=n at a time
	@$(PYTEST)

check: $(READY) ## what CI runs: lint, types, layers, tests
	@$(MAKE) --no-print-directory --jobs=3 --output-sync=target broker monitors lint types layers
	@$(PYTEST)

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(READY)
	@MYPYPATH=.venv/typed $(BIN)/mypy

layers: $(READY)
	@$(BIN)/lint-imports

broker: $(READY)
	@bash deploy/kafka/install.sh

watch: broker monitors ## broker, workers, Prometheus with our rules, the demo; what fires, until Ctrl-C
	@exec $(BIN)/python -m tests.watching

PLOTS := .venv/.plots
$(PLOTS): $(READY) tests/experiments/requirements.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r tests/experiments/requirements.txt \
	  && touch $@ || echo "matplotlib cannot be installed: there will be tables, and no plots" >&2

pictures: broker monitors $(PLOTS) # the dashboards' main panels for the README, of real figures
	@$(BIN)/python -m tests.watching.pictures deploy/docs/dashboards.svg

monitors: $(READY) # Prometheus, Alertmanager and their tools, always the same, into .monitors
	@$(BIN)/python -m tests.monitors

browser: $(READY) ## evidence in a real Chromium, installed where that may be; PICTURE=file.png
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && echo "installing Chromium (once, about 120 MB)" >&2 && apt-get update -qq >&2 \
	  && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium >/dev/null; } \
	  || { echo "no chromium: on Debian, as root: apt-get install chromium" >&2; exit 2; }
	@$(BIN)/python -m tests.browser $(PICTURE)

PACKAGED := .venv/.packaged
$(PACKAGED): $(READY) tests/packaged/requirements.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r tests/packaged/requirements.txt && touch $@

packaged: broker $(PACKAGED) ## what deploys it, by Helm and by the schemas of others; needs Helm or Go
	@$(BIN)/python -m pytest --quiet --numprocesses=0 -o python_files='check_*.py' tests/packaged

image: $(READY) ## the image, built by buildah and run as the chart runs it; as root
	@$(BIN)/python -m tests.packaged.image

elsewhere: ## demo and test on bare Debians, of what is committed; as root, SUITES="trixie" COMMANDS="demo"
	@SUITES="$(SUITES)" COMMANDS="$(COMMANDS)" bash tests/elsewhere.sh

redis: $(READY) ## the add-on with scrapy-redis's scheduler and a real Redis, installed where that may be
	@command -v redis-server >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && apt-get update -qq >&2 \
	  && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends redis-server >/dev/null; } \
	  || { echo "no redis-server: on Debian, as root: apt-get install redis-server" >&2; exit 2; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
	  --target .venv/redis 'scrapy-redis>=0.9,<1' 'redis>=5,<9'
	@PYTHONPATH=.venv/redis $(BIN)/python -m tests.shared_queue

FUZZER := .venv/.fuzzer
$(FUZZER): $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'atheris>=3,<4' && touch $@

stress: $(READY) ## faults in the middle of commits, 60 runs, five at once; as root
	@[ "$$(id -u)" = 0 ] || { echo "disks of a chosen size need root: sudo make stress" >&2; exit 2; }
	@unshare --mount $(BIN)/python -m tests.stress $(if $(RUNS),--runs $(RUNS))

SECONDS ?= 600
FUZZED := archives wire blocks packs questions scan
fuzz: $(FUZZER) ## fuzz what reads what strangers wrote, ONLY=wire,… SECONDS=600 each; into .fuzz
	@for name in $(if $(ONLY),$(subst $(comma), ,$(ONLY)),$(FUZZED)); do \
	  nice $(BIN)/python -m tests.fuzzing "$$name" --seconds $(SECONDS) || exit 1; done

PORT ?= 9092
BROKERS ?= 1
kafka: broker ## a Kafka broker on 127.0.0.1, PORT=9092, or BROKERS=3 of them, until Ctrl-C
	@exec $(BIN)/python deploy/kafka/broker.py --port $(PORT) --brokers $(BROKERS)

ROUNDS ?= 10
SEED ?= 1
stress-brokers: broker # three brokers, killed one after the other under load; ROUNDS=10 SEED=1
	@$(BIN)/python -m tests.end_to_end.three_brokers --rounds $(ROUNDS) --seed $(SEED)

corpora: $(READY) # the pages that are measured with, always the same, into .corpora
	@$(BIN)/python -m tests.corpora

bench: broker corpora ## ratios side by side in one run, as a table and .bench/results.json
	@$(BIN)/python -m tests.benchmarks $(if $(ONLY),--only $(ONLY))

experiments: broker $(PLOTS) corpora ## the papers' experiments: tables and plots in .bench/experiments, ONLY=name,…
	@$(BIN)/python -m tests.experiments $(if $(ONLY),--only $(ONLY))

schemas: $(READY) ## write deploy/schemas anew from the records
	@$(BIN)/python -m reusewatch.streams.verbs.schemas

docs: $(READY) ## write rules, dashboards and the tables of deploy/README.md anew from the code
	@$(BIN)/python -m deploy.watching
	@$(BIN)/python -m reusewatch.streams.verbs.tables

# From a copy of what git knows: setuptools takes up whatever an older build left in build/lib.
wheel: $(READY) ## dist/reusewatch-….whl, of the files that git knows
	@copy=$$(mktemp -d) && trap 'rm -rf "$$copy"' EXIT \
	  && git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --target-directory="$$copy" \
	  && mkdir -p dist \
	  && $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist "$$copy" \
	  && ls dist

lock: ## write requirements.lock anew from pyproject.toml
	@$(PYTHON) -m venv .venv && $(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra all --extra dev --generate-hashes \
	  --no-emit-index-url --no-header --upgrade pyproject.toml --output-file requirements.lock

clean: ## remove what make made
	@rm -rf --one-file-system .venv .elsewhere .packaged .fuzz .bench .corpora .demo .kafka .monitors .hypothesis .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
