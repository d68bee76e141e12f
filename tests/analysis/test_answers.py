"""Every figure of a report against the simulator's own account of the same run."""

from __future__ import annotations

import html
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis import report
from tamis.analysis.answers import QUESTIONS
from tamis.analysis.job import REPORT, Job, analyze
from tests.analysis.conftest import NOTICE_US, Simulated

pytestmark = pytest.mark.long
Tables = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def out(spark: SparkSession, simulated: Simulated, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("answers")
    analyze(spark, simulated.folder, Job(out, notice_us=NOTICE_US))
    return out


@pytest.fixture(scope="module")
def tables(out: Path) -> Tables:
    return report.read(out)


def test_every_table_is_there(tables: Tables) -> None:
    assert set(tables) == {f"{question}/{table}" for question, answers in QUESTIONS.items() for table in answers}


def test_messages_and_deliveries_are_those_of_the_account(tables: Tables, simulated: Simulated) -> None:
    truth = simulated.truth
    verdicts = Counter({row["verdict"]: 0 for row in tables["delivery/counts"]})
    for row in tables["delivery/counts"]:
        verdicts[row["verdict"]] += row["deliveries"]
    assert verdicts["delivered"] == len(truth["delivered"]) == simulated.outcome.counts["delivered"]
    assert {"missing", "duplicate", "stray"}.isdisjoint(verdicts)
    (densities,) = tables["content/densities"]
    assert densities["published"] == len({tuple(each) for each in truth["published"]}) == truth["counts"]["messages"]
    sources = tables["traffic/by_source"]
    assert sum(row["published"] for row in sources) == len(truth["published"])
    assert sum(row["deliveries"] for row in sources) == len(truth["delivered"])
    assert sum(row["published"] + row["hops"] for row in sources) == truth["counts"]["hops"]


def test_most_of_what_must_arrive_at_rest_is_due(tables: Tables, simulated: Simulated) -> None:
    """Not what is said within the time that a dead link may go unnoticed before the next change."""
    due = sum(row["due"] for row in tables["delivery/counts"])
    assert due > simulated.outcome.counts["required at rest"] / 2


def test_frames_of_the_control_plane(tables: Tables, simulated: Simulated) -> None:
    words = {"LSA": ("link states",), "RA": ("advertisements",), "UR": ("replies",), "HELD": ("confirmations",)}
    words["SR"] = ("requests", "digests")
    sent = Counter[str]()
    for row in tables["control/frames"]:
        if row["way"] == "out":
            sent[row["what"]] += row["frames"]
    for what, names in words.items():
        assert sent[what] == sum(simulated.outcome.counts[f"sent {name}"] for name in names)


def test_messages_by_link_but_for_the_last_second_of_the_crashed(tables: Tables, simulated: Simulated) -> None:
    counted = {f"{row['router']} {row['neighbour']}": row["messages_out"] for row in tables["traffic/by_link"]}
    truth = simulated.truth["per_link"]
    crashed = {row["router"] for row in tables["logs/lives"] if row["end"] == "broke off"}
    assert counted.keys() == truth.keys()
    for link, messages in truth.items():
        assert counted[link] <= messages
        assert counted[link] == messages or link.split()[0] in crashed


def test_frames_in_vain_and_refusals(tables: Tables, simulated: Simulated) -> None:
    records = [record for record in simulated.records("message") if "refused" not in record and record["hop"]]
    vain = [record for record in records if not record["matched"] and not record["to_neighbours"]]
    assert sum(row["frames"] for row in tables["delivery/in_vain"]) == len(records)
    assert sum(row["in_vain"] for row in tables["delivery/in_vain"]) == len(vain)


def test_latency_is_that_of_the_links(tables: Tables, simulated: Simulated) -> None:
    """The clocks of the simulated routers go wrong by up to 40 ms; the links take a constant time each."""
    for row in tables["latency/by_link"]:
        assert row["p50_us"] == row["p90_us"]
        assert 0 < row["p50_us"] < 41_000
    crossed = [record for record in simulated.records("message") if "refused" not in record and record["hop"]]
    assert sum(row["messages"] for row in tables["latency/by_length"]) == len(crossed)
    lengths = Counter(record["hop"] for record in crossed)
    assert {row["hop"]: row["messages"] for row in tables["latency/by_length"]} == lengths


def test_content_is_what_was_said(tables: Tables, simulated: Simulated) -> None:
    said = {
        (record["origin"], record["number"]): json.loads(record["attributes"])
        for record in simulated.records("message")
        if "attributes" in record
    }
    names = Counter(name for attributes in said.values() for name in attributes)
    assert {row["name"]: row["messages"] for row in tables["content/attributes"]} == names
    levels = {row["value"]: row["messages"] for row in tables["content/values"] if row["name"] == "level"}
    assert levels == Counter(str(attributes["level"]) for attributes in said.values())
    everything = next(row for row in tables["content/filters"] if row["form"] == "[]")
    assert everything["matches"] == len(said)


def test_the_report_is_one_page_that_loads_nothing(out: Path, simulated: Simulated) -> None:
    page = (out / REPORT).read_text()
    assert "src=" not in page
    assert "http" not in page.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert page.count("<svg") >= 4
    delivered = simulated.outcome.counts["delivered"]
    assert f"{delivered:,} are right; 0 missing, 0 duplicate, 0 stray." in html.unescape(page)
    assert "broke off without a last word" in page
