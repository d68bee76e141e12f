"""Replays over TCP: what the log holds, by predicate and time, within the client's credit; and how they end."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tamis import DurableRefused, Gap
from tamis.blocking import Client, Consumer
from tests.router.durable.test_kill import PATIENCE_S, client, restarted, router

pytestmark = pytest.mark.slow
CREDIT = 7


def replayed(messages: Consumer) -> list[object]:
    """All that a replay gives until it ends, each message marked as history."""
    values: list[object] = []
    for message in messages:
        assert not isinstance(message, Gap), message
        assert (message.replayed, message.deliveries) == (True, 0)
        values.append(message["n"])
    return values


def keep_and_publish(publisher: Client, numbers: range) -> None:
    publisher.durable("numbers", "n >= 0")
    for n in numbers:
        publisher.publish({"n": n, "even": n % 2 == 0}, b"x" * (n % 97), confirm="stored")


def test_a_replay_gives_what_it_matches_once_and_in_order(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "publisher") as publisher:
            keep_and_publish(publisher, range(300))
            with publisher.consume("numbers", credit=CREDIT) as work:  # what is acknowledged stays for a while
                for _ in range(CREDIT):
                    message = work.receive(PATIENCE_S)
                    assert not isinstance(message, Gap)
                    message.ack(confirm=True)
            with publisher.replay("even = true", credit=CREDIT) as messages:
                assert replayed(messages) == list(range(0, 300, 2))
            with publisher.replay("n = -1") as messages:
                assert replayed(messages) == []
        restarted(one)
        with client(one, "reader") as reader, reader.replay("n >= 250") as messages:
            assert replayed(messages) == list(range(250, 300))


def test_a_replay_is_of_a_time(tmp_path: Path) -> None:
    with router(tmp_path) as one, client(one, "publisher") as publisher:
        keep_and_publish(publisher, range(10))
        time.sleep(0.05)
        between = datetime.now(UTC)
        time.sleep(0.05)
        keep_and_publish(publisher, range(10, 20))
        with publisher.replay("n >= 0", until=between) as messages:
            assert replayed(messages) == list(range(10))
        with publisher.replay("n >= 0", since=between) as messages:
            assert replayed(messages) == list(range(10, 20))


def test_a_client_may_end_a_replay_and_has_so_many_at_a_time(tmp_path: Path) -> None:
    keys = "durable: {bytes: 268435456, segment_bytes: 1048576, replays_per_client: 2}"
    with router(tmp_path, keys) as one, client(one, "reader") as reader:
        keep_and_publish(reader, range(100))
        first, second = (reader.replay("n >= 0", credit=1).start() for _ in range(2))
        with pytest.raises(DurableRefused, match="may have at most 2 replays at a time"):
            reader.replay("n >= 0").start()
        first.cancel()
        with reader.replay("n >= 98") as messages:
            assert replayed(messages) == [98, 99]
        assert replayed(second) == list(range(100))


def test_a_replay_beside_those_who_consume_takes_nothing(tmp_path: Path) -> None:
    with router(tmp_path) as one, client(one, "reader") as reader, client(one, "consumer") as consumer:
        keep_and_publish(reader, range(50))
        with consumer.consume("numbers") as work, reader.replay("n >= 0") as messages:
            assert replayed(messages) == list(range(50))
            taken = []
            for _ in range(50):
                message = work.receive(PATIENCE_S)
                assert not isinstance(message, Gap)
                taken.append((message["n"], message.replayed, message.deliveries))
                message.ack()
        assert taken == [(n, False, 1) for n in range(50)]
