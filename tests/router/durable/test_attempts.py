"""Attempts with a message: which ones count, what becomes of one that kills its consumers, what a start still knows."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tamis import Gap
from tamis.client.gap import GapReason
from tamis.testing import blocking, free_port
from tamis.testing.blocking import BlockingRouter
from tests.router.durable.test_kill import DURABLE_KEYS, PATIENCE_S, client, publish, received

pytestmark = pytest.mark.slow
DYING = """
import os, sys
from tamis.blocking import connect
with connect(sys.argv[1], name=sys.argv[2], patience_s=20) as client, client.consume("numbers") as work:
    first = work.receive(20)
    for _ in range(int(sys.argv[3]) - 1):
        work.receive(20)
    sys.stdout.write(str(first["n"]))
    sys.stdout.flush()
    os._exit(1)
"""


@contextlib.contextmanager
def router(folder: Path) -> Iterator[BlockingRouter]:
    file = folder / "one.yaml"
    ports = f'clients: "127.0.0.1:{free_port()}", admin: "127.0.0.1:{free_port()}"'
    file.write_text(f"{DURABLE_KEYS}\nrouters: {{a: {{{ports}, data: data}}}}\n")
    with blocking.started(file, "a") as one:
        yield one


def die(one: BlockingRouter, count: int = 1) -> int:
    """Have a consumer take `count` messages and die; return the number of the first."""
    command = [sys.executable, "-c", DYING, one.address, "dying", str(count)]
    return int(subprocess.run(command, stdout=subprocess.PIPE, check=False, timeout=60).stdout)  # noqa: S603 - our own


def figures(one: BlockingRouter, name: str) -> dict[str, Any]:
    return next(form for form in one.ask("/durables")["durables"] if form["durable"] == name)


def test_a_message_that_kills_its_consumers_becomes_a_dead_letter_and_those_behind_it_do_not(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "maker") as maker:
            maker.durable("dead", "n < 0")
            maker.durable("numbers", "n >= 0", max_deliveries=3, dead_letter="dead")
        publish(one, range(5))
        assert [die(one, 5) for _ in range(3)] == [0, 0, 0]
        with client(one, "consumer") as consumer, consumer.consume("numbers") as work:
            messages = [received(work) for _ in range(4)]
            assert [message["n"] for message in messages] == [1, 2, 3, 4]
            assert {message.deliveries for message in messages} == {4}
            for message in messages:
                message.ack(confirm=True)
        assert figures(one, "numbers")["dead"] == 1
        with client(one, "consumer") as consumer, consumer.consume("dead") as work:
            dead_letter = received(work)
            assert (dead_letter["n"], dead_letter.dead_letter) == (0, True)


def test_a_consumer_that_the_router_ended_or_that_left_has_failed_with_nothing(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "maker") as maker:
            maker.durable("numbers", "n >= 0", max_deliveries=2)
        publish(one, range(1))
        with contextlib.ExitStack() as replaced:
            for _ in range(4):  # each is replaced by the next
                consumer = replaced.enter_context(client(one, "consumer"))
                assert received(replaced.enter_context(consumer.consume("numbers")))["n"] == 0
        for _ in range(2):
            with client(one, "consumer") as consumer, consumer.consume("numbers") as work:
                received(work)
        assert die(one) == 0  # the first attempt that fails
        with client(one, "consumer") as consumer, consumer.consume("numbers") as work:
            assert received(work).deliveries == 8
        assert figures(one, "numbers")["undeliverable"] == 0
        assert die(one) == 0
        assert figures(one, "numbers")["undeliverable"] == 1


def test_figures_of_dead_letters_are_those_of_the_disk_after_a_kill(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "maker") as maker:
            maker.durable("dead", "n < 0")
            maker.durable("numbers", "n >= 0", dead_letter="dead")
        publish(one, range(6))
        with client(one, "consumer") as consumer, consumer.consume("numbers") as work:
            for _ in range(4):
                received(work).reject("no use")
            for _ in range(2):
                received(work).ack(confirm=True)
        before = figures(one, "numbers")
        assert before["dead"] == 4
        for _ in range(2):
            one.kill()
            one.start()
            assert figures(one, "numbers")["dead"] == 4
        with client(one, "consumer") as consumer, consumer.consume("dead") as work:
            for _ in range(4):
                received(work).ack(confirm=True)
        one.kill()
        one.start()
        assert figures(one, "numbers")["dead"] == 4
        assert figures(one, "dead")["dead"] == 0


def test_what_the_owner_passes_over_is_a_gap_with_its_number(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "owner") as owner:
            owner.durable("numbers", "n >= 0")
        publish(one, range(10))
        with client(one, "other") as other, other.consume("numbers", credit=2) as held:
            assert [received(held)["n"] for _ in range(2)] == [0, 1]
            with client(one, "owner") as owner, owner.consume("numbers", after=2**64 - 1) as work:
                gap = work.receive(PATIENCE_S)
                assert isinstance(gap, Gap)
                skipped = gap.count or 0
                assert (gap.reason, gap.count, gap.in_all) == (GapReason.SKIPPED, skipped, skipped)
                assert skipped in (6, 7, 8)  # what `other` has is not passed over
                publish(one, range(10, 11))
                assert received(work)["n"] == 10
        assert figures(one, "numbers")["skipped"] == skipped
        one.kill()
        one.start()
        assert figures(one, "numbers")["skipped"] == skipped
        with client(one, "another") as another, another.consume("numbers") as work:
            gap = work.receive(PATIENCE_S)
            assert isinstance(gap, Gap)
            assert (gap.reason, gap.count) == (GapReason.SKIPPED, skipped)


def test_who_is_shown_history_and_takes_none_holds_up_nobody(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        with client(one, "owner") as owner:
            owner.durable("numbers", "n >= 0", for_="1h")
        publish(one, range(3))
        with client(one, "owner") as owner, owner.consume("numbers") as work:
            for _ in range(3):
                received(work).ack(confirm=True)
        with client(one, "idle") as idle, idle.consume("numbers", replay="latest", credit=1):
            publish(one, range(3, 5))
            with client(one, "owner") as owner, owner.consume("numbers") as work:
                assert [received(work)["n"] for _ in range(2)] == [3, 4]
