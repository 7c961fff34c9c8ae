# Everything here works on a fresh machine with Python 3.11 or later, make and a package index: the first
# target you ask for makes the virtual environment, later ones reuse it.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Hundreds of short commands are run by the tests; each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

# The first of these that runs and is recent enough; or name another: make test PYTHON=python3.13
RECENT := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(foreach python,python3.11 python3 python,$(shell $(python) -c '$(RECENT)' 2>/dev/null && echo $(python))))
VENV ?= .venv
PY := $(VENV)/bin/python
JOBS ?= 2
# Neighbours share fixtures, so each worker begins with a half, and takes over from the other when it is done.
PYTEST := -m pytest -n $(JOBS) --dist worksteal

# Most modules of the packages are never imported: each is compiled when it first is, which takes half a minute less.
INSTALL := -m pip install --quiet --no-compile

TORCH := torch==2.13.0 torchvision==0.28.0
# PDDLGym asks for Pillow 9, which Python 3.12 and later cannot have and which it does not need
# (pyproject.toml): there it is installed without its requirements. On 3.11 this finds nothing to do.
PDDLGYM := --no-deps pddlgym==0.0.7

## help: this list
.PHONY: help
help:
	@sed -n 's/^## /  make /p' $(firstword $(MAKEFILE_LIST))

## demo: interrogate an agent that lives in Sokoban; results in runs/demo
.PHONY: demo
demo: $(VENV)/ready
	rm -rf runs/demo
	$(PY) -m aam_vision.run --env sokoban --seed 0 --out runs/demo

## test: the tests
.PHONY: test
test: $(VENV)/ready $(VENV)/fast-downward $(VENV)/ray
	$(PY) $(PYTEST)

## check: what every commit must pass: lint, then test
.PHONY: check
check: lint test

# A third as many random examples as `make test` has, always the same.
check: export AAM_PROFILE := ci

## nightly: the tests with all agents and seeds, and ten times as many random examples, other ones every time
.PHONY: nightly
nightly: export AAM_PROFILE := nightly
nightly: $(VENV)/ready $(VENV)/fast-downward $(VENV)/ray
	$(PY) $(PYTEST)

## bench: CPU time of whole interrogations, and how it grows with the domain and with the world
BENCH := runs/bench
.PHONY: bench
bench: $(VENV)/ready
	$(PY) -m pytest benchmarks -s --benchmark-columns=min,mean,rounds --benchmark-sort=name
	rm -rf $(BENCH)
	$(PY) -m experiments.growth --small --access snapshot --access settable --out $(BENCH)

## kills: 200 runs and agents killed at random moments (5-10 minutes)
.PHONY: kills
kills: $(VENV)/ready
	$(PY) -m experiments.kills --kills 200

## fuzz: what strangers may send, at three entrances in turn, for ten minutes in all (or SECONDS=...)
SECONDS := 600
.PHONY: fuzz
fuzz: .venv-fuzz/ready
	for entrance in pddl lines image; do \
	    echo "fuzzing $$entrance"; \
	    .venv-fuzz/bin/python -m fuzzing.fuzz $$entrance -max_total_time=$$(( $(SECONDS) / 3 )) \
	        -print_final_stats=1 -verbosity=0 || exit 1; \
	done

## mutants: whether the tests notice bugs put in one at a time (MODULE=name or file, SAMPLE=number or all)
MODULE :=
SAMPLE := 40
.PHONY: mutants
mutants: .venv-mutants/ready
	.venv-mutants/bin/python -m mutation.mutate --module '$(MODULE)' --sample $(SAMPLE) --jobs $(JOBS)

## audit: known weaknesses of the packages that are installed (asks the service of the package index)
.PHONY: audit
audit: .venv-audit/ready
	.venv-audit/bin/python -m pip_audit --strict --requirement constraints.txt --no-deps --disable-pip

## results: every experiment, and its tables and figures in docs/results; goes on where it was cut short
RESULTS := runs/results
.PHONY: results
results: $(VENV)/ready $(VENV)/fast-downward .venv-peers/ready
	failed=0; \
	$(PY) -m experiments.table1 --planner pyperplan --planner fast-downward --out $(RESULTS)/table1 || failed=1; \
	$(PY) -m experiments.simulators --job-seconds 300 --out $(RESULTS)/simulators || failed=1; \
	$(PY) -m experiments.reassessment --first-seed 20 --out $(RESULTS)/reassessment || failed=1; \
	$(PY) -m experiments.trust --runs 1000 --first-seed 200 --job-seconds 120 --out $(RESULTS)/trust || failed=1; \
	$(PY) -m experiments.fama --out $(RESULTS)/fama || failed=1; \
	$(PY) -m experiments.growth --first-seed 100 --seeds 3 --out $(RESULTS)/growth || failed=1; \
	.venv-peers/bin/python -m experiments.peers --seeds 5 --out $(RESULTS)/peers || failed=1; \
	$(PY) -m experiments.few_labels --out $(RESULTS)/few-labels || failed=1; \
	$(PY) -m experiments.headline --results $(RESULTS) --out docs/results || failed=1; \
	cp $(RESULTS)/*/*.md $(RESULTS)/*/*.svg docs/results; \
	exit $$failed

## docs: the documentation site, in build/site
.PHONY: docs
docs: export NO_MKDOCS_2_WARNING := 1
docs: $(VENV)/ready
	$(PY) -m mkdocs build --strict

## lint: style, types and the directions of the imports
.PHONY: lint
lint: $(VENV)/ready
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy --num-workers $(JOBS)
	$(VENV)/bin/lint-imports

