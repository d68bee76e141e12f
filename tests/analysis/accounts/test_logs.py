"""The state of the logs: what was read, lives, and clocks, against the simulator's account."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.answers import OPTIONAL, QUESTIONS
from tamis.protocol.records import VERSION
from tamis.simulate.oracle.paths import costs_from
from tests.analysis.accounts.told import reference_ahead_us
from tests.analysis.conftest import Simulated, Tables

pytestmark = pytest.mark.long
PROGRAM = {
    "version": "simulated",
    "sampling": "all",
    "engine": "pure",
    "broadcast": "source-trees",
}


def test_every_table_is_there(tables: Tables) -> None:
    assert {name.partition("/")[0] for name in tables} == QUESTIONS.keys() - OPTIONAL.keys()


def test_lines(tables: Tables, simulated: Simulated) -> None:
    messages = simulated.truth["messages"]
    lines = Counter[str]()
    for path in simulated.folder.glob("*/*.jsonl"):
        lines[path.name.partition("-")[0]] += len(path.read_text().splitlines())
    assert {row["family"]: row["lines"] for row in tables["logs/lines"]} == lines
    assert lines["messages"] == sum(messages["visits"].values()) + sum(messages["refused"].values())
    assert {(row["broken"], row["newer"], *row["versions"]) for row in tables["logs/lines"]} == {(0, 0, VERSION)}
    assert tables["logs/holes"] == []


def test_lives(tables: Tables, simulated: Simulated) -> None:
    changes = simulated.truth["changes"]
    last = {life["router"]: life["epoch"] for life in changes["lives"]}
    expected = []
    for life in changes["lives"]:
        ahead_us = changes["ahead_us"][life["router"]]
        is_last = life["epoch"] == last[life["router"]]
        told = {"router": life["router"], "epoch": life["epoch"], **PROGRAM}
        told["strategy"] = simulated.outcome.scenario.strategy
        told |= {"first_us": life["began_us"] + ahead_us, "last_us": life["wrote_us"] + ahead_us}
        told |= {"end": "open: still running, or not restarted" if is_last else "broke off"}
        expected.append(told | {"records": records(simulated, life["router"], life["epoch"])})
    assert sorted(map(in_order, tables["logs/lives"])) == sorted(map(in_order, expected))
    crashed = [life for life in changes["lives"] if life["ended_us"] is not None]
    assert {life["epoch"] != last[life["router"]] for life in crashed} == {True, False}, "one came back, one did not"
    assert all(life["wrote_us"] <= life["ended_us"] for life in crashed)


def test_changes_are_those_that_were_noticed(tables: Tables, simulated: Simulated) -> None:
    """A link's reason is known to its router alone."""
    told, ahead_us = simulated.truth["changes"], reference_ahead_us(simulated)
    expected = [(at_us + ahead_us, router, what, other or "") for at_us, router, what, other in told["noticed"]]
    found = [(row["at_us"], row["router"], row["what"], row["neighbour"] or "") for row in tables["logs/changes"]]
    assert sorted(found) == sorted(expected)
    assert {row["reason"] for row in tables["logs/changes"]} == {None}


def records(simulated: Simulated, router: str, epoch: int) -> int:
    paths = (simulated.folder / router).glob(f"*-{epoch}-*.jsonl")
    return sum(len(path.read_text().splitlines()) for path in paths)


def in_order(row: dict[str, Any]) -> str:
    return json.dumps(row, sort_keys=True)


def test_clocks_are_as_far_apart_as_they_are(tables: Tables, simulated: Simulated) -> None:
    """Simulated routers measure exactly (`test_clocks.py` has others); the error is what the lines between the two can
    explain."""
    ahead_us, delays_us = simulated.truth["changes"]["ahead_us"], simulated.truth["changes"]["delays_us"]
    names = sorted(ahead_us)
    graph: dict[int, dict[int, int]] = {place: {} for place in range(len(names))}
    for link, delay_us in delays_us.items():
        one, other = (names.index(name) for name in link.split())
        graph[one][other] = graph[other][one] = delay_us
    assert [row["router"] for row in sorted(tables["logs/clocks"], key=lambda row: row["router"])] == names
    assert {row["reference"] for row in tables["logs/clocks"]} == {names[0]}
    explained_us = costs_from(graph, 0)
    for row in tables["logs/clocks"]:
        true_us = ahead_us[names[0]] - ahead_us[row["router"]]
        assert (row["offset_us"], row["error_us"]) == (true_us, explained_us[names.index(row["router"])]), row
