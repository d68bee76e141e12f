"""What is tried is what a router held and was asked; every engine that a file may name takes part."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis.advice import trials
from tamis.analysis.advice.trials import Load
from tamis.analysis.advice.wording import Contender
from tamis.native import Table

pytestmark = pytest.mark.slow
FORM = json.dumps([["x", "=", 1]])


def test_each_engine_is_timed_on_the_same_load(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "PASSES", 1)
    local = [(number % 3, json.dumps([["x", "=", number]])) for number in range(40)]
    remote = [("b", json.dumps([["x", "<", number], ["y", "exists"]])) for number in range(40)]
    load = Load(local, remote, ['{"x": 7}', '{"x": 1.5, "y": "z"}', '{"y": true}'])
    engines = trials.contenders([Contender("sff", 5), Contender("plain")])
    rows = trials.tried(spark, {"a": load, "idle": Load([(0, FORM)], [], ["{}"])}, engines).collect()
    timed = [row for row in rows if row.router == "a"]
    assert {row.engine for row in timed} == set(Table.engines())
    assert {row.rounds for row in timed if row.engine == "sff"} == {*trials.ROUNDS, 5}
    assert all(row.match_ns > 0 and (row.filters, row.remote_filters, row.messages) == (40, 40, 3) for row in timed)
    assert [(row.engine, row.match_ns) for row in rows if row.router == "idle"] == [(None, None)]


def test_what_a_router_held_when_half_of_its_messages_had_come(spark: SparkSession) -> None:
    routers = spark.createDataFrame([("a", 50)], "router string, at_us long")
    filters = spark.createDataFrame([(0, FORM)], "filter int, form string")
    in_force = spark.createDataFrame(
        [("a", 1, 0, 0, 60), ("a", 2, 0, 0, 40), ("b", 3, 0, 10, 99), ("b", 4, 0, 51, 99)],
        "router string, connection long, filter int, since_us long, until_us long",
    )
    seen = spark.createDataFrame([("a", "{}")], "router string, attributes string")
    held = trials.held(in_force, filters, routers)
    assert trials.loads(seen, held) == {"a": Load([(1, FORM)], [("b", FORM)], ["{}"])}
