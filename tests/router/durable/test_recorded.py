"""What routers write of keeps and of what becomes of their messages, over a kill and in the order in which it was."""

from __future__ import annotations

import contextlib
import gzip
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tamis import Gap
from tamis.protocol.messages import MessageId
from tamis.protocol.sampling import is_sampled, threshold_of
from tamis.testing import blocking, free_port
from tamis.testing.blocking import BlockingRouter
from tests.router.durable.test_kill import client, received, restarted
from tests.schema_of_records import check_record

pytestmark = pytest.mark.slow
Record = dict[str, Any]
PATIENCE_S = 20.0
WRITTEN_S = 1.0
"""What happened is written within that."""


@contextlib.contextmanager
def recording(folder: Path, messages: str) -> Iterator[BlockingRouter]:
    file = folder / "one.yaml"
    kept = "durable: {bytes: 268435456, segment_bytes: 1048576}"
    records = f"records: {{folder: records, messages: {messages}}}"
    file.write_text(f'{kept}\n{records}\nrouters: {{a: {{clients: "127.0.0.1:{free_port()}", data: data}}}}\n')
    with blocking.started(file, "a") as one:
        yield one


def written(folder: Path, *kinds: str) -> list[Record]:
    """The records of some kinds that the routers have left in `folder`; all of them are as the table has them."""
    found = []
    for path in folder.glob("records/*/*.jsonl*"):
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for record in map(json.loads, text.splitlines()):
            check_record(record, path.name.partition("-")[0])
            found.append(record)
    found.sort(key=lambda record: (record["epoch"], record["kind"], record["n"]))
    return [record for record in found if record["kind"] in kinds]


def lives_of(records: list[Record]) -> dict[tuple[int, int], list[str]]:
    """What became of each (keep, position), in order."""
    found = defaultdict(list)
    for record in records:
        if "position" in record:
            found[record["keep"], record["position"]].append(record["what"])
    return dict(found)


def act(one: BlockingRouter) -> None:
    """Six messages: two acknowledged, one rejected, one acknowledged after a kill, two left; of another keep with room
    for three the first three are dropped."""
    with client(one, "consumer") as consumer:
        consumer.durable("dead", "n < 0")
        consumer.durable("jobs", "n >= 0", dead_letter="dead")
        consumer.durable("few", "n >= 0", count=3)
        for n in range(6):
            consumer.publish({"n": n}, b"x", confirm="stored")
        with consumer.consume("jobs", credit=4) as work:
            received(work).ack()
            received(work).ack(confirm=True)
            received(work).reject("nobody can read it")
            received(work)
        with consumer.consume("few") as work:
            gap = work.receive(PATIENCE_S)
            assert isinstance(gap, Gap)
            assert gap.in_all == 3
            received(work)
        with consumer.consume("dead") as work:
            received(work)
    time.sleep(WRITTEN_S)
    restarted(one)
    with client(one, "consumer") as consumer:
        with consumer.consume("jobs", credit=1) as work:
            received(work).ack(confirm=True)
        consumer.remove_durable("few")


def test_each_message_has_a_life_in_the_records(tmp_path: Path) -> None:
    with recording(tmp_path, "all") as one:
        act(one)
    lives = lives_of(written(tmp_path, "kept"))
    dead, jobs, few = ([lives[place] for place in sorted(lives) if place[0] == durable] for durable in (1, 2, 3))
    assert dead == [["kept", "given"]]
    assert jobs[:3] == [["kept", "given", "acked"], ["kept", "given", "acked"], ["kept", "given", "dead"]]
    assert jobs[3][:3] == ["kept", "given", "given"]
    assert jobs[3][3:] == ["acked"]
    assert few == [["kept", "dropped"]] * 3 + [["kept", "given"]] * 3
    durables = [(record["what"], record["name"]) for record in written(tmp_path, "keep")]
    names = ("dead", "jobs", "few")
    attended = [(what, name) for name in ("jobs", "few", "dead") for what in ("attached", "detached")]
    assert durables[: 3 + 6] == [*(("made", name) for name in names), *attended]
    assert durables[9:] == [*(("found", name) for name in names), *attended[:2], ("forgotten", "few")]


def test_figures_are_recorded_whatever_is_sampled(tmp_path: Path) -> None:
    with recording(tmp_path, "none") as one:
        act(one)
    assert not lives_of(written(tmp_path, "kept"))
    assert [(record["lost"], record["total"]) for record in written(tmp_path, "kept")] == [("dropped", 3)]


def test_a_message_is_in_all_records_or_in_none(tmp_path: Path) -> None:
    with recording(tmp_path, "0.4") as one:
        act(one)
    named = [record for record in written(tmp_path, "kept", "message") if "origin" in record]
    sampled = threshold_of(0.4)
    assert all(is_sampled(MessageId(int(record["origin"], 16), record["number"]), sampled) for record in named)
    by_kind = {kind: {record["number"] for record in named if record["kind"] == kind} for kind in ("kept", "message")}
    assert by_kind["kept"] == by_kind["message"]


def test_a_predicate_chooses_what_is_recorded_of_durables_too(tmp_path: Path) -> None:
    with recording(tmp_path, "{where: 'n > 3'}") as one:
        act(one)
    told = [record for record in written(tmp_path, "kept") if record["what"] == "kept"]
    assert sorted(record["keep"] for record in told) == [2, 2, 3, 3]
