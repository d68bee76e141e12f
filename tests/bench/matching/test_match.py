"""A benchmark is right before it is fast: equal answers, the keys promised, honest ratios."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tamis.bench import callgrind
from tamis.bench.matching import instructions
from tamis.bench.matching.churn import speed_left
from tamis.bench.matching.contenders import Contender, EnginesDisagree, Setup, contenders
from tamis.bench.matching.match import Result, fastest_of_each, run, with_ratios
from tamis.bench.matching.report import rows_for_programs, table_for_people
from tamis.cli.main import main
from tamis.native import Measurement, Table
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.packed_filters import decode_filter

KEYS = "engine build_s mean_us median_us p99_us msgs_per_s bytes_per_constraint hot_bytes_per_constraint add_us"
KEYS += " remove_us matched_mean checksum ratio"
SMALL = Setup("sigcomm03", 300, 10, 40, 50, 7, contenders(["counting", "tamis"]), passes=1)


def quiet(_words: str) -> None:
    """Progress that nobody reads."""


@pytest.fixture(scope="module", autouse=True)
def short() -> Iterator[None]:
    """Few updates, and no pass is repeated because it is short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tamis.bench.matching.updates._TIMED", 500)
        patch.setattr("tamis.bench.matching.passes._REPEAT_S", 0)
        yield


@pytest.fixture(scope="module")
def results() -> list[Result]:
    return run(SMALL, SMALL.make(), quiet)


@pytest.mark.slow
def test_engines_agree_and_find_what_the_twin_finds(results: list[Result]) -> None:
    made, dealt = SMALL.make(), SMALL.deal()
    filters = [decode_filter(made.filters[i]) for i in range(len(made.filters))]
    found = 0
    for attributes in (decode_attributes(made.messages[i]) for i in range(len(made.messages))):
        found += len({dealt[i] for i, chosen in enumerate(filters) if filter_matches(chosen, attributes)})
    assert {result.matched_mean for result in results} == {found / 40}
    assert len({result.checksum for result in results}) == 1


@pytest.mark.slow
def test_every_figure_is_there_and_positive(results: list[Result]) -> None:
    for row in rows_for_programs(SMALL, results):
        assert row.keys() >= set(KEYS.split())
        assert json.loads(json.dumps(row)) == row
        numbers = [row[key] for key in KEYS.split() if key not in ("engine", "checksum")]
        assert all(isinstance(number, float) and number > 0 for number in numbers)


@pytest.mark.slow
def test_grouping_matches_links() -> None:
    setup = replace(SMALL, group_count=2)
    for result in run(setup, setup.make(), quiet):
        assert 0 < result.matched_mean <= 2


@pytest.fixture
def lying(monkeypatch: pytest.MonkeyPatch) -> None:
    """tamis answers something else."""
    honest = Table.measure

    def measure(self: Table, *args: object, **options: object) -> Measurement:
        told = honest(self, *args, **options)  # type: ignore[arg-type]
        return replace(told, checksum=told.checksum ^ (self.engine == "tamis"))

    monkeypatch.setattr(Table, "measure", measure)


@pytest.mark.usefixtures("lying")
def test_engines_that_disagree_fail_the_run() -> None:
    with pytest.raises(EnginesDisagree, match=r"counting \w+, tamis \w+"):
        run(SMALL, SMALL.make(), quiet)


@pytest.mark.usefixtures("lying")
def test_engines_that_disagree_fail_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "match", "--filters", "50", "--messages", "20", "--engine", "counting,tamis"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "engines disagree" in told.err


def test_ratios_are_to_the_fastest_of_the_first_engine(results: list[Result]) -> None:
    times = [("sff", 0, 90.0), ("sff", 10, 60.0), ("tamis", None, 2.0)]
    made = [replace(results[0], engine=e, rounds=r, mean_us=us) for e, r, us in times]
    assert [result.ratio for result in with_ratios(made)] == pytest.approx([2 / 3, 1, 30])
    assert [(best.engine, best.rounds) for best in fastest_of_each(made)] == [("sff", 10), ("tamis", None)]
    first, second = rows_for_programs(SMALL, with_ratios(made))
    assert (first["rounds"], first["by_rounds"]) == (10, {"0": 90.0, "10": 60.0})
    assert "rounds" not in second


def test_sff_runs_once_for_each_number_of_rounds() -> None:
    assert contenders(["sff", "tamis"]) == (Contender("sff", 0), Contender("sff", 10), Contender("tamis"))
    assert contenders(["sff"], [3]) == (Contender("sff", 3),)
    with pytest.raises(ValueError, match="no engine 'quantum'"):
        contenders(["quantum"])


def test_an_engine_may_come_with_options_of_its_own() -> None:
    assert contenders(["sff:rounds=3", "sff:rounds=5"]) == (Contender("sff", 3), Contender("sff", 5))
    assert Contender("counting", None, (("a", 1), ("b", 2))).label == "counting a=1 b=2"
    assert Contender("sff", 3, (("a", 1),)).label == "sff a=1 r=3"
    with pytest.raises(ValueError, match="engine counting has no option 'speed'"):
        contenders(["counting:speed=9"])
    with pytest.raises(ValueError, match="'speed' is not option=value"):
        contenders(["sff:speed"])


@pytest.mark.slow
def test_the_command_prints_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    args = ["--filters", "100", "--interfaces", "F", "--messages", "20", "--names", "30", "--seed", "1"]
    assert main(["bench", "match", "--workload", "cu922", *args, "--engine", "counting,tamis", "--json"]) == 0
    told = capsys.readouterr()
    rows = [json.loads(line) for line in told.out.splitlines()]
    assert [row["engine"] for row in rows] == ["counting", "tamis"]
    assert rows[0]["ratio"] == 1
    assert "building tamis" in told.err


@pytest.mark.slow
def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "match", "--filters", "50", "--messages", "20", "--engine", "tamis"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| engine")
    assert lines[2].startswith("| tamis")
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize("option", [["--engine", "quantum"], ["--workload", "lottery"], ["--interfaces", "many"]])
def test_misuse_is_refused(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "match", *option]) == 2
    assert option[1] in capsys.readouterr().err


def test_a_table_for_people_has_a_line_for_each_contender(results: list[Result]) -> None:
    lines = table_for_people(results).splitlines()
    assert [line.split()[1] for line in lines[2:]] == ["counting", "tamis"]


@pytest.mark.slow
def test_matching_goes_on_during_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.bench.matching.churn._DURATION_S", 0.1)
    assert 0 < speed_left(SMALL, Contender("tamis"), SMALL.make(), quiet) < 2


@pytest.mark.long
@pytest.mark.skipif(not callgrind.is_installed(), reason="needs valgrind")
def test_instructions_are_counted() -> None:
    counted = instructions.per_message(SMALL, Contender("tamis"), SMALL.make(), quiet)
    assert 50 < counted < 1_000_000
