# Everything needs only python3 and make; each target makes .venv itself.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test lint bench docs clean

install: .venv/.installed

.venv/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]' --group test --group lint
	touch $@

demo: install
	$(BIN)/opilio demo

test: lint
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: install
	$(BIN)/ruff check src tests bench
	$(BIN)/ruff format --check src tests bench
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell src tests docs bench README.md CHANGELOG.md CONTRIBUTING.md

bench: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench
	$(BIN)/python -m bench

docs: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	$(BIN)/mkdocs build --strict

clean:
	rm -rf .venv site build dist
