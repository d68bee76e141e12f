"""A folder that is restored from a backup: no number that somebody has seen names another message afterwards."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis.testing.blocking import BlockingRouter
from tests.router.durable.test_kill import client, publish, received, router

pytestmark = pytest.mark.slow
STARTS = 3


@pytest.fixture
def backed_up(tmp_path: Path) -> Iterator[tuple[BlockingRouter, Path, Path]]:
    """A router that keeps `numbers`, its log's folder, and a backup of it with ten messages; ten more came since."""
    with router(tmp_path) as one:
        folder, backup = next(tmp_path.rglob("life")).parent, tmp_path / "backup"
        with client(one, "consumer") as consumer:
            consumer.durable("numbers", "n >= 0")
        publish(one, range(10))
        one.leave()
        shutil.copytree(folder, backup)
        one.start()
        publish(one, range(10, 20))
        yield one, folder, backup


def seen(one: BlockingRouter, count: int) -> dict[int, tuple[object, object]]:
    """Look at `count` messages of the keep, and return what each position names."""
    with client(one, "consumer") as consumer, consumer.consume("numbers") as work:
        messages = [received(work) for _ in range(count)]
        return {message.position: (message.id, message["n"]) for message in messages}


def restore(one: BlockingRouter, folder: Path, backup: Path) -> None:
    one.leave()
    shutil.rmtree(folder)
    shutil.copytree(backup, folder)
    one.start()


def test_a_position_of_before_a_restore_names_no_other_message_after_it(
    backed_up: tuple[BlockingRouter, Path, Path],
) -> None:
    one, folder, backup = backed_up
    named = seen(one, 20)
    for start in range(STARTS):  # each of them begins with the same backup
        restore(one, folder, backup)
        first = 100 * (start + 1)
        publish(one, range(first, first + 10))
        again = seen(one, 20)
        assert [n for _, n in again.values()] == [*range(10), *range(first, first + 10)]
        assert all(named.get(position, message) == message for position, message in again.items())
        named |= again


def test_who_goes_on_after_a_position_misses_nothing_that_is_new(backed_up: tuple[BlockingRouter, Path, Path]) -> None:
    one, folder, backup = backed_up
    stored = max(seen(one, 20))
    restore(one, folder, backup)
    publish(one, range(20, 30))
    with client(one, "consumer") as consumer, consumer.consume("numbers", after=stored) as work:
        assert [received(work)["n"] for _ in range(10)] == list(range(20, 30))
