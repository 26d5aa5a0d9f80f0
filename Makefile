# make run        opens the dashboard (ARGS="--server.port 8600": any of Streamlit's options)
# make test       runs what everybody runs, in about nine minutes: units, properties, pages, a walk for each reader
# make test-all   runs every test, in parts of under ten minutes; goes on where it stopped (PART=browser-2 runs that one)
# make lint       checks style and types
# make audit      audits the demo, from a plan to a decision and a report in audit-demo
# make benchmark  prints the speed figures
# make reference  prints the long tables of the papers beside ours (hours; RECORD=file to stop and continue)
# make docs       writes the reference pages, the lesson, and the recorded figures of README and results again
# make site       builds the documentation's site in _site
# make pictures   takes the README's pictures anew
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# One small network or forest per core is faster than every library starting its own threads.
export OMP_NUM_THREADS ?= 1

.PHONY: site run test test-all lint benchmark audit reference docs pictures clean

run: $(VENV)/run.done
	$(BIN)/python -m streamlit run serve.py $(ARGS)

# Three for two cores: browsers, which two of them drive, wait half of the time.
test: $(VENV)/test.done
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

test-all: $(VENV)/test.done
	$(BIN)/python -m tests.parts $(PART)

lint: $(VENV)/test.done
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

benchmark: $(VENV)/test.done
	$(BIN)/python -m tests.benchmarks

# A decision against the release (1, or 2 for inconclusive) is a result here and no error; unusable input (3) is one.
audit: $(VENV)/run.done
	@mkdir -p audit-demo
	$(BIN)/python -m core init --dataset demo > audit-demo/plan.toml
	$(BIN)/python -m core audit audit-demo/plan.toml --out audit-demo/report --force || test $$? -le 2

reference: $(VENV)/test.done
	$(BIN)/python -m tests.reference $(if $(RECORD),--record $(RECORD))

docs: $(VENV)/run.done
	@mkdir -p docs/reference
	$(BIN)/python -m core.learn.reference_pages docs/reference
	cp core/learn/examples/lesson.md docs/tutorial/in-class.md
	$(BIN)/python -m tests.reference.figures

site: $(VENV)/test.done
	$(BIN)/python -m sphinx -q -W --keep-going -c docs . _site

pictures: $(VENV)/test.done
	$(BIN)/python -m tests.pictures

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "FairLeak needs Python 3.11 or newer; this is " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)

$(VENV)/run.done: requirements.txt constraints.txt | $(VENV)/bin/python
	$(PIP) -r requirements.txt
	@touch $@

$(VENV)/test.done: requirements.txt requirements-dask.txt requirements-pdf.txt requirements-postgresql.txt requirements-signin.txt requirements-signing.txt requirements-dev.txt constraints.txt | $(VENV)/bin/python
	$(PIP) -r requirements-dev.txt
	@touch $@

clean:
	rm -rf $(VENV) _site audit-demo .parts .pytest_cache .mypy_cache .ruff_cache .hypothesis
