# Each target makes what it needs: the environment, what is installed into it, then the work.
#
#   make demo             examples/digits.py: trains a network on handwritten digits
#   make demo-distributed the same network on several devices and on two processes
#   make test             the tests                          ARGS="-k name" goes to pytest
#   make test-full        all random programs, damaged artifacts, explained programs and mapped axes, of which the tests run a sample
#   make test-fast        those that are neither slow nor start processes: under four minutes on two cores
#   make smoke            the half-minute selection of them
#   make test-settings    the tests under each of the strict settings of users   SETTINGS="rank dtype" chooses
#   make lint             ruff and pyright
#   make test-types       what pyright and mypy report in programs of users
#   make test-lsp         the language server, over its protocol
#   make test-site        the documentation built, its links followed, and pages opened in Chromium
#   make stubs            the types that users see, written anew after a change of names or signatures
#   make package          wheel and sdist in dist/, checked
#   make format           lets ruff repair what it can
#   make bench            sagax beside jax                   ARGS=--quick: the three-minute selection
#   make docs             the documentation, as pages in site/
#   make gallery          pictures and figures of examples/gallery, here and with jax    ARGS=hmc: of this one
#   make seeds            the examples of the pages beside the project, if there are any
#   make diagnose         broken programs, explained and repaired, likewise
#   make diagnose-corpora the same for the programs in tests/autofix, in twenty minutes
#   make soak             100,000 calls, 10,000 donations, 10,000 callbacks: memory must stay flat
#   make attack           interrupts, forks, threads, exits, strangers, damaged files    ARGS="--minutes 30 --seed 7"
#   make test-beside-jax  the tests in which jax is imported in the same process
#   make test-tf          the tests of jax2tf with TensorFlow
#   make test-torch       arrays that travel between sagax and torch; PYTHON chooses an interpreter that torch has a release for
#   make test-libraries   libraries written for jax, run on sagax, and on jax where .venv-jax exists; prints a table
#   make test-engines     the tests on the oldest and the newest engine, where their Pythons exist
#   make gpu              all that needs a GPU of NVIDIA's   ARGS=--dry-run: what needs no driver, and a list of the rest
#   make clean            removes every environment made here
#
# PYTHON=/path/to/python chooses the interpreter of a new .venv; otherwise scripts/find_python.sh does.

VENV := .venv
PY := $(VENV)/bin/python
PIP := -m pip -qq --disable-pip-version-check
JOBS ?= 2
ARGS :=
SETTINGS := rank dtype checks nans x64
PYTHON :=

.NOTPARALLEL:
.DELETE_ON_ERROR:
help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile

.PHONY: help demo demo-distributed gallery test test-fast test-settings test-full smoke lint format bench docs soak attack test-engines test-beside-jax test-tf test-torch test-libraries test-types test-lsp test-site stubs package seeds diagnose diagnose-corpora coverage gpu clean

demo: $(VENV)/.with-examples
	$(PY) examples/digits.py $(ARGS)

demo-distributed: $(VENV)/.with-examples
	$(PY) examples/data_parallel.py $(ARGS)

# Shares of 500: greater ones leave a process thousands of slow tests at the end, smaller ones make fixtures of modules twice.
test: $(VENV)/.with-examples $(VENV)/.with-test
	$(PY) -m pytest -n $(JOBS) --maxschedchunk 500 $(ARGS)

test-full: $(VENV)/.with-examples $(VENV)/.with-test
	FULL=1 $(PY) -m pytest tests/api/test_export_random.py tests/lowering/test_exact.py tests/lowering/test_compile_growth.py tests/autofix/test_explain.py tests/autofix/test_proof.py tests/primitives/test_laws.py tests/random/test_values.py tests/test_strangers.py -n $(JOBS) $(ARGS)

test-fast: $(VENV)/.with-examples $(VENV)/.with-test
	$(PY) -m pytest -m "smoke or not (slow or process)" -n $(JOBS) -q $(ARGS)

test-settings: $(VENV)/.with-examples $(VENV)/.with-test  # under the strict settings of users, each in turn
	status=0; for name in $(SETTINGS); do $(PY) -m pytest -n $(JOBS) -q --user-settings=$$name $(ARGS) || status=1; done; exit $$status

smoke: $(VENV)/.with-examples $(VENV)/.with-test
	$(PY) -m pytest -m smoke -q $(ARGS)

lint: $(VENV)/.with-examples $(VENV)/.with-test $(VENV)/.with-dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m pyright

format: $(VENV)/.with-dev
	$(PY) -m ruff check --fix --exit-zero --quiet .
	$(PY) -m ruff format .

bench: $(VENV)/.with-bench .venv-jax/.done
	$(PY) -m benchmarks --jax-python .venv-jax/bin/python $(ARGS)

docs: $(VENV)/.with-docs
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet

gallery: $(VENV)/.with-examples .venv-jax/.done
	$(PY) scripts/gallery.py --jax .venv-jax/bin/python $(ARGS)

soak: $(VENV)/.with-test
	$(PY) scripts/soak.py $(ARGS)

attack: $(VENV)/.with-test
	$(PY) scripts/attack.py $(ARGS)

# What both libraries do when they share one process.
test-beside-jax: .venv-jax/.done
	@.venv-jax/bin/python $(PIP) install --editable '.[test]'
	.venv-jax/bin/python -m pytest tests/test_coexistence.py $(ARGS)

