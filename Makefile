# Everything needs only python3 and make; each target makes .venv itself.
PYTHON ?= python3
BIN := .venv/bin

# Versions to install, if not the newest: CI gives .ci/tested.txt.
CONSTRAINT :=
PINNED := $(if $(CONSTRAINT),--constraint $(CONSTRAINT))

.PHONY: install demo test pytest test-pythons test-oldest test-bare wheel lint lock bench reproduce docs clean

PIP := $(BIN)/python -m pip install --disable-pip-version-check

# Opilio with all extras; then what tests and checks need as well.
install: .venv/.installed

.venv/.opilio: pyproject.toml hatch_build.py $(shell find src/opilio -name "*.pyx" -o -name "*.pxi")
	@echo "Installing Opilio and its libraries into .venv; the first time this takes some minutes."
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --quiet --upgrade 'pip>=25.1'
	$(PIP) --progress-bar on $(PINNED) --editable '.[all]'
	$(BIN)/python -m compileall -q src/opilio
	@touch $@
	@echo "Installed. The command is $(BIN)/opilio."

.venv/.installed: .venv/.opilio
	$(PIP) --progress-bar on $(PINNED) --group test --group lint
	@touch $@

demo: .venv/.opilio
	$(BIN)/opilio demo

# The checks run beside the tests: mypy alone would leave all cores but one idle.
test: install
	@$(MAKE) --no-print-directory -j2 lint pytest

# Python may write what it compiles, or else every process of the tests compiles it again.
pytest: export PYTHONDONTWRITEBYTECODE =
pytest: install
	$(BIN)/python -m pytest -n auto --dist worksteal

# Other environments, each in build/; TESTS=tests/test_crawl.py runs fewer tests.
test-pythons test-oldest test-bare: test-%:
	.ci/matrix $*

# manylinux wheels in dist/, for every Python here, tried where there is no compiler.
wheel:
	.ci/matrix wheels

# The versions that are installed now become those that CI tests with.
lock: install
	$(BIN)/python .ci/lock.py >.ci/tested.new
	mv .ci/tested.new .ci/tested.txt

lint: install
	$(BIN)/ruff check src tests bench
	$(BIN)/ruff format --check src tests bench
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell src tests docs bench README.md CHANGELOG.md CONTRIBUTING.md

bench: install
	$(PIP) --quiet --group bench
	$(BIN)/python -m bench

# The papers' experiments, also on the webs beside this folder if they are there.
SHARED := ../shared
REAL := $(if $(wildcard $(SHARED)/webs/schools/web.toml),--web $(SHARED)/webs/schools)
MIXED := $(if $(wildcard $(SHARED)/webs/schools-mixed/web.toml),--mixed-web $(SHARED)/webs/schools-mixed --dictionary $(SHARED)/data/hin-eng.tsv)

reproduce: install
	$(BIN)/opilio lab reproduce $(REAL) $(MIXED) -o build/reproduce

docs: install
	$(PIP) --quiet --group docs
	$(BIN)/mkdocs build --strict

clean:
	rm -rf .venv site build dist
