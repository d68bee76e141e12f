# Two commands for a newcomer: `make run` and `make test`. Each target installs in .venv what it needs, and no more.
PYTHON ?= python3
BIN := .venv/bin
# In a checkout a failure of the C build is one; an installation by pip goes on as a client alone.
export TAMIS_NATIVE := required
PACKAGES := protocol native configs serving router gateway simulate analysis testing bench papers
SOURCES := $(PACKAGES) tamis tests setup.py
C_SOURCES = $(shell find native bench/router/brokers -name '*.[ch]' ! -path native/_tm.c)
LIBRARY := native/_tm.abi3.so
MINUTES ?= 1
EXTRAS ?= router
MUTANTS ?= --sample 400 --seed 1
FRAMES ?= 100000
ATTACK ?= --scale 1
QUESTION ?=
MARKED ?= not long
WITHIN ?=
# The tests keep compiled modules in .venv, also where PYTHONDONTWRITEBYTECODE is set: without them each process of a run
# compiles all tests again, and each daemon all of the router.
PYTEST := PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$(CURDIR)/.venv/compiled $(BIN)/pytest

.PHONY: run build test test-all long check format bench fuzz fuzz-live attack mutants sanitize wheel wheels clean
.NOTPARALLEL:

run: .venv/router $(LIBRARY)
	@$(BIN)/python -m tamis.cli.lab.demo

# The package and its C as they are now, for a run of .venv/bin/pytest or .venv/bin/tamis.
build: .venv/router $(LIBRARY)

# The quick tests, and one of each kind of the others.
test: .venv/test $(LIBRARY)
	$(PYTEST) -m "(sample or not slow) and not long" -n 2 --durations=20

test-all: .venv/test .venv/check $(LIBRARY)
	$(PYTEST) -m "$(MARKED)" -n 2 --durations=20 $(WITHIN)

long: .venv/test .venv/browser $(LIBRARY)
	$(BIN)/pytest -m long -s

check: .venv/test .venv/check .venv/typing $(LIBRARY)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	@echo clang-format: $(words $(C_SOURCES)) files; $(BIN)/clang-format --dry-run -Werror $(C_SOURCES)
	cd .venv/typing && $(CURDIR)/$(BIN)/mypy --config-file $(CURDIR)/pyproject.toml -p tamis
	$(BIN)/pytest tests/test_imports.py tests/test_native_rooms.py

format: .venv/check
	$(BIN)/ruff check --fix $(SOURCES); $(BIN)/ruff format $(SOURCES)
	$(BIN)/clang-format -i $(C_SOURCES)

# The tag says which systems the wheel runs on: those with the C library of the machine that built it, or a newer one.
wheel: .venv/wheel
	rm -rf build/wheel && $(BIN)/pip wheel -q --disable-pip-version-check --no-deps -w build/wheel .
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair -w dist build/wheel/tamis-*.whl

# The last line loads what is in the wheel; -P keeps this folder, which has a tamis, too, from being looked into first.
wheels: .venv/router
	rm -f wheels/tamis-*
	$(BIN)/pip wheel -q --disable-pip-version-check -c constraints.txt -w wheels '.[$(EXTRAS)]'
	rm -rf build/loaded && $(BIN)/python -m zipfile -e wheels/tamis-*.whl build/loaded
	PYTHONPATH=build/loaded $(BIN)/python -P -c 'import tamis.native._tm as c; assert "build/loaded" in c.__file__, c.__file__'

bench: .venv/test $(LIBRARY)
	$(BIN)/python -m tamis.bench $(QUESTION)

fuzz: .venv/fuzz $(LIBRARY)
	for target in predicate frames space topology access signed_token; do $(BIN)/python -m tests.fuzz $$target --minutes $(MINUTES) || exit 1; done

fuzz-live: .venv/router $(LIBRARY)
	$(BIN)/python -m tests.fuzz.live --frames $(FRAMES)

attack: .venv/router $(LIBRARY)
	$(BIN)/python -m tests.attack $(ATTACK)

mutants: .venv/test .venv/mutants $(LIBRARY)
	nice $(BIN)/python -m tests.mutants $(MUTANTS)

sanitize:
	@test ! -e native/tests/run.sh || sh native/tests/run.sh

clean:
	rm -rf build dist *.egg-info native/_tm.c native/*.so native/tests/build bench/router/brokers/build

# What builds the C: it is there before the package is installed, which then finds it built.
.venv/build: constraints.txt
	@sh .ci/needs $(PYTHON)
	@echo "setting up .venv; the first time, this and the C build take half a minute"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@bash .ci/install setuptools cffi
	@touch $@

$(LIBRARY): setup.py native/build.py $(filter-out native/_tm.c native/tests/%,$(shell find native -name '*.[ch]')) | .venv/build
	@echo "building the C"
	@$(BIN)/python -W ignore setup.py -q build_ext --force --inplace
	@touch $@

# Each of these is an extra of pyproject.toml, and says that it is installed.
.venv/%: pyproject.toml setup.py constraints.txt | $(LIBRARY)
	@echo "installing what \`$*\` needs"
	@bash .ci/install -e '.[$*]'
	@touch $@

# mypy reads packages by folder: a folder of links shows it the tree as it is imported.
.venv/typing: .venv/check
	@mkdir -p $@/tamis && ln -sfn $(foreach entry,$(wildcard tamis/*),$(CURDIR)/$(entry)) $(foreach p,$(PACKAGES),$(CURDIR)/$(p)) $@/tamis/