test-tf: .venv-tf/.done
	@.venv-tf/bin/python $(PIP) install --editable '.[test]'
	TF_CPP_MIN_LOG_LEVEL=3 .venv-tf/bin/python -m pytest tests/experimental/test_jax2tf.py $(ARGS)

test-torch: .venv-torch/.done
	@.venv-torch/bin/python $(PIP) install --editable '.[test]'
	.venv-torch/bin/python -m pytest tests/test_torch.py $(ARGS)

test-libraries: .venv-libraries/.done
	@.venv-libraries/bin/python $(PIP) install --editable '.[test]'
	.venv-libraries/bin/python tests/libraries/table.py $(if $(wildcard .venv-jax/.done),--jax .venv-jax/bin/python) $(ARGS)
	.venv-libraries/bin/python -m pytest -q tests/runtime/distributed/test_elastic.py

# Makes its own environments, with the plugin for the CUDA that the driver knows.
gpu: $(VENV)/.with-test
	$(PY) scripts/gpu.py $(ARGS)

test-types: $(VENV)/.with-test $(VENV)/.with-dev
	$(PY) tests/types/checkers.py $(ARGS)
	$(PY) -m pytest -q tests/test_types.py

test-lsp: $(VENV)/.with-examples $(VENV)/.with-test
	$(PY) -m pytest tests/lsp $(ARGS)

test-site: $(VENV)/.with-test $(VENV)/.with-docs
	$(PY) -m pytest tests/test_site.py $(ARGS)

stubs: $(VENV)/.with-test $(VENV)/.with-dev
	$(PY) scripts/make_stubs.py

package: $(VENV)/.with-dev
	rm -rf dist
	$(PY) -m build
	$(PY) -m twine check --strict dist/*

test-engines:
	sh scripts/test_engines.sh $(ARGS)

clean:
	rm -rf $(VENV) .venv-gpu .venv-gpu-jax .venv-jax .venv-tf .venv-torch .venv-libraries .venv-engine-*

# The environment. It stays when pyproject.toml changes; what is installed in it is brought up to date.
$(PY):
	@python="$(PYTHON)"; [ -n "$$python" ] || python=$$(sh scripts/find_python.sh) || exit 1; \
	echo "making $(VENV) with $$python"; \
	"$$python" -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }

# One stamp for each extra: .with-test = "this project with its extra test is installed".
$(VENV)/.with-%: pyproject.toml | $(PY)
	@$(PY) scripts/install.py '.[$*]'
	@touch $@

# jax, to compare with, in an environment of its own with the interpreter of $(VENV).
.venv-jax/.done: pyproject.toml | $(PY)
	@echo "making .venv-jax with jax 0.12"
	@base=$$($(PY) -c 'import sys; print(sys._base_executable)'); \
	"$$base" -m venv --clear .venv-jax
	@.venv-jax/bin/python $(PIP) install 'jax==0.12.*' scikit-learn matplotlib rich
	@touch $@

# Libraries written for jax, without it.
.venv-libraries/.done: pyproject.toml tests/libraries/requirements.txt | $(PY)
	@echo "making .venv-libraries"
	@base=$$($(PY) -c 'import sys; print(sys._base_executable)'); \
	"$$base" -m venv --clear .venv-libraries
	@.venv-libraries/bin/python $(PIP) install --no-deps -r tests/libraries/requirements.txt
	@.venv-libraries/bin/python $(PIP) install numpy scipy
	@touch $@

# torch, for arrays that travel. Where the package index has builds for CPUs, choose them by PIP_INDEX_URL.
.venv-torch/.done: pyproject.toml | $(PY)
	@echo "making .venv-torch with torch"
	@base="$(PYTHON)"; [ -n "$$base" ] || base=$$($(PY) -c 'import sys; print(sys._base_executable)'); \
	"$$base" -m venv --clear .venv-torch
	@.venv-torch/bin/python $(PIP) install torch
	@touch $@

# TensorFlow, for what hands programs to it. It has no release for the newest Python: PYTHON chooses another.
.venv-tf/.done: pyproject.toml | $(PY)
	@echo "making .venv-tf with TensorFlow"
	@base="$(PYTHON)"; [ -n "$$base" ] || base=$$($(PY) -c 'import sys; print(sys._base_executable)'); \
	"$$base" -m venv --clear .venv-tf
	@.venv-tf/bin/python $(PIP) install tensorflow-cpu
	@touch $@

# Checks of a collection of pages and programs that may lie beside the project: these fail when less
# holds than has been reached. The report on names informs: whatever it finds, the build goes on.
SHARED := ../shared
report = if [ -d $(SHARED) ]; then timeout -k 10 $(1) $(2) || echo "$@: exit status $$? (a report, fails nothing)"; \
	else echo "$@: nothing to report on here"; fi

seeds: $(VENV)/.with-examples
	$(PY) scripts/gate.py seeds $(ARGS)

diagnose: $(VENV)/.with-examples
	$(PY) scripts/gate.py diagnose $(ARGS)

diagnose-corpora: $(VENV)/.with-examples
	$(PY) scripts/gate.py corpora $(ARGS)

coverage: $(VENV)/.with-examples
	@$(call report,60,$(PY) $(SHARED)/tools/api_coverage.py $(ARGS))
