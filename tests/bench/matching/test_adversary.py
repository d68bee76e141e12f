"""Hostile shapes are what a client and a message may be; engines agree on them; the search tells the worst it saw."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tamis.bench.matching.adversary import __main__ as adversary
from tamis.bench.matching.adversary.families import FAMILIES
from tamis.bench.matching.adversary.page import remark
from tamis.bench.matching.adversary.search import Cost, Search, Worst
from tamis.bench.matching.contenders import Contender
from tamis.native import Measurement, Table
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.limits import MATCH_STEPS
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.packed_filters import decode_filter

_FEW = ["--filters", "40", "--tries", "3"]


@pytest.fixture(autouse=True)
def few_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.bench.matching.adversary.search._PASSES", 1)
    monkeypatch.setattr("tamis.bench.matching.adversary.search._PASSES_MIN", 1)
    monkeypatch.setattr("tamis.bench.matching.adversary.search._ORDINARY_MESSAGES", 10)


def run(*options: str) -> Result:
    return CliRunner().invoke(adversary.main, [*_FEW, *options])


def small(knobs: dict[str, Any]) -> dict[str, Any]:
    """The same without the longest texts: Python's evaluation takes its time."""
    return knobs | ({"bytes": 100} if "bytes" in knobs else {})


@pytest.mark.parametrize("name", FAMILIES)
def test_shapes_are_answered_as_by_the_twin(name: str) -> None:
    family, rng = FAMILIES[name], random.Random(1)
    chosen = [{knob: rng.choice(allowed) for knob, allowed in family.knobs.items()} for _ in range(4)]
    for knobs in map(small, [*map(dict, family.known), *chosen]):
        for make in (family.hostile, family.plain):
            shape = make(knobs, 30, random.Random(2))
            filters = [decode_filter(each) for each in shape.filters]
            assert len(filters) == 30
            message = decode_attributes(shape.messages[0])
            expected = [i for i, each in enumerate(filters) if filter_matches(each, message)]
            for engine in Table.engines():
                with Table(engine) as table:
                    for i, each in enumerate(shape.filters):
                        table.add(each, i)
                    assert table.match(shape.messages[0]) == expected


@pytest.mark.parametrize("name", FAMILIES)
def test_every_known_shape_has_every_knob_and_allowed_values(name: str) -> None:
    family = FAMILIES[name]
    assert family.known
    for knobs in family.known:
        assert {knob: value in family.knobs[knob] for knob, value in knobs.items()} == dict.fromkeys(family.knobs, True)


def test_the_page_has_a_line_for_each_family_and_one_on_its_shape() -> None:
    told = run("--engine", "tamis,counting", "--family", "names,buckets")
    assert told.exit_code == 0
    lines = told.stdout.splitlines()
    assert [line.split()[1] for line in lines[2:4]] == ["names", "buckets"]
    assert lines[0].rstrip(" |").endswith("counting us")
    assert [line.partition(":")[0] for line in lines[5:]] == ["names", "buckets"]


def test_the_same_shapes_are_tried_in_every_run() -> None:
    told = [json.loads(run("--family", "intervals", "--tries", "1", "--json").stdout) for _ in range(2)]
    assert told[0]["knobs"] == told[1]["knobs"] == dict(FAMILIES["intervals"].known[0])
    assert told[0]["hostile"]["checksum"] == told[1]["hostile"]["checksum"]
    assert told[0]["hostile"]["steps"] == told[1]["hostile"]["steps"]


def test_the_worst_shape_that_was_measured_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(_self: Search, _family: object, knobs: dict[str, Any]) -> Worst | None:
        us = {"between": 5.0, "> and <": 2.0}[knobs["bounds"]] * knobs["names"]
        return Worst(knobs, Cost(us, us, 1, 0, 0), Cost(1, 1, 1, 0, 0), 1.0) if knobs["kind"] != "string" else None

    monkeypatch.setattr(Search, "judge", judge)
    worst = Search((Contender("tamis"),), 10, 1.0, 1).worst("intervals", FAMILIES["intervals"], 40, 10, lambda _: None)
    assert worst is not None
    assert (worst.knobs["bounds"], worst.knobs["names"], worst.factor) == ("between", 64, 320)
    assert worst.knobs["kind"] != "string"


