# make serve   install, ingest the sample (or CORPUS=FILE) and open the browser app
# make test    install and run the test suite
PYTHON ?= python3
CORPUS ?= rag/data/iclr2026_sample.jsonl
PORT ?= 7860
BIN = .venv/bin

.PHONY: serve test check nightly eval bench clean

serve: .make/installed
	$(BIN)/rag ingest $(CORPUS)
	$(BIN)/rag serve --port $(PORT)

test: .make/dev
	$(BIN)/python -m pytest -m "not nightly"

nightly: .make/dev
	HYPOTHESIS_PROFILE=new $(BIN)/python -m pytest

check: .make/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	@PATH="$(BIN):$$PATH" sh .ci/audit

eval: .make/dev
	$(BIN)/rag eval run --set sample --llm extractive --corpus rag/data/iclr2026_sample.jsonl

bench: .make/dev
	$(BIN)/rag eval speed

.make/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e .
	@mkdir -p .make && touch $@

.make/dev: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@mkdir -p .make && touch .make/installed $@

clean:
	rm -rf .venv .make .mypy_cache .ruff_cache .pytest_cache
