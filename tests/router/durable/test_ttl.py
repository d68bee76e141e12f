"""Messages with a time to live, from both clients: kept until then, and told as lost after it, over a kill."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

import tamis
from tamis import Gap, GapReason, Refused
from tamis.blocking import Consumer
from tests.router.durable.test_kill import PATIENCE_S, client, restarted, router

pytestmark = pytest.mark.slow
SHORT_S, LONG_S = 1.0, 3_600


def taken(work: Consumer, lost: int, messages: int) -> list[object]:
    """Receive until so many are told as lost, which waits for the disk, and so many came; return their numbers."""
    numbers: list[object] = []
    while lost > 0 or len(numbers) < messages:
        item = work.receive(PATIENCE_S)
        if isinstance(item, Gap):
            assert item.reason is GapReason.EXPIRED
            assert item.count
            lost -= item.count
        else:
            numbers.append(item["n"])
    assert lost == 0
    return numbers


@pytest.mark.parametrize("is_killed", [False, True], ids=["running", "killed"])
def test_what_has_run_out_is_a_gap_and_the_rest_comes(tmp_path: Path, is_killed: bool) -> None:
    with router(tmp_path) as one:
        with client(one, "publisher") as publisher:
            publisher.durable("numbers", "n >= 0")
            publisher.publish({"n": 0}, confirm="stored", ttl_s=SHORT_S)
            publisher.publish({"n": 1}, confirm="stored", ttl_s=LONG_S)
            publisher.publish_many([{"n": 2}, {"n": 3}], confirm="stored", ttl_s=SHORT_S)
            publisher.publish({"n": 4}, confirm="stored")
        time.sleep(SHORT_S)
        if is_killed:
            restarted(one)
        with client(one, "consumer") as consumer, consumer.consume("numbers") as work:
            assert taken(work, lost=3, messages=2) == [1, 4]


async def test_the_client_for_asyncio_says_it_too(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        async with tamis.connect(one.address, name="publisher", patience_s=PATIENCE_S) as publisher:
            await publisher.durable("numbers", "n >= 0")
            await publisher.publish({"n": 0}, ttl_s="500ms")
            await publisher.publish_many([{"n": 1}, {"n": 2}], confirm="stored", ttl_s="1h")
            await asyncio.sleep(0.5)
        with client(one, "consumer") as consumer, consumer.consume("numbers") as work:
            assert taken(work, lost=1, messages=2) == [1, 2]


def test_a_time_that_is_none_is_refused_and_nothing_is_sent(tmp_path: Path) -> None:
    with router(tmp_path) as one, client(one, "publisher") as publisher:
        for wrong in (0, -1, "soon", "200y", True):
            with pytest.raises(Refused, match="ttl_s is"):
                publisher.publish({"n": 0}, ttl_s=wrong)
        assert publisher.publish({"n": 1}).counter == publisher.publish({"n": 2}).counter - 1
