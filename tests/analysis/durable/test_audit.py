"""The audit of a real router's records: under kills, late, doubled and missing acknowledgements, dead letters, expiry
and drops it finds no fault and counts what the clients counted; and each fault planted in the records is found.

Law: what clients published, got and acknowledged is counted here, by no record.
"""

from __future__ import annotations

import gzip
import json
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis import Gap
from tamis.analysis.job import Job, analyze
from tamis.analysis.page import report
from tamis.analysis.records import logs
from tamis.analysis.study import Findings
from tamis.testing.blocking import BlockingRouter
from tests.router.durable.test_kill import PATIENCE_S, client, publish, received, restarted
from tests.router.durable.test_recorded import WRITTEN_S, recording

pytestmark = pytest.mark.long
Record = dict[str, Any]
SETTLE_US = 400_000
"""So long before a kill nothing is certain; the router here writes within that, and syncs within milliseconds."""
COUNT = 40


def consumed(one: BlockingRouter, counts: Counter[str]) -> None:
    """Some messages acknowledged at once, late, in bulk, twice, never; one rejected; one that comes again."""
    with client(one, "consumer") as consumer, consumer.consume("jobs", credit=COUNT, dedup=0) as work:
        messages = [received(work) for _ in range(COUNT)]
        counts["given"] += COUNT
        messages[0].nack(delay_s=0.05)
        again = received(work)
        assert (again.position, again.deliveries) == (messages[0].position, 2)
        counts["given"] += 1
        again.ack()
        messages[1].ack()
        messages[1].ack()
        messages[2].reject("nobody can read it")
        time.sleep(0.2)
        for message in messages[3 : COUNT // 2]:
            message.ack(confirm=message is messages[COUNT // 2 - 1])
        counts["acked"] += COUNT // 2 - 1
        counts["dead"] += 1


def killed(one: BlockingRouter) -> None:
    """Restart a router some time after everything else; its last records are of somebody who looked in then."""
    time.sleep(WRITTEN_S)
    with client(one, "visitor"):
        time.sleep(2 * WRITTEN_S)
    restarted(one)


def acted(one: BlockingRouter) -> Counter[str]:
    """Cause every kind of event; return what the clients counted of `jobs`, and losses by subscription."""
    counts: Counter[str] = Counter()
    with client(one, "owner") as owner:
        owner.durable("dead", "n < 0")
        owner.durable("jobs", "n >= 0", dead_letter="dead")
        owner.durable("few", "n >= 0", count=5)
        owner.durable("brief", "n >= 0", for_=1)
        owner.durable("odd", "n >= 1000")
    time.sleep(WRITTEN_S)  # this long after the subscriptions were created and before a kill, messages are surely due
    publish(one, range(COUNT))
    time.sleep(WRITTEN_S)
    consumed(one, counts)
    killed(one)
    with client(one, "consumer") as consumer, consumer.consume("jobs", dedup=0) as work:
        for _ in range(COUNT // 2):
            received(work).ack(confirm=True)
            counts["given"] += 1
            counts["acked"] += 1
    with client(one, "late") as late:
        for name in ("few", "brief"):
            with late.consume(name) as work:
                gap = work.receive(PATIENCE_S)
                assert isinstance(gap, Gap)
                time.sleep(WRITTEN_S)
                counts[name] = gap.in_all or 0
    publish(one, range(COUNT, COUNT + 3))
    killed(one)
    with client(one, "consumer") as consumer, consumer.consume("jobs", dedup=0) as work:
        received(work).ack(confirm=True)
        counts["acked"] += 1
    time.sleep(WRITTEN_S)
    return counts


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Counter[str]]:
    folder = tmp_path_factory.mktemp("kept")
    with recording(folder, "all") as one:
        counts = acted(one)
    return folder / "records", counts


def test_there_is_no_fault_and_what_is_counted_is_what_clients_counted(
    spark: SparkSession, recorded: tuple[Path, Counter[str]], tmp_path: Path
) -> None:
    folder, counts = recorded
    analyze(spark, folder, Job(tmp_path, ("durable",), settle_us=SETTLE_US))
    tables = report.read(tmp_path)
    assert not tables["durable/faults"]
    fates = {(row["name"], row["fate"]): row["messages"] for row in tables["durable/fates"]}
    assert fates["jobs", "acked"] == counts["acked"]
    assert fates["jobs", "dead"] == counts["dead"] == fates["dead", "waiting"]
    assert fates["jobs", "waiting"] == 2
    assert fates["few", "dropped"] >= counts["few"] == COUNT - 5
    assert fates["brief", "expired"] >= counts["brief"] == COUNT
    assert not [fate for fate in fates if fate[0] == "odd"]
    [jobs] = [row for row in tables["durable/subscriptions"] if row["name"] == "jobs"]
    assert jobs["recorded"] == COUNT + 3
    assert jobs["given"] >= counts["given"]
    assert jobs["lag_p50_us"] < jobs["lag_p99_us"]
    assert jobs["depth_max"] <= COUNT
    page = (tmp_path / "report.html").read_text()
    assert "messages of 5 durable subscriptions" in page


def planted(source: Path, into: Path, edit: Callable[[list[Record]], list[Record]]) -> Path:
    """Records of which `edit` has changed those of messages, a life at a time; they are numbered again, as by a router
    that did so."""
    shutil.copytree(source, into)
    for packed in into.rglob("*.gz"):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
    lives: dict[str, list[Record]] = {}
    for path in sorted(into.rglob("messages-*.jsonl")):
        lives.setdefault(path.name.split("-")[1], []).extend(map(json.loads, path.read_text().splitlines()))
        path.unlink()
    folder = next(path for path in into.iterdir() if path.is_dir())
    for epoch, records in lives.items():
        edited = edit(sorted(records, key=lambda record: record["n"]))
        lines = (json.dumps(record | {"n": n}) + "\n" for n, record in enumerate(edited))
        (folder / f"messages-{epoch}-000000.jsonl").write_text("".join(lines))
    return into


def test_each_planted_fault_is_found(spark: SparkSession, recorded: tuple[Path, Counter[str]], tmp_path: Path) -> None:
    source, _ = recorded
    acked = [record["position"] for record in of_durable(source, 2) if record["what"] == "acked"]
    unhanded, double, strange, lost, wrong = acked[3:8]
    dropped = [record["position"] for record in of_durable(source, 3) if record["what"] == "dropped"]
    late = next(record for record in of_durable(source, 2) if record["what"] == "given")
    brief = [record for record in of_durable(source, 4) if record["what"] == "kept"]
    before, behind, one, other = (record["position"] for record in brief[10:14])
    wrong_number = number_of(source, wrong)
    edits: dict[tuple[str, int, int], Callable[[Record], list[Record]]] = {
        **{(what, 2, lost): lambda _: [] for what in ("kept", "given", "acked")},
        ("given", 2, unhanded): lambda _: [],
        ("acked", 2, double): lambda record: [record, record],
        ("given", 2, strange): lambda record: [record | {"connection": 4_711}],
        ("dropped", 3, dropped[0]): lambda record: [record | {"total": 9_999}],
        ("kept", 4, before): lambda record: [record | {"position": behind}],
        ("kept", 4, behind): lambda record: [record | {"position": before}],
        ("kept", 4, other): lambda record: [record | {"number": number_of(source, one)}],
        ("acked", 2, late["position"]): lambda record: [record, late | {"t_us": record["t_us"] + 1, "deliveries": 9}],
    }

    def edit(records: list[Record]) -> list[Record]:
        found = []
        for record in records:
            place = str(record.get("what")), record.get("keep", 0), record.get("position", 0)
            if (record["kind"], record.get("number")) == ("message", wrong_number) and "attributes" in record:
                record["attributes"] = '{"n":-5}'
            found += edits[place](record) if place in edits else [record]
        return found

    folder = planted(source, tmp_path / "logs", edit)
    study = Findings(spark, logs.read(spark, folder, tmp_path / "store"), settle_us=SETTLE_US)
    faults = study.durable_faults(study.durable_losses.toArrow()).collect()
    found = {(row.fault, row.durable, row.position) for row in faults}
    study.close()
    others = {(fault, durable, position) for fault, durable, position in found if fault not in ("missing", "untold")}
    strays = {("stray", durable, wrong) for durable in (2, 3, 4)}
    assert others == strays | {
        *(("stranger", 2, unhanded), ("stranger", 2, strange), ("left twice", 2, double)),
        ("late", 2, late["position"]),
        *(("order", 4, before), ("twice", 4, other)),
    }
    assert {durable for fault, durable, _ in found if fault == "missing"} == {1, 2, 4}  # 1: that to n < 0
    assert [durable for fault, durable, _ in found if fault == "untold"] == [3]


def of_durable(folder: Path, durable: int) -> list[Record]:
    """The records of stored messages of a subscription in its first life, in order."""
    packed = sorted(folder.rglob("messages-*"))
    first = min(path.name.split("-")[1] for path in packed)
    texts = (
        gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
        for path in packed
        if path.name.split("-")[1] == first
    )
    records = [json.loads(line) for text in texts for line in text.splitlines()]
    return [record for record in records if record.get("keep") == durable and "position" in record]


def number_of(folder: Path, position: int) -> int:
    """The second half of the id of a kept message."""
    return next(each["number"] for each in of_durable(folder, 2) if each["position"] == position and "number" in each)
