"""The engines are listed once, in C: whoever else needs a name or the bound of an option asks for it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tamis.bench.matching.contenders import contenders
from tamis.cli.lab.engines import DEFAULT, PLAIN, engine_names
from tamis.configs import choices
from tamis.native import DEFAULT_ENGINE, ENGINES, EngineOption, Table
from tamis.native._tm import ffi, lib


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Without options: those are what is tested."""
    return str(request.param)


ROOT = Path(__file__).parents[2]
FOLDERS = ("native", "configs", "tamis", "router", "bench", "analysis")


def test_the_default_is_the_first() -> None:
    assert next(iter(ENGINES)) == DEFAULT_ENGINE == DEFAULT == Table().engine


def test_everybody_offers_the_registered_engines() -> None:
    assert Table.engines() == tuple(ENGINES)
    assert engine_names() == [*ENGINES, PLAIN]
    assert choices.supported(choices.ENGINES) == [*ENGINES, PLAIN]
    assert {each.engine for each in contenders(ENGINES)} == set(ENGINES)


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_file_lists_the_engines_again(folder: str) -> None:
    """A file may speak of one engine or compare two; one that names all of them is a list to keep by hand."""
    texts = {path: path.read_text() for path in (ROOT / folder).rglob("*.py")}
    assert texts
    assert [
        path for path, text in texts.items() if all(re.search(rf"[\"']{name}[\"']", text) for name in ENGINES)
    ] == []


def test_every_engine_says_what_it_is(engine: str) -> None:
    described = ENGINES[engine]
    assert described.name == engine
    assert re.fullmatch(r"\S.*\.", described.about)
    for name, option in described.options.items():
        assert name == option.name
        assert re.fullmatch(r"\S.*\.", option.about)
        assert option.least <= option.standard <= option.most
        assert len(option.values) in (0, option.most - option.least + 1)


def allowed(option: EngineOption) -> str:
    return f"one of {', '.join(option.values)}" if option.values else f"from {option.least:,} to {option.most:,}"


def test_options_are_taken_within_their_bounds(engine: str) -> None:
    for option in ENGINES[engine].options.values():
        for value in (option.least, option.standard, option.most):
            Table(engine, options={option.name: value}).close()
        for value in (option.least - 1, option.most + 1):
            with pytest.raises(ValueError, match=f"{option.name} is {value}; {allowed(option)}"):
                Table(engine, options={option.name: value})
        for number, value in enumerate(option.values, option.least):
            assert option.value(value) == number


def test_an_unknown_option_is_refused_with_those_there_are(engine: str) -> None:
    known = ", ".join(ENGINES[engine].options) or "none"
    with pytest.raises(ValueError, match=f"engine {engine} has no option 'colour'; its options: {known}"):
        Table(engine, options={"colour": 3})


def result_of(engine: str, name: bytes, value: int) -> int:
    """What C says to a table with this option."""
    text = ffi.new("char[]", name)
    options = ffi.new("tm_options *", {"named": (named := ffi.new("tm_option *", [text, value])), "named_count": 1})
    made = ffi.new("tm_table **")
    result = lib.tm_table_new(ENGINES[engine].number, options, made)
    lib.tm_table_free(made[0])
    assert named.value == value
    return int(result)


def test_c_checks_options_for_itself(engine: str) -> None:
    assert result_of(engine, b"colour", 3) == lib.TM_MISUSED
    for option in ENGINES[engine].options.values():
        assert result_of(engine, option.name.encode(), option.most) == lib.TM_OK
        assert result_of(engine, option.name.encode(), option.most + 1) == lib.TM_MISUSED


def test_no_engine_has_a_number_past_the_last() -> None:
    options = ffi.new("tm_options *")
    assert lib.tm_table_new(len(ENGINES), options, ffi.new("tm_table **")) == lib.TM_MISUSED
    assert lib.tm_engine_about(len(ENGINES)) == ffi.NULL
    assert lib.tm_engine_option(len(ENGINES), 0) == ffi.NULL
