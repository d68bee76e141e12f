"""Every kind of subscription by every verdict: what is planted in the records of real routers is what the audit finds.

Law: one network is recorded, in which each kind of subscriber gets a message for each verdict; then the records are
edited, message by message, as if a router had done something else with it.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections import defaultdict
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

import tamis
from tamis.analysis.questions import delivery
from tamis.analysis.questions.standing import OTHERWISE, REASONS, SUBSCRIPTION
from tamis.analysis.questions.verdict_counts import VERDICTS
from tamis.analysis.records import logs
from tamis.analysis.study import Findings
from tamis.testing import NetworkPlan, running

pytestmark = pytest.mark.slow
Record = dict[str, Any]
KINDS = ("plain", "group", "space", "respond", "traced", "program")
REST_S = 1.5
PATIENCE_S = 20.0
SETTLE_US = 600_000
NOTICE_US = 100_000
STRANGER = 999
SPARE = 90
"""Numbers from here on are of messages that are kept and no more."""
DENIED = 50
"""The number of a message that the filter of a subscription matches, and its program denies."""
SPACES = {"trades": {"attributes": {"n": {"integer": [0, 1_000]}}}}
KEYS = {"spaces": SPACES, "kept": {"bytes": 268_435_456, "segment_bytes": 1_048_576}, "records": {"messages": "all"}}


@dataclass(frozen=True)
class Found:
    verdicts: dict[tuple[str, int], list[tuple[str, str | None, str | None]]]
    """(verdict, group, reason) by kind and number of the message."""
    kept: dict[int, set[str]]
    """Fates and faults of the subscription's messages, by number."""


# ---- what happens ----


async def happen(folder: Path) -> None:
    keys = KEYS | {"records": {"folder": str(folder / "records"), "messages": "all"}}
    async with running(folder, NetworkPlan(("a", "b"), (("a", "b", 1),), keys=keys)) as network:
        await network.until_linked()
        async with AsyncExitStack() as stack:
            at = {name: router.address for name, router in network.routers.items()}
            publisher = await stack.enter_async_context(tamis.connect(at["a"], name="publisher", spaces=SPACES))
            await publisher.durable("jobs", f"kind = 'keep' AND n * 2 <> {2 * DENIED}", dialect="jms")
            await network.until_at_rest(REST_S, PATIENCE_S)  # what comes next is new while no way changes
            for name, predicate, more in (
                ("plain", 'kind = "plain"', {}),
                ("one", 'kind = "group" or kind = "both"', {"group": "workers"}),
                ("other", 'kind = "group"', {"group": "workers"}),
                ("space", "trades: n >= 0", {}),
                ("traced", 'kind = "traced"', {}),
                ("program", f"kind = 'program' AND n * 2 < {2 * DENIED}", {"dialect": "jms"}),
            ):
                client = await stack.enter_async_context(tamis.connect(at["b"], name=name, spaces=SPACES))
                await client.subscribe(predicate, wait="network", **more).start()
                if name == "one":
                    await client.subscribe('kind = "both"', wait="network").start()
            answers = await stack.enter_async_context(tamis.connect(at["b"], name="respond"))
            questions = await stack.enter_async_context(answers.respond('kind = "respond"'))
            answering = asyncio.create_task(answer_all(questions))
            await asyncio.sleep(REST_S)
            for n in range(len(VERDICTS)):
                for kind in ("plain", "group", "both", "keep", "program"):
                    await publisher.publish({"kind": kind, "n": n}, confirm=True)
                await publisher.publish({"n": n}, space="trades", confirm=True)
                await publisher.request({"kind": "respond", "n": n}, timeout_s=20)
                await publisher.trace({"kind": "traced", "n": n}, timeout_s=20)
            for kind in ("program", "keep"):
                await publisher.publish({"kind": kind, "n": DENIED}, confirm=True)
            for n in (SPARE, SPARE + 1):
                await publisher.publish({"kind": "keep", "n": n}, confirm="stored")
            await asyncio.sleep(REST_S)
            answering.cancel()
        await asyncio.gather(*(router.leave() for router in network.routers.values()))


async def answer_all(questions: tamis.Responder) -> None:
    async for question in questions:
        await question.answer({})


# ---- what is planted ----


def is_missing(record: Record) -> None:
    record["to_connections"] = []


def is_twice(record: Record) -> None:
    record["to_connections"] *= 2


def is_stray(record: Record) -> None:
    record["to_connections"].append(STRANGER)


def is_dropped(record: Record) -> None:
    record |= {"to_connections": [], "dropped": [1]}


PLANTS: dict[str, Callable[[Record], None]] = {
    "missing": is_missing,
    "duplicate": is_twice,
    "stray": is_stray,
    "dropped": is_dropped,
    "undecided": is_missing,
}


