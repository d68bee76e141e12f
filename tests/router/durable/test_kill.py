"""Kept messages over TCP: whole routers that end with SIGKILL after a publisher was confirmed, before a consumer
reads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis import DurableRefused, Gap
from tamis.blocking import Client, Consumer, StoredMessage, connect
from tamis.protocol.filters import Constraint, Filter, Op, Predicate
from tamis.testing import blocking, free_port
from tamis.testing.blocking import BlockingRouter

pytestmark = pytest.mark.slow
PATIENCE_S = 20.0
QUIET_S = 0.5
COUNT = 200
DURABLE_KEYS = "durable: {bytes: 268435456, segment_bytes: 1048576}"


@contextlib.contextmanager
def router(folder: Path, keys: str = DURABLE_KEYS) -> Iterator[BlockingRouter]:
    file = folder / "one.yaml"
    file.write_text(f'{keys}\nrouters: {{a: {{clients: "127.0.0.1:{free_port()}", data: data}}}}\n')
    with blocking.started(file, "a") as one:
        yield one


@contextlib.contextmanager
def client(one: BlockingRouter, name: str) -> Iterator[Client]:
    with connect(one.address, name=name, patience_s=PATIENCE_S) as each:
        yield each


def publish(one: BlockingRouter, numbers: range) -> None:
    with client(one, "publisher") as publisher:
        for n in numbers:
            publisher.publish({"n": n}, b"x" * (n % 97), confirm="stored")


def received(work: Consumer) -> StoredMessage:
    message = work.receive(PATIENCE_S)
    assert not isinstance(message, Gap), message
    return message


def restarted(one: BlockingRouter) -> None:
    one.kill()
    one.start()


def taken(one: BlockingRouter, count: int, *, last_is_confirmed: bool = True) -> list[object]:
    """Take and acknowledge `count` messages; the last acknowledgement is on disk, and those before it, too."""
    values: list[object] = []
    with client(one, "consumer") as consumer, consumer.consume("numbers") as work:
        for at in range(count):
            message = received(work)
            values.append(message["n"])
            message.ack(confirm=last_is_confirmed and at == count - 1)
    return values


def nothing_waits(one: BlockingRouter) -> bool:
    with client(one, "consumer") as consumer, consumer.consume("numbers") as work:
        with contextlib.suppress(TimeoutError):
            work.receive(QUIET_S)
            return False
    return True


def test_what_was_confirmed_is_delivered_after_a_kill(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "consumer") as consumer:
            consumer.durable("numbers", "n >= 0")
        publish(one, range(COUNT))
        restarted(one)
        assert taken(one, COUNT) == list(range(COUNT))
        restarted(one)
        assert nothing_waits(one)
        publish(one, range(COUNT, COUNT + 3))
        assert taken(one, 3) == [COUNT, COUNT + 1, COUNT + 2]


def test_what_was_not_acknowledged_comes_again_after_a_kill(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "consumer") as consumer:
            consumer.durable("numbers", "n >= 0")
        publish(one, range(10))
        assert taken(one, 4) == [0, 1, 2, 3]
        with client(one, "consumer") as consumer, consumer.consume("numbers") as work:
            assert [received(work)["n"] for _ in range(6)] == [4, 5, 6, 7, 8, 9]
            restarted(one)
        assert taken(one, 6) == [4, 5, 6, 7, 8, 9]
        assert nothing_waits(one)


def test_members_share_what_is_kept(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "first") as first, client(one, "second") as second:
            first.durable("numbers", "n >= 0")
            with first.consume("numbers", credit=5) as some, second.consume("numbers", credit=5) as others:
                publish(one, range(10))
                messages = [received(work) for work in (some, others) for _ in range(5)]
                assert sorted(message["n"] for message in messages) == list(range(10))
                for message in messages:
                    message.ack(confirm=True)
        restarted(one)
        assert nothing_waits(one)


def test_a_rejected_message_is_a_dead_letter_after_a_kill(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "consumer") as consumer:
            consumer.durable("dead", "n < 0")
            consumer.durable("numbers", "n >= 0", dead_letter="dead")
            publish(one, range(2))
            with consumer.consume("numbers") as work:
                received(work).reject("nobody can read it")
                received(work).ack(confirm=True)
            with consumer.consume("dead") as dead:
                assert received(dead)["n"] == 0
        restarted(one)
        assert nothing_waits(one)
        with client(one, "consumer") as consumer, consumer.consume("dead") as dead:
            assert received(dead)["n"] == 0


def test_a_durable_that_was_forgotten_stays_so(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "consumer") as consumer:
            consumer.durable("numbers", "n >= 0")
            consumer.durable("others", "n >= 0")
            consumer.remove_durable("numbers")
        publish(one, range(3))
        restarted(one)
        with client(one, "consumer") as consumer:
            with pytest.raises(DurableRefused, match="no durable subscription 'numbers'"):
                consumer.consume("numbers").start()
            with consumer.consume("others") as work:
                assert [received(work)["n"] for _ in range(3)] == [0, 1, 2]


def history(one: BlockingRouter, replayed: int) -> list[object]:
    """Return what was acknowledged and is kept on, which comes first; the rest is left alone."""
    with client(one, "historian") as consumer, consumer.consume("numbers", replay="latest") as work:
        messages = [received(work) for _ in range(replayed)]
        assert all(message.replayed for message in messages)
        return [message["n"] for message in messages]


def test_what_is_kept_for_a_time_stays_acknowledged_after_a_kill(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "consumer") as consumer:
            consumer.durable("numbers", "n >= 0", for_=3600)
        publish(one, range(6))
        assert taken(one, 4) == [0, 1, 2, 3]
        restarted(one)
        assert taken(one, 2) == [4, 5]
        restarted(one)
        assert nothing_waits(one)
        assert history(one, 6) == [0, 1, 2, 3, 4, 5]


def test_the_last_value_stays_after_a_kill(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "consumer") as consumer:
            consumer.durable("numbers", "n >= 0", latest_by="k")
            for n, k in enumerate("aabba"):
                consumer.publish({"n": n, "k": k}, confirm="stored")
        restarted(one)
        assert taken(one, 2) == [3, 4]
        restarted(one)
        assert nothing_waits(one)
        assert history(one, 2) == [3, 4]
        with client(one, "publisher") as publisher:
            publisher.publish({"n": 5, "k": "a"}, confirm="stored")
        restarted(one)
        assert history(one, 1) == [3]
        assert taken(one, 1) == [5]


def test_what_is_not_supported_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with router(tmp_path) as one, client(one, "consumer") as consumer:
        consumer.durable("numbers", "n >= 0")
        with pytest.raises(DurableRefused, match="differs in count"):
            consumer.durable("numbers", "n >= 0", count=7)


def test_a_durable_longer_than_a_record_of_the_log_is_refused_in_a_sentence(tmp_path: Path) -> None:
    values = tuple(f"{number:900}" for number in range(10))
    long = Predicate(tuple(Filter((Constraint(f"n{at}", Op.IN, values),)) for at in range(60)))
    with router(tmp_path) as one, client(one, "consumer") as consumer:
        for _ in range(4):
            with pytest.raises(DurableRefused, match="longer than the longest record of the log"):
                consumer.durable("numbers", long)
        consumer.durable("numbers", "n >= 0")
        consumer.publish({"n": 1}, confirm="stored")
        with consumer.consume("numbers") as work:
            assert received(work)["n"] == 1
        assert '"failed to handle an event' not in one.log.read_text()
