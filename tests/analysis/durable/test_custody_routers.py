"""The audit of real routers' records: a home is killed for a while, one entry gives up what exceeds its bound, and the
verdicts are what clients got and were told."""

from __future__ import annotations

import asyncio
import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis import GapReason
from tamis.testing import RouterNetwork, line, running
from tests.analysis.durable.test_custody import audited, faults, verdicts
from tests.router.durable.test_chains import publish
from tests.router.durable.test_homes import DURABLE_KEYS, PATIENCE_S, create
from tests.router.durable.test_recorded import WRITTEN_S
from tests.router.durable.test_told import arrived, consumed, split
from tests.schema_of_records import check_record

pytestmark = pytest.mark.slow
LARGE = b"x" * 10_000


async def act(network: RouterNetwork) -> tuple[list[object], int]:
    """Publish at a and b for c, which is away for a while; return what its consumer got, and how many were given up."""
    await network.until_linked()
    await network.until_at_rest(0.5, PATIENCE_S)
    await create(network, "c", "orders")
    await network.until_at_rest(1.0, PATIENCE_S)
    await publish(network, "a", range(10))
    await publish(network, "b", range(10, 20))
    await arrived(network, "c", 20)
    await asyncio.sleep(WRITTEN_S)
    await network["c"].kill()
    await publish(network, "a", range(20, 320), LARGE)
    await publish(network, "b", range(320, 340), LARGE)
    while not any(each["given_up"] for each in (await network["a"].ask("/status"))["durable"]["behind"]):
        await asyncio.sleep(0.1)
    await network["c"].start()
    await network.until_linked()
    found: list[object] = []
    for at, last in (("b", 340), ("a", 341)):  # the last of each chain
        await publish(network, at, range(last, last + 1))
        found += await consumed(network, "c", last)
    numbers, gaps = split(found)
    assert {gap.reason for gap in gaps} == {GapReason.CUSTODY_FULL}
    return numbers, sum(gap.count or 0 for gap in gaps)


def checked(folder: Path) -> set[str]:
    """Return what the records of stored messages are about, all of which are as their table has them."""
    found = set()
    for path in folder.glob("*/messages-*.jsonl*"):
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for record in map(json.loads, text.splitlines()):
            check_record(record, "messages")
            found |= {record["what"]} if record["kind"] == "kept" else set()
    return found


async def test_the_audit_says_what_was_given_up_and_what_came(spark: SparkSession, tmp_path: Path) -> None:
    small = DURABLE_KEYS | {"custody": {"bytes": 1 << 20}}
    records = {"folder": str(tmp_path / "records"), "messages": "all"}
    plan = line("a", "b", "c", durable=DURABLE_KEYS, records=records)
    async with running(tmp_path, replace(plan, keys_of={"a": {"durable": small}})) as network:
        numbers, given_up = await act(network)
        for name in ("c", "b", "a"):
            assert await network[name].leave() == 0
    assert checked(tmp_path / "records") == {"entered", "given_up", "missed", "kept", "given", "acked"}
    tables = audited(spark, tmp_path / "records", tmp_path / "answers")
    assert given_up > 0
    assert verdicts(tables) == {
        ("a", "c"): {"stored": len(numbers) - 31, "given up": given_up},
        ("b", "c"): {"stored": 31},
    }
    assert len(numbers) + given_up == 342
    assert not faults(tables)
