PYTHON ?= python3
UV ?= uv

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
LOCKS := requirements/build.lock requirements/dev.lock
COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header

.DEFAULT_GOAL := help
.PHONY: help setup test test-one test-other test-long test-crash fuzz demo bench bench-warehouse bench-algebra bench-pwjoin \
	bench-three-way bench-windowed bench-growth bench-synopsis bench-demand bench-endurance bench-load bench-slices \
	bench-nexmark lint format lock clean java postgres

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: java $(VENV)/.installed  ## make .venv from the locked dependencies, and see that there is a Java

test: setup  ## everything that must pass: style, types, tests
	@share=$$(mktemp -d) && trap 'rm -r $$share' EXIT && \
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target SHARE=$$share test-one test-other

# Two processes, each with a Spark of its own, since Spark spends its time on planning small jobs, one after the other.
test-one: lint
	@$(BIN)/pytest $(SHARE:%=--share=%)

test-other: $(VENV)/.installed
	@$(BIN)/pytest $(SHARE:%=--share=%)

test-long: setup postgres  ## tests that take minutes, such as joins of three to six streams in every shape
	@$(BIN)/pytest -m long

test-crash: setup postgres  ## kill at each place of a slice, CAESURA_KILLS times each; damage each file of a checkpoint
	@$(BIN)/pytest -m long tests/spark/test_kills.py tests/spark/test_damage.py tests/spark/test_postgres.py

fuzz: setup  ## texts that are nearly right, FUZZ_SECONDS (600) for everything that reads
	@$(BIN)/python -m tests.fuzz --seconds $${FUZZ_SECONDS:-600}

demo: setup  ## the auction example on embedded Spark
	@$(BIN)/caesura demo

bench: setup  ## the auction join against Spark, Flink and a batch join
	@$(BIN)/python -m bench.auction

bench-warehouse: setup  ## state and time of a union by the number of punctuations, as the paper measured them
	@$(BIN)/python -m bench.warehouse

bench-algebra: setup  ## the time of a slice of DISTINCT, GROUP BY and EXCEPT over a hundred slices
	@$(BIN)/python -m bench.algebra

bench-pwjoin: setup  ## joins with windows and punctuations against joins with one of them, as the paper measured them
	@$(BIN)/python -m bench.pwjoin

bench-three-way: setup  ## a three-way join on different keys against Flink SQL
	@$(BIN)/python -m bench.three_way

bench-windowed: setup  ## a window join and a band join against Spark's own stream-stream join
	@$(BIN)/python -m bench.windowed

bench-growth: setup  ## the time of a slice as history and state grow
	@$(BIN)/python -m bench.growth

bench-synopsis: setup  ## an aggregate over two streams without promises against Spark's batch over one table
	@$(BIN)/python -m bench.synopsis

bench-demand: setup  ## trees of joins with partial results on demand, without, and one join, as the paper measured them
	@$(BIN)/python -m bench.demand

bench-endurance: setup  ## whether disk, files, threads, heap or the time of a slice grow over 2,000 slices
	@$(BIN)/python -m bench.endurance

bench-load: setup  ## a slice that is many times larger than the heap, and a key that has most of the rows
	@$(BIN)/python -m bench.load

bench-slices: setup  ## what a slice costs: small ones, one to sixteen queries, large ones, a large state
	@$(BIN)/python -m bench.slices

bench-nexmark: setup  ## every query of NEXMark against Flink SQL and Spark's own streaming queries
	@$(BIN)/python -m bench.nexmark

lint: $(VENV)/.installed  ## ruff and mypy
	@$(BIN)/ruff check --quiet && echo "ruff check: passed"
	@$(BIN)/ruff format --check --quiet && echo "ruff format: passed"
	@$(BIN)/mypy --no-error-summary && echo "mypy: passed"

format: $(VENV)/.installed  ## rewrite the code in the one style
	@$(BIN)/ruff check --quiet --fix
	@$(BIN)/ruff format --quiet

lock:  ## choose the versions of all dependencies anew
	@command -v $(UV) >/dev/null || { echo "error: make lock needs uv: pipx install uv, or UV=path" >&2; exit 1; }
	@$(COMPILE) --upgrade --group build --output-file requirements/build.lock
	@$(COMPILE) --upgrade pyproject.toml --output-file requirements/run.lock
	@$(COMPILE) --upgrade pyproject.toml --group dev --constraint requirements/run.lock --output-file requirements/dev.lock
	@echo "locked: requirements/build.lock, run.lock, dev.lock"

clean:  ## remove .venv and everything that tools leave behind
	@rm -rf $(VENV) .bench .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist spark-warehouse src/*.egg-info

java:
	@sh scripts/require-java.sh

postgres:
	@sh scripts/require-postgres.sh

$(VENV)/.locked: $(LOCKS)
	@command -v $(PYTHON) >/dev/null || { echo "error: Caesura needs Python 3.11 or newer; there is no $(PYTHON). Name one: make PYTHON=…" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("error: Caesura needs Python 3.11 or newer; $(PYTHON) is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12")'
	@echo "$(VENV): installing what requirements/dev.lock names"
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV) || { echo "error: $(PYTHON) has no venv; on Debian, Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(PIP) install --require-hashes -r requirements/build.lock
	@$(PIP) install --require-hashes --no-build-isolation -r requirements/dev.lock
	@touch $@

$(VENV)/.installed: $(VENV)/.locked pyproject.toml
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@echo "$(VENV): caesura is installed"
	@touch $@