def test_a_factor_is_to_an_ordinary_message_at_least() -> None:
    costs = Cost(20, 20, 1, 0, 0), Cost(1, 1, 1, 0, 0)
    assert Worst({}, *costs, ordinary_us=0.5).factor == 20
    assert Worst({}, *costs, ordinary_us=5).factor == 4


def test_a_plain_table_that_one_engine_is_slow_on_is_no_excuse(monkeypatch: pytest.MonkeyPatch) -> None:
    def costs(contender: Contender, shapes: list[object]) -> list[Cost]:
        return [Cost(90, {"tamis": 30, "sff": 3, "counting": 9}[contender.engine], 1, 0, 0) for _ in shapes]

    monkeypatch.setattr("tamis.bench.matching.adversary.search.costs_in_turns", costs)
    chosen = Contender("tamis"), Contender("counting"), Contender("sff")
    family = FAMILIES["boxes"]
    factors = []
    for count in (1, 2, 3):
        found = Search(chosen[:count], 40, 1.0, 1).judge(family, dict(family.known[0]))
        assert found is not None
        factors.append(found.factor)
    assert factors == [3, 10, 30]


def test_shapes_that_many_filters_match_are_not_judged() -> None:
    search = Search((Contender("tamis"),), 40, 1.0, 1)
    knobs = dict(FAMILIES["values"].known[0]) | {"names": 64}
    assert search.judge(FAMILIES["values"], knobs) is not None
    everyone = knobs | {"kind": "integer", "stride": 1, "test": "in 20"}  # 40 values in lists of 20: half match
    assert search.judge(FAMILIES["values"], everyone) is None


def test_what_a_router_would_drop_says_so() -> None:
    row = {"family": "x", "knobs": {"a": 1}, "factor": 11.0, "hostile": {"steps": MATCH_STEPS + 1}}
    assert "above the bar of 10" in remark(row)
    assert "drops such a message" in remark(row)
    assert remark(row | {"factor": 9.0, "hostile": {"steps": 1}}) == "x: a 1"


def test_engines_that_disagree_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Table.measure

    def measure(self: Table, *args: Any, **options: Any) -> Measurement:
        told = honest(self, *args, **options)
        lie = self.engine == "sff"
        return Measurement(told.nanoseconds, told.total_ns, told.matched, told.checksum ^ lie)

    monkeypatch.setattr(Table, "measure", measure)
    told = run("--engine", "tamis,sff", "--family", "names")
    assert told.exit_code == 1
    assert told.stdout == ""
    assert "sff r=0 and tamis disagree on: length 24" in told.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--family", "lies"], "--family: unknown 'lies'"),
        (["--engine", "quantum"], "no engine 'quantum'"),
        (["--engine", "library:sqlite"], "only engines"),
    ],
)
def test_misuse_is_refused(options: list[str], told: str) -> None:
    answer = run(*options)
    assert answer.exit_code == 2
    assert told in answer.stderr


def test_filters_of_a_pair_that_are_alike_stand_behind_a_guard() -> None:
    """Four shared booleans and `!=` of fifty names took 3,092 steps while all of a pair were looked at."""
    knobs = {"shared by": "= boolean", "shared": 4, "values": 8, "shared sort": "last", "fails by": "!=", "tested": 50}
    shape = FAMILIES["buckets"].hostile(knobs, 10_000, random.Random(2003))
    with Table("tamis") as table:
        for interface, filter_ in enumerate(shape.filters):
            table.add(filter_, interface)
        for message in shape.messages[:3]:
            before = table.stats().steps
            assert table.match(message) == []
            assert table.stats().steps - before < 2_000
