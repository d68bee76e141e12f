"""A keep that begins with what is in the log of its router: all of it, in order, and what is published meanwhile."""

from __future__ import annotations

import contextlib
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tamis import DurableRefused, Gap, MessageId, PublishRefused
from tamis.client.durable.policy import Start
from tamis.testing.blocking import BlockingRouter
from tests.router.durable.test_kill import PATIENCE_S, client, publish, received, router

pytestmark = pytest.mark.slow
COUNT = 300


def numbers(one: BlockingRouter, durable: str, count: int) -> list[object]:
    """Take and acknowledge `count` messages of a keep, which has no more."""
    with client(one, "consumer") as consumer, consumer.consume(durable) as work:
        found = []
        for _ in range(count):
            message = received(work)
            found.append(message["n"])
            message.ack(confirm=True)
        with contextlib.suppress(TimeoutError):
            pytest.fail(f"one more: {work.receive(0.3)}")
        return found


def make(one: BlockingRouter, name: str, start: Start, predicate: str = "n >= 0") -> None:
    with client(one, "maker") as maker:
        maker.durable(name, predicate, start=start)


def test_a_durable_begins_with_the_earliest_with_a_time_or_behind_a_message(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        make(one, "all", "new")
        with client(one, "publisher") as publisher:
            ids = [publisher.publish({"n": n}, confirm="stored") for n in range(10)]
            time.sleep(0.05)
            between = datetime.now(UTC)
            time.sleep(0.05)
            for n in range(10, 20):
                publisher.publish({"n": n}, confirm="stored")
        assert isinstance(ids[3], MessageId)
        make(one, "earliest", "earliest")
        make(one, "some", "earliest", "n > 4 and n < 9")
        make(one, "time", between)
        make(one, "after", ids[3])
        make(one, "after some", ids[3], "n in {2, 5, 7}")
        make(one, "after nobody", MessageId(1, 1))
        make(one, "later", datetime.now(UTC) + timedelta(days=1))
        publish(one, range(20, 22))
        assert numbers(one, "earliest", 22) == list(range(22))
        assert numbers(one, "some", 4) == [5, 6, 7, 8]
        assert numbers(one, "time", 12) == list(range(10, 22))
        assert numbers(one, "after", 18) == list(range(4, 22))
        assert numbers(one, "after some", 2) == [5, 7]
        assert numbers(one, "after nobody", 22) == list(range(22))
        assert numbers(one, "later", 2) == [20, 21]
        one.kill()
        one.start()
        assert numbers(one, "all", 22) == list(range(22))
        assert numbers(one, "earliest", 0) == []


def test_what_is_taken_over_is_there_after_a_kill_and_in_no_replay_twice(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        make(one, "all", "new")
        publish(one, range(10))
        make(one, "earliest", "earliest")
        one.kill()
        one.start()
        make(one, "earliest", "earliest")  # the same terms: it is there
        make(one, "again", "earliest")
        assert numbers(one, "earliest", 10) == list(range(10))
        assert numbers(one, "again", 10) == list(range(10))
        with client(one, "reader") as reader:
            assert [message["n"] for message in reader.replay("n >= 0")] == list(range(10))


def test_nothing_is_missing_and_nothing_doubled_while_publishers_go_on(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        make(one, "all", "new")
        publish(one, range(COUNT))
        stop = threading.Event()
        sent: list[int] = []

        def go_on() -> None:
            with client(one, "publisher") as publisher:
                for n in range(COUNT, 100 * COUNT):
                    publisher.publish({"n": n}, b"x" * 500, confirm="stored" if n % 50 == 0 or stop.is_set() else None)
                    sent.append(n)
                    if stop.is_set():
                        break

        thread = threading.Thread(target=go_on)
        thread.start()
        for name in ("first", "second", "third"):
            make(one, name, "earliest")
        stop.set()
        thread.join()
        for name in ("first", "second", "third"):
            with client(one, "consumer") as consumer, consumer.consume(name, dedup=0) as work:
                found = []
                while len(found) < COUNT + len(sent):
                    item = work.receive(PATIENCE_S)
                    assert not isinstance(item, Gap)
                    found.append(item["n"])
                    item.ack()
            assert found == [*range(COUNT), *sent]


def test_a_router_that_is_killed_in_between_has_no_half_of_a_durable(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        make(one, "all", "new")
        with client(one, "publisher") as publisher:
            for n in range(10_001):  # what waits for the disk stays less than the ring takes
                publisher.publish({"n": n}, b"x" * 1000, confirm="stored" if n % 1000 == 0 else None)
        asking = threading.Thread(target=make, args=(one, "earliest", "earliest"))
        asking.start()
        time.sleep(0.05)
        one.kill()
        one.start()
        asking.join(PATIENCE_S)
        assert not asking.is_alive(), "the client asks again"
        with client(one, "consumer") as consumer, consumer.consume("earliest", dedup=0) as work:
            for n in range(10_001):
                message = received(work)
                assert message["n"] == n
                message.ack()


def test_what_does_not_fit_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        make(one, "all", "new")
        publish(one, range(10))
        with client(one, "maker") as maker:
            with pytest.raises(DurableRefused, match="do not fit into the durable subscription"):
                maker.durable("few", "n >= 0", start="earliest", count=5, overflow="refuse")
            with pytest.raises(DurableRefused, match="no durable subscription 'few'"):
                maker.consume("few").start()
            maker.durable("few", "n >= 0", start="earliest", count=5)
            with maker.consume("few") as work:
                gap = work.receive(PATIENCE_S)
                assert isinstance(gap, Gap)
                assert gap.count == 5
                assert [received(work)["n"] for _ in range(5)] == [5, 6, 7, 8, 9]


def test_a_router_that_stops_in_between_ends_in_order(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        make(one, "all", "new")
        with client(one, "publisher") as publisher:
            for n in range(4_001):
                publisher.publish({"n": n}, b"x" * 1000, confirm="stored" if n % 1000 == 0 else None)
        asking = threading.Thread(target=make, args=(one, "earliest", "earliest"))
        asking.start()
        time.sleep(0.02)
        assert one.leave() == 0
        one.start()
        asking.join(PATIENCE_S)
        with client(one, "consumer") as consumer, consumer.consume("earliest") as work:
            assert [received(work)["n"] for _ in range(500)] == list(range(500))


def test_what_came_by_two_tries_is_taken_twice_and_marked(tmp_path: Path) -> None:
    """A full keep lacked it at first, so the log has it twice: once for each keep."""
    with router(tmp_path) as one, client(one, "owner") as owner:
        owner.durable("full", "n >= 0", count=1, overflow="refuse")
        owner.durable("other", "n >= 0")
        owner.publish({"n": 1}, confirm="stored")
        with pytest.raises(PublishRefused, match="stored in 1 of 2") as caught:
            owner.publish({"n": 2}, confirm="stored")
        with owner.consume("full") as work:
            received(work).ack(confirm=True)
        assert owner.publish_again(caught.value).is_stored
        owner.durable("third", "n >= 0", start="earliest")
        with owner.consume("third", dedup=0) as work:
            taken = [received(work) for _ in range(3)]
    assert [(message["n"], message.maybe_duplicate) for message in taken] == [(1, False), (2, False), (2, True)]
