"""Longer logs say the same as the short ones that they are made of, so many times."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis import multiply
from tamis.analysis.job import Job, analyze
from tamis.analysis.page import report
from tamis.analysis.records import logs
from tamis.simulate.run import TRUTH, Scenario, run

pytestmark = pytest.mark.long

COPIES = 30
"""Enough that most do not come within the last seconds of the logs, where nothing is due."""


def test_each_copy_is_right_and_new(spark: SparkSession, tmp_path: Path) -> None:
    small, many, out = tmp_path / "small", tmp_path / "many", tmp_path / "answers"
    many.mkdir()
    outcome = run(Scenario("ring:5", 0, "none", 1), records=small)
    truth = json.loads((small / TRUTH).read_text())["messages"]
    records = multiply.write(spark, small, many, COPIES * outcome.counts["hops"] - 3, files=2)
    analyze(spark, many, Job(out, ("traffic", "latency", "delivery")))
    tables = report.read(out)
    (messages,) = (row for row in tables["logs/lines"] if row["family"] == "messages")
    assert (messages["lines"], messages["broken"]) == (records, 0) == (COPIES * outcome.counts["hops"], 0)
    assert not tables["logs/holes"]
    assert not tables["delivery/faults"]
    assert {row["source"]: row["published"] for row in tables["traffic/by_source"]} == {
        source: COPIES * counts["published"] for source, counts in truth["sources"].items()
    }
    links = {f"{row['from_router']} {row['to_router']}": row["messages"] for row in tables["latency/by_link"]}
    assert links == {link: COPIES * count for link, count in truth["crossed"].items()}
    due = sum(row["due"] for row in tables["delivery/counts"])
    assert due > COPIES * outcome.counts["delivered"] / 3


def test_no_two_messages_are_one(spark: SparkSession, tmp_path: Path) -> None:
    small, many = tmp_path / "small", tmp_path / "many"
    many.mkdir()
    outcome = run(Scenario("line:3", 0, "none", 1), records=small)
    multiply.write(spark, small, many, COPIES * outcome.counts["hops"], files=2)
    messages = logs.read(spark, many, tmp_path / "store").messages
    entered = messages.where("hop = 0").select("origin", "number", "source_epoch", "transit", "t_us", "attributes")
    found = entered.collect()
    assert len({(row.origin, row.number) for row in found}) == len(found) == COPIES * outcome.counts["messages"]
    assert len({(row.source_epoch, row.transit) for row in found}) == len(found)
    assert {json.loads(row.attributes)[multiply.COPY] for row in found} == set(range(COPIES))
    assert len({row.t_us for row in found}) > len(found) / 2
