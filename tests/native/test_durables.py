"""A durable subscription in C, step by step."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tamis.client.durable.policy import durable_of
from tamis.native.log import DEAD_LETTER
from tamis.protocol.wire.client_bodies import AckVerdict
from tamis.protocol.wire.codes import LossReason
from tamis.protocol.wire.durable_bodies import DurablePolicy
from tests.native.slow_router import Reader, SlowRouter

DURABLE, DEAD = 1, 2
ALL = durable_of("all", "true").policy
DEAD_LETTER_HEAD = struct.Struct("<40xII")
"""The head of its record: the number of deliveries, and the size of the reason that follows."""
NOTHING = durable_of("nothing", "none = 1").policy


@pytest.fixture(name="made")
def _made(tmp_path: Path) -> Iterator[Callable[[dict[int, DurablePolicy]], SlowRouter]]:
    routers: list[SlowRouter] = []

    def make(durables: dict[int, DurablePolicy]) -> SlowRouter:
        routers.append(SlowRouter(tmp_path / "log", durables=durables))
        return routers[-1]

    yield make
    for each in routers:
        each.close()


def counters(reader: Reader) -> list[int]:
    """Return what it got since it was asked last."""
    got = [message.counter for message in reader.got]
    reader.got.clear()
    return got


def after(router: SlowRouter, ms: int) -> None:
    router.switch.advance(ms)
    router.turn()


def test_the_consumer_with_the_most_free_credit_gets_the_next_message(made) -> None:
    router = made({DURABLE: ALL})
    publisher, one, two = router.publisher(1), router.reader(7, DURABLE, credit=2), router.reader(8, DURABLE, credit=5)
    for counter in (1, 2, 3):
        publisher.publish()
        router.commit()
        assert (counters(one), counters(two)) == ([], [counter])
    for _ in range(5):
        publisher.publish()
        router.commit()
    assert len(counters(one)) == len(counters(two)) == 2
    assert router.durables.figures(DURABLE).delivered == 7


def test_a_message_comes_again_after_each_pause_and_dies_with_reason_and_count(made) -> None:
    policy = replace(ALL, ack_wait_ms=10_000, backoff_ms=(1_000, 50_000), deliveries_max=3)
    router = made({DURABLE: policy, DEAD: NOTHING})
    router.durables.dead_letter(DURABLE, DEAD)
    reader = router.reader(7, DURABLE)
    router.publisher(1).publish()
    router.commit()
    came = [counters(reader)]
    for ms in (10_000, 900, 100, 10_000, 49_000, 1_000, 10_000):
        after(router, ms)
        came.append(counters(reader))
    assert came == [[1], [], [], [1], [], [], [1], []]
    router.commit()
    [dead_letter] = [record for record in router.log.read(DEAD) if record.kind == DEAD_LETTER]
    deliveries, size = DEAD_LETTER_HEAD.unpack_from(dead_letter.body)
    assert (deliveries, dead_letter.body[DEAD_LETTER_HEAD.size :][:size]) == (3, b"delivery limit reached")
    assert counters(router.reader(8, DEAD)) == [1]


def test_without_a_dead_letter_place_a_rejected_message_is_a_loss_that_is_told(made) -> None:
    router = made({DURABLE: ALL})
    reader = router.reader(7, DURABLE)
    router.publisher(1).publish()
    router.commit()
    reader.acknowledge(AckVerdict.REJECT)
    assert reader.lost == {}, "it is not on disk"
    router.commit()
    assert reader.lost == {LossReason.UNDELIVERABLE: 1}
    router.restart()
    assert router.reader(8, DURABLE).lost == {LossReason.UNDELIVERABLE: 1}


def test_what_is_past_the_bounds_is_told_and_the_newest_stay(made) -> None:
    router = made({DURABLE: replace(ALL, count=2)})
    publisher = router.publisher(1)
    for _ in range(4):
        publisher.publish()
    router.commit()
    reader = router.reader(7, DURABLE)
    assert (counters(reader), reader.lost) == ([3, 4], {LossReason.LOG_FULL: 2})


def test_the_last_value_is_replayed_to_who_asks(made) -> None:
    router = made({DURABLE: replace(ALL, latest_by="kind")})
    publisher, first = router.publisher(1), router.reader(7, DURABLE)
    for kind in ("a", "b", "a"):
        publisher.publish(kind)
        router.commit()
        first.acknowledge()
        router.commit()
    assert counters(router.reader(8, DURABLE, latest=True)) == [2, 3]
    assert counters(router.reader(9, DURABLE)) == []


def test_a_position_that_an_application_stored_passes_over_what_was_before(made) -> None:
    router = made({DURABLE: ALL})
    publisher, first = router.publisher(1), router.reader(7, DURABLE)
    for _ in range(3):
        publisher.publish()
    router.commit()
    router.switch.end(first.connection, now=True)
    router.turn()
    assert counters(router.reader(8, DURABLE, after=first.positions[1])) == [3]


def test_who_leaves_gives_back_at_once_and_no_message_dies_of_it(made) -> None:
    router = made({DURABLE: replace(ALL, deliveries_max=1)})
    router.publisher(1).publish()
    router.commit()
    first = router.reader(7, DURABLE)
    assert counters(first) == [1]
    assert router.durables.cancel(first.connection, 1)
    second = router.reader(8, DURABLE)
    assert (counters(second), second.lost) == ([1], {})