def planted(folder: Path) -> dict[tuple[str, int], tuple[str, int]]:
    """Edit the records, unpacked; return (kind, number) by the id of each message."""
    files = {}
    for path in folder.glob("*/*.jsonl.gz"):
        files[path.with_suffix("")] = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
        path.unlink()
    records = [record for each in files.values() for record in each]
    ids: dict[tuple[str, int], tuple[str, int]] = {}
    for record in records:
        if record["kind"] == "message" and "attributes" in record:
            attributes = json.loads(record["attributes"])
            if "n" in attributes:  # an answer has none
                ids[record["origin"], record["number"]] = attributes.get("kind", "space"), attributes["n"]
    plant(records, ids)
    plant_stored(records, {key: id_ for id_, key in ids.items()})
    for path, each in files.items():
        path.write_text("".join(json.dumps(record) + "\n" for record in each))
    return ids


def plant(records: list[Record], ids: dict[tuple[str, int], tuple[str, int]]) -> None:
    """Edit what became of messages at the router of their receivers, `b`; what is to be undecided came to `a` when the
    subscription was new."""
    asked = {r["client"]: r for r in records if r["kind"] == "subscription" and r["what"] == "added"}
    members = [asked[name]["connection"] for name in ("one", "other")]
    for record in records:
        kind, n = ids.get((record.get("origin", ""), record.get("number", 0)), ("", SPARE))
        if record["kind"] != "message" or kind not in KINDS or n >= len(VERDICTS):
            continue
        verdict = VERDICTS[n]
        if record["router"] == "a" and verdict == "undecided":
            record["t_us"] = asked["other" if kind == "group" else kind]["t_us"] + 1_000
        elif record["router"] == "b" and kind == "group" and verdict == "duplicate":
            record["to_connections"] = members
        elif record["router"] == "b" and verdict in PLANTS:
            PLANTS[verdict](record)


def plant_stored(records: list[Record], ids: dict[tuple[str, int], tuple[str, int]]) -> None:
    """One is not stored, one is stored twice, and one that does not match is stored."""
    kept = {(r["origin"], r["number"]): r for r in records if r["kind"] == "kept" and r["what"] == "kept"}
    for spare, (kind, n) in ((SPARE, ("keep", 2)), (SPARE + 1, ("plain", 0))):
        record = kept[ids["keep", spare]]
        record["origin"], record["number"] = ids[kind, n]
    missed = kept[ids["keep", 1]]
    missed["origin"], missed["number"] = "00000000000000ff", 1


# ---- what is found ----


@pytest.fixture(scope="module", name="found")
def _found(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Found:
    folder = tmp_path_factory.mktemp("every")
    asyncio.run(happen(folder))
    ids = planted(folder / "records")
    study = Findings(spark, logs.read(spark, folder / "records", folder / "store"), SETTLE_US, NOTICE_US)
    verdicts = defaultdict(list)
    for batch in study.gathered.frame.toArrow().to_batches():
        for row in delivery.verdicts(study.terms, batch).to_pylist():
            if (row["origin"], row["number"]) in ids:
                verdicts[ids[row["origin"], row["number"]]].append((row["verdict"], row["group"], row["reason"]))
    kept = defaultdict(set)
    faults = study.durable_faults(study.durable_losses.toArrow())
    for rows, column in ((study.stored_messages, "fate"), (faults, "fault")):
        for row in rows.collect():
            kind, n = ids.get((row.origin, row.number), ("", 0))
            if kind in ("keep", "plain"):
                kept[n if kind == "keep" else -1].add(row[column])
    study.close()
    return Found(dict(verdicts), dict(kept))


@pytest.mark.parametrize("verdict", VERDICTS)
@pytest.mark.parametrize("kind", KINDS)
def test_each_verdict_is_found_of_each_kind(kind: str, verdict: str, found: Found) -> None:
    told = sorted(found.verdicts[kind, VERDICTS.index(verdict)])
    reason = REASONS[SUBSCRIPTION] if verdict == "undecided" else None
    is_of_group = kind == "group" and verdict not in ("delivered", "stray")
    expected = [(verdict, "workers" if is_of_group else None, reason)]
    if verdict == "stray" or (kind == "group" and verdict == "duplicate"):
        expected += [("delivered", None, None)] * (2 if kind == "group" and verdict == "duplicate" else 1)
    assert told == sorted(expected)


def test_what_a_program_denies_is_not_missing(found: Found) -> None:
    assert ("program", DENIED) not in found.verdicts
    assert DENIED not in found.kept


@pytest.mark.parametrize("verdict", VERDICTS)
def test_nothing_is_found_where_a_member_asks_for_itself_too(verdict: str, found: Found) -> None:
    told = sorted(found.verdicts["both", VERDICTS.index(verdict)])
    assert told == [("delivered", None, None), ("undecided", "workers", OTHERWISE)]


@pytest.mark.parametrize(
    ("verdict", "of_durable"),
    [("delivered", {"waiting"}), ("missing", {"missing"}), ("duplicate", {"waiting", "twice"})],
)
def test_what_a_durable_has_is_judged_by_the_durable(verdict: str, of_durable: set[str], found: Found) -> None:
    n = VERDICTS.index(verdict)
    assert found.kept[n] == of_durable
    assert ("keep", n) not in found.verdicts, "no client was to receive it"


def test_what_a_durable_does_not_want_is_a_stray_there(found: Found) -> None:
    assert "stray" in found.kept[-1]