## train: train classifiers, and ship their weights
.PHONY: train
train: $(VENV)/ready
	$(PY) -m aam_vision.training.train --env sokoban --ship
	$(PY) -m aam_vision.training.train --env doors --ship
	$(PY) -m aam_vision.training.train --env minigrid --steps 2500 --ship
	$(PY) -m aam_vision.training.train --env taxi --steps 800 --ship
	$(PY) -m aam_vision.training.train --env frozenlake --ship

## test-pillow: the tests that touch images, with today's Pillow in .venv-pillow
.PHONY: test-pillow
test-pillow: .venv-pillow/ready
	.venv-pillow/bin/python -c 'import PIL, sys; print("Pillow", PIL.__version__, "on Python", sys.version.split()[0])'
	.venv-pillow/bin/python $(PYTEST) tests/envs \
	    $$(.venv-pillow/bin/python -c 'import importlib.util as i; print("tests/classifiers" * bool(i.find_spec("torch")))')

## test-inspect: the tests of models and tasks of Inspect AI, which asks for older packages than ours
.PHONY: test-inspect
test-inspect: .venv-inspect/ready
	.venv-inspect/bin/python $(PYTEST) tests/integrations tests/policies

## clean: remove what was made here, except runs/
.PHONY: clean
clean:
	rm -rf .venv .venv-* build dist *.egg-info lightning_logs
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .benchmarks
	find aam_vision envs classifiers training experiments fuzzing mutation tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/ready: pyproject.toml constraints.txt
	$(if $(PYTHON),,$(error no Python 3.11 or later found: install one, or name it with PYTHON=...))
	$(PYTHON) -m venv $(VENV)
	$(PY) $(INSTALL) --constraint constraints.txt --editable '.[dev]' $(TORCH)
	$(PY) $(INSTALL) $(PDDLGYM)
	touch $@

# Only where there is a wheel (Linux on x86-64: 61 MB, 3 s): to build it takes a compiler and minutes. The
# tests of it are skipped elsewhere.
$(VENV)/fast-downward: $(VENV)/ready
	$(PY) $(INSTALL) --constraint constraints.txt --only-binary :all: up-fast-downward \
	    || echo "no Fast Downward for this machine: its tests are skipped"
	touch $@

# Likewise (80 MB, 9 s): there are wheels only.
$(VENV)/ray: $(VENV)/ready
	$(PY) $(INSTALL) --constraint constraints.txt --only-binary :all: ray \
	    || echo "no Ray for this machine: its tests are skipped"
	touch $@

# OLAM insists on another Fast Downward than ours, so the peers live apart.
.venv-peers/ready: pyproject.toml constraints.txt
	$(if $(PYTHON),,$(error no Python 3.11 or later found: install one, or name it with PYTHON=...))
	$(PYTHON) -m venv --clear .venv-peers
	grep -iv '^up.fast.downward' constraints.txt > .venv-peers/constraints.txt
	.venv-peers/bin/python $(INSTALL) --constraint .venv-peers/constraints.txt \
	    --editable '.[peers]' $(TORCH) pytest
	.venv-peers/bin/python $(INSTALL) $(PDDLGYM)
	touch $@

# Atheris is needed nowhere else. Nothing of the package is installed: it runs from this folder.
.venv-fuzz/ready: pyproject.toml constraints.txt
	$(if $(PYTHON),,$(error no Python 3.11 or later found: install one, or name it with PYTHON=...))
	$(PYTHON) -m venv --clear .venv-fuzz
	.venv-fuzz/bin/python $(INSTALL) --constraint constraints.txt \
	    atheris==3.0.0 numpy pillow
	touch $@

# mutmut is needed nowhere else. All other packages are those of $(VENV), which must be of the same Python.
.venv-mutants/ready: $(VENV)/ready
	$(PY) -m venv --clear .venv-mutants
	.venv-mutants/bin/python $(INSTALL) --constraint constraints.txt mutmut==3.8.1
	$(PY) -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	    > $$(.venv-mutants/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tests.pth
	touch $@

# All other packages are those of $(VENV), but for what Inspect wants older.
.venv-inspect/ready: $(VENV)/ready
	$(PY) -m venv --clear .venv-inspect
	$(PY) -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	    > $$(.venv-inspect/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tests.pth
	.venv-inspect/bin/python $(INSTALL) --editable '.[inspect]'
	touch $@

.venv-audit/ready:
	$(if $(PYTHON),,$(error no Python 3.11 or later found: install one, or name it with PYTHON=...))
	$(PYTHON) -m venv --clear .venv-audit
	.venv-audit/bin/python $(INSTALL) pip-audit
	touch $@

# The package itself is not installed here: the tests run it from this folder. Where no torch can be had,
# those that need none still run.
.venv-pillow/ready: pyproject.toml constraints.txt
	$(if $(PYTHON),,$(error no Python 3.11 or later found: install one, or name it with PYTHON=...))
	$(PYTHON) -m venv --clear .venv-pillow
	grep -iv '^pillow' constraints.txt > .venv-pillow/constraints.txt
	.venv-pillow/bin/python $(INSTALL) --constraint .venv-pillow/constraints.txt pillow \
	    gymnasium imageio matplotlib networkx scikit-image hypothesis pytest pytest-xdist
	.venv-pillow/bin/python $(INSTALL) $(PDDLGYM)
	.venv-pillow/bin/python $(INSTALL) --constraint .venv-pillow/constraints.txt \
	    $(TORCH) lightning safetensors torchmetrics || echo "no torch for this Python: tests/envs only"
	touch $@
