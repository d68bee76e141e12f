# Two commands for a newcomer: `make run` and `make test`. Each does its own set-up in .venv.
PYTHON ?= python3
BIN := .venv/bin
# In a checkout a failure of the C build is one; an installation by pip goes on as a client alone.
export TAMIS_NATIVE := required
PACKAGES := protocol native configs router simulate analysis testing bench papers
SOURCES := $(PACKAGES) tamis tests setup.py
C_SOURCES = $(shell find native bench/router/brokers -name '*.[ch]' ! -path native/_tm.c)
MINUTES ?= 1
EXTRAS ?= router
MUTANTS ?= --sample 400 --seed 1
FRAMES ?= 100000
ATTACK ?= --scale 1
QUESTION ?=
# The tests keep compiled modules in .venv, also where PYTHONDONTWRITEBYTECODE is set: without them each process of a run
# compiles all tests again, and each daemon all of the router.
PYTEST := PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$(CURDIR)/.venv/compiled $(BIN)/pytest

.PHONY: run test quick long check format bench fuzz fuzz-live attack mutants sanitize wheel wheels clean

run: .venv/installed
	@$(BIN)/python -m tamis.cli.lab.demo

test: .venv/installed
	$(PYTEST) -m "not long" -n 2 --durations=20

quick: .venv/installed
	$(PYTEST) -m "not slow and not long" -n 2 --durations=20 --hypothesis-profile quick

long: .venv/installed
	$(BIN)/pytest -m long -s

check: .venv/installed .venv/typing
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	@echo clang-format: $(words $(C_SOURCES)) files; $(BIN)/clang-format --dry-run -Werror $(C_SOURCES)
	cd .venv/typing && $(CURDIR)/$(BIN)/mypy --config-file $(CURDIR)/pyproject.toml -p tamis
	$(BIN)/pytest tests/test_imports.py tests/test_native_rooms.py

format: .venv/installed
	$(BIN)/ruff check --fix $(SOURCES); $(BIN)/ruff format $(SOURCES)
	$(BIN)/clang-format -i $(C_SOURCES)

# The tag says which systems the wheel runs on: those with the C library of the machine that built it, or a newer one.
wheel: .venv/installed
	rm -rf build/wheel && $(BIN)/pip wheel -q --disable-pip-version-check --no-deps -w build/wheel .
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair -w dist build/wheel/tamis-*.whl

# The last line loads what is in the wheel; -P keeps this folder, which has a tamis, too, from being looked into first.
wheels: .venv/installed
	rm -f wheels/tamis-*
	$(BIN)/pip wheel -q --disable-pip-version-check -c constraints.txt -w wheels '.[$(EXTRAS)]'
	rm -rf build/loaded && $(BIN)/python -m zipfile -e wheels/tamis-*.whl build/loaded
	PYTHONPATH=build/loaded $(BIN)/python -P -c 'import tamis.native._tm as c; assert "build/loaded" in c.__file__, c.__file__'

bench: .venv/installed
	$(BIN)/python -m tamis.bench $(QUESTION)

fuzz: .venv/installed
	for target in predicate frames space topology; do $(BIN)/python -m tests.fuzz $$target --minutes $(MINUTES) || exit 1; done

fuzz-live: .venv/installed
	$(BIN)/python -m tests.fuzz.live --frames $(FRAMES)

attack: .venv/installed
	$(BIN)/python -m tests.attack $(ATTACK)

mutants: .venv/installed
	nice $(BIN)/python -m tests.mutants $(MUTANTS)

sanitize:
	@test ! -e native/tests/run.sh || sh native/tests/run.sh

clean:
	rm -rf build dist *.egg-info native/_tm.c native/*.so native/tests/build bench/router/brokers/build

.venv/installed: pyproject.toml setup.py constraints.txt $(shell find native -name '*.[ch]' ! -path native/_tm.c ! -path 'native/tests/*') native/build.py
	@sh .ci/needs $(PYTHON)
	@echo "setting up .venv: Python packages and the C build (a minute or two the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

# mypy reads packages by folder: a folder of links shows it the tree as it is imported.
.venv/typing: .venv/installed
	@mkdir -p $@/tamis && ln -sfn $(foreach entry,$(wildcard tamis/*),$(CURDIR)/$(entry)) $(foreach p,$(PACKAGES),$(CURDIR)/$(p)) $@/tamis/
