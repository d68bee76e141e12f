"""What the rules look at, from small tables of records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import DataFrame, SparkSession

from tamis.analysis.advice import evidence
from tamis.analysis.records import schemas

pytestmark = pytest.mark.slow
Record = Mapping[str, Any]


def _records(spark: SparkSession, kind: str, records: Iterable[Record]) -> DataFrame:
    schema = schemas.of_kind(kind)
    heads = {"v": 1, "kind": kind, "t_us": 0, "router": "a", "epoch": 1}
    rows = [heads | {"n": n} | dict(record) for n, record in enumerate(records)]
    return spark.createDataFrame([tuple(row.get(name) for name in schema.names) for row in rows], schema)


def test_an_overflow_lasts_until_the_queue_is_empty(spark: SparkSession) -> None:
    def second(lost: int, queued: int, interface: int = 1) -> Record:
        dropped = {"queue_full": lost, "closed": 99}
        sizes = {"messages_out": 10, "bytes_out": 1_500}
        return {"interface": interface, "client": f"c{interface}", "dropped": dropped, "queued_bytes": queued} | sizes

    told = [second(0, 700), second(5, 900), second(6, 0), second(4, 300), second(0, 0, interface=2)]
    interface = _records(spark, "interface", told)
    (row,) = evidence.overflows(interface, _records(spark, "message", [])).collect()
    assert row.asDict() == {
        "router": "a",
        "neighbour": None,
        "client": "c1",
        "dropped": 15,
        "worst": 11,
        "message_bytes": 150.0,
    }
    seen = [{"bytes": 100, "dropped": []}, {"bytes": 900, "dropped": [1]}, {"bytes": 9_000, "router": "b"}]
    (row,) = evidence.overflows(interface, _records(spark, "message", seen)).collect()
    assert row.message_bytes == 900.0


def test_match_times_leave_out_the_slowest_hundredth(spark: SparkSession) -> None:
    looks = [{"match_ns": 100, "t_us": at} for at in range(199)]
    looks += [{"match_ns": 9_000_000}, {"match_ns": 7_777, "refused": "transit"}]
    (row,) = evidence.match_times(_records(spark, "message", looks)).collect()
    assert (row.router, row.messages, row.match_ns) == ("a", 200, 100.0)
    assert 90 <= row.at_us <= 110


def test_reach_counts_frames_and_who_delivered(spark: SparkSession) -> None:
    def visit(router: str, hop: int, matched: int, **more: object) -> Record:
        return {"router": router, "source": "a", "source_epoch": 1, "transit": 7, "hop": hop, "matched": matched} | more

    visits = [visit("a", 0, 0), visit("b", 1, 2), visit("c", 2, 1), visit("d", 2, 0)]
    visits += [visit("c", 2, 0, refused="transit"), visit("b", 1, 1, transit=8)]
    rows = evidence.reach(_records(spark, "message", visits)).collect()
    assert [tuple(row) for row in rows] == [("a", ["b"], 1, 1), ("a", ["b", "c"], 1, 3)]


def test_totals_are_of_clients_and_of_what_is_said_about_filters(spark: SparkSession) -> None:
    interface = _records(spark, "interface", [{"messages_in": 7, "client": "c"}, {"messages_in": 90, "neighbour": "b"}])
    control = _records(
        spark,
        "control",
        [{"way": way, "what": what, "bytes": 10} for way in ("in", "out") for what in ("RA", "UR", "EA", "LSA")],
    )
    messages = _records(
        spark,
        "message",
        [{"hop": 0, "bytes": 9}, {"hop": 1, "bytes": 100, "match_ns": 300}, {"hop": 2, "bytes": 200}],
    )
    link = _records(spark, "link", [{"what": what} for what in ("up", "down", "down")])
    (row,) = evidence.totals(interface, control, messages, link).collect()
    assert tuple(row) == (7, 30, 150.0, 300.0, 2)


def test_what_a_name_excludes_and_what_keys_are_carried(spark: SparkSession) -> None:
    attributes = spark.createDataFrame([("x", 0.25), ("y", 1.0)], "name string, share double")
    constraints = spark.createDataFrame(
        [("x", "=", 5), ("y", "<", 10), ("z", "=", 2), ("x", "not =", 3)], "name string, operator string, filters long"
    )
    rows = evidence.exclusions(attributes, constraints, spark.range(10)).collect()
    assert [tuple(row) for row in rows] == [("x", 0.25, 0.5, 0.375), ("z", 0.0, 0.2, 0.2), ("y", 1.0, 1.0, 0.0)]
    published = spark.createDataFrame(
        [(list(range(size)),) for size in (0, 10, 30, 50)] + [(None,)], "filters array<int>"
    )
    first, second, *_ = evidence.keys(published).collect()
    assert tuple(first) == (10, 0.5, 7.5)
    assert tuple(second) == (20, 0.5, 12.5)
    assert evidence.keys(published.where("false")).collect() == []
