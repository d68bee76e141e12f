"""A library that is compared has to answer what the twin answers, in a bounded time, and to say what it lacks."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import pytest

from tamis.bench.matching import libraries
from tamis.bench.matching.contenders import EnginesDisagree, Setup, contenders
from tamis.bench.matching.libraries import contest as contests
from tamis.bench.matching.libraries.contest import LibraryFailed, contest
from tamis.bench.matching.libraries.rules import rule_of, subject_of
from tamis.bench.matching.match import run
from tamis.bench.matching.report import rows_for_programs, table_for_people
from tamis.bench.matching.workloads import Workload, deal, make
from tamis.cli.main import main
from tamis.native import Batch
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value
from tamis.protocol.wire.attributes import decode_attributes, encode_attributes
from tamis.protocol.wire.packed_filters import decode_filter, encode_filter

INSTALLED = [
    pytest.param(
        name, marks=pytest.mark.skipif(not libraries.is_installed(name), reason=f"{libraries.LibraryMissing(name)}")
    )
    for name in libraries.NAMES
    if name != "sqlite"
] + ["sqlite"]
WORDS = ("ab", "abc", "b", "abab", "zz~", " a")
NUMBERS = (0, 1, 99, 100, 9_999)
STRING_OPS = (Op.EQ, Op.LT, Op.GT, Op.PREFIX, Op.SUFFIX, Op.CONTAINS)


def every_constraint() -> Iterator[Constraint]:
    yield from (Constraint("x", op, (word,)) for op in STRING_OPS for word in WORDS)
    yield from (Constraint("x", op, (number,)) for op in (Op.EQ, Op.LT, Op.GT) for number in NUMBERS)
    yield from (Constraint("x", Op.EQ, (flag,)) for flag in (True, False))


def expressed(name: str, filters: list[Filter]) -> list[Filter]:
    """All, but for the one library that says that it cannot order strings."""
    library = libraries.load(name)
    kept = [each for each in filters if (rule := rule_of(each)) is not None and library.expresses(rule)]
    assert kept == [each for each in filters if name != "zen" or not any(map(orders_strings, each.constraints))]
    return kept


def orders_strings(constraint: Constraint) -> bool:
    return constraint.op in (Op.LT, Op.GT) and isinstance(constraint.operands[0], str)


def answers(name: str, filters: list[Filter], messages: list[dict[str, Value]]) -> list[set[int]]:
    library, rules = libraries.load(name), [rule for each in filters if (rule := rule_of(each)) is not None]
    library.build(rules, range(len(rules)))
    return library.match(library.prepare([subject_of(message) for message in messages]))


def expected(filters: list[Filter], messages: list[dict[str, Value]]) -> list[set[int]]:
    return [{i for i, each in enumerate(filters) if filter_matches(each, message)} for message in messages]


@pytest.mark.slow
@pytest.mark.parametrize("name", INSTALLED)
def test_every_operator_at_its_boundaries(name: str) -> None:
    above = Constraint("y", Op.GT, (5,))
    filters = expressed(name, [Filter(held) for one in every_constraint() for held in ((one,), (one, above))])
    values: tuple[Value, ...] = (*WORDS, "a", "abcd", "", *NUMBERS, 2, True, False)
    messages: list[dict[str, Value]] = [{"x": value} for value in values]
    messages += [{"y": y, "x": value} for value in values for y in (5, 6)]
    assert answers(name, filters, [*messages, {}]) == expected(filters, [*messages, {}])


@pytest.mark.slow
@pytest.mark.parametrize("workload", ["sigcomm03", "cu922", "market"])
@pytest.mark.parametrize("name", INSTALLED)
def test_the_workloads_are_answered_as_by_the_twin(name: str, workload: str) -> None:
    made = make(workload, 60, 40, 20, 5)
    filters = expressed(name, [decode_filter(made.filters[i]) for i in range(60)])
    messages = [decode_attributes(made.messages[i]) for i in range(40)]
    assert answers(name, filters, messages) == expected(filters, messages)


@pytest.mark.parametrize(
    "filter_",
    [
        Filter(()),
        Filter((Constraint("x", Op.EQ, (1.5,)),)),
        Filter((Constraint("x", Op.NE, (1,)),)),
        Filter((Constraint("x", Op.EQ, (1,), negated=True),)),
        Filter((Constraint("not a name", Op.EQ, (1,)),)),
        Filter((Constraint("x", Op.EQ, (1,)), Constraint("y", Op.EXISTS))),
    ],
)
def test_what_no_library_expresses_has_no_rule(filter_: Filter) -> None:
    assert rule_of(filter_) is None


def test_the_kind_is_part_of_the_key() -> None:
    assert subject_of({"x": 1, "y": "1", "z": True}) == {"i_x": 1, "s_y": "1", "b_z": True}
    with pytest.raises(ValueError, match="without floats"):
        subject_of({"x": 1.5})


@pytest.mark.slow
def test_only_what_a_library_expresses_is_compared() -> None:
    """A float constant is left out on both sides, though `tamis` would find it."""
    filters = [Filter((Constraint("x", op, (operand,)),)) for op, operand in ((Op.EQ, 1), (Op.LT, 1.5), (Op.GT, 0))]
    workload = Workload(Batch.of(map(encode_filter, filters)), Batch.of([encode_attributes({"x": 1})]), 3)
    told = contest("sqlite", workload, array("I", [4, 5, 6]))
    assert (told.share, told.expressed, told.matched_mean, told.messages) == (2 / 3, 2, 2, 1)
    assert min(told.mean_us, told.tamis_us, told.build_s) > 0


@pytest.mark.slow
def test_a_library_that_takes_too_long_is_ended_with_a_sentence() -> None:
    with pytest.raises(LibraryFailed, match=r"sqlite did not finish 10 filters in 0\.01 s"):
        contest("sqlite", make("sigcomm03", 10, 5, 5, 1), deal("sigcomm03", 10, 2, 1), seconds_max=0.01)


SMALL = Setup("sigcomm03", 50, 5, 20, 30, 7, contenders(["tamis", "library:sqlite"]), passes=1)


@pytest.mark.slow
def test_a_library_has_a_row_in_the_same_table(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--filters", "50", "--messages", "20", "--engine", "tamis,library:sqlite", "--passes", "1"]
    assert main(["bench", "match", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[2:4]] == ["tamis", "library:sqlite"]
    assert lines[4].startswith("library:sqlite: 100% of the filters")


@pytest.mark.slow
def test_a_wrong_answer_of_a_library_fails_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = contests._in_a_child

    def lying(job: contests._Job) -> contests._Answer:
        told = honest(job)
        told.found[3] = {99}
        return told

    monkeypatch.setattr(contests, "_in_a_child", lying)
    with pytest.raises(EnginesDisagree, match=r"sqlite and tamis differ on message 3: \[99\] extra"):
        run(SMALL, SMALL.make(), lambda _words: None)


def test_a_library_that_failed_has_a_row_without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_arguments: object) -> None:
        raise LibraryFailed("sqlite was not done")

    monkeypatch.setattr("tamis.bench.matching.match.contest", failing)
    monkeypatch.setattr("tamis.bench.matching.updates._TIMED", 10)
    results = run(SMALL, SMALL.make(), lambda _words: None)
    assert table_for_people(results).splitlines()[-1] == "library:sqlite: sqlite was not done"
    row = rows_for_programs(SMALL, results)[1]
    assert row["note"] == "sqlite was not done"
    assert "mean_us" not in row


def test_a_missing_library_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert main(["bench", "match", "--engine", "tamis,library:duckdb"]) == 2
    assert "library duckdb is not installed; install it with: pip install duckdb pyarrow" in capsys.readouterr().err


def test_the_old_prefix_names_the_same_library() -> None:
    assert contenders(["tamis", "peer:sqlite", "library:sqlite"]) == contenders(["tamis", "library:sqlite"])


def test_an_unknown_library_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no engine 'library:oracle'; one of .*library:sqlite"):
        contenders(["library:oracle"])
