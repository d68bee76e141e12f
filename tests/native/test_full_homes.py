"""A switch that refuses what has no room for its home: it is stored for all others, and for that home once there is
room, also after a start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis.native.log import MESSAGE
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.header import Flags
from tamis.router.durable.custody import message_id
from tests.native.test_arrivals import STORED
from tests.native.test_departures import HOME_LOG, WINDOW, EntryRouter
from tests.native.test_others import ALICE, EAST, FAR, packed

ROOM, BODY = 1_000, bytes(100)
LEVELS = pytest.mark.parametrize("level", [STORED, STORED | Flags.EVERY_HOME], ids=["stored", "held"])


class RefusingRouter(EntryRouter):
    """An entry that refuses what has no room."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.homes.bound(ROOM, refuses=True)

    def start_again(self) -> None:
        """Restart it, with the same homes and the same bound."""
        self.restart()
        self.homes.bound(ROOM, refuses=True)
        for router in (EAST, FAR):
            self.homes.open(router)
            self.homes.want(router, 5, [packed("x = 1")])

    def has_all(self, router: int) -> None:
        """Let a home acknowledge all of its chain."""
        self.homes.acknowledged(router, HOME_LOG, self.chain(router).last, WINDOW)
        self.commit()

    def fill(self, level: Flags, *, has_far_room: bool) -> int:
        """Publish until the home east has no room; return the message that was refused."""
        while not self.refused:
            counter = self.publish(flags=level, payload=BODY)
            if has_far_room:
                self.has_all(FAR)
        assert self.refused == {counter: RefusalCode.LOG_FULL}
        return counter

    def retry(self, counter: int, level: Flags) -> None:
        self.acks.clear()
        self.feed_alice(encode_publish(ALICE, counter, 0, {"x": 1}, BODY, level | Flags.RETRY))
        self.commit()

    def stored_for(self, router: int) -> list[int]:
        records = self.log.read(router, is_home=True)
        return [message_id(record.body)[1] for record in records if record.kind == MESSAGE]


@pytest.fixture(name="entry")
def _entry(tmp_path: Path) -> Iterator[RefusingRouter]:
    entry = RefusingRouter(tmp_path / "entry")
    yield entry
    entry.close()


@LEVELS
@pytest.mark.parametrize("has_far_room", [True, False])
@pytest.mark.parametrize("is_restarted", [True, False])
def test_what_was_refused_for_a_home_is_stored_for_it_once(entry, level, has_far_room, is_restarted):
    counter = entry.fill(level, has_far_room=has_far_room)
    assert counter not in entry.stored_for(EAST)
    entry.publish(x=2)
    entry.commit()
    if is_restarted:
        entry.start_again()
    for router in (EAST, FAR):
        entry.has_all(router)
    far = entry.chain(FAR).last
    for _ in range(3):
        entry.retry(counter, level)
        assert entry.stored_for(EAST) == [counter]
    if level == STORED and has_far_room and not is_restarted:
        assert entry.chain(FAR).last == far
    for router in (EAST, FAR):
        entry.has_all(router)
    if level == STORED:
        assert counter in entry.confirmed


def test_a_home_that_has_it_needs_no_room_for_it(entry):
    counter = entry.fill(STORED, has_far_room=True)
    entry.has_all(EAST)
    while len(entry.refused) == 1:
        entry.publish(payload=BODY)
        entry.has_all(EAST)
    entry.retry(counter, STORED)
    assert (entry.refused, entry.stored_for(EAST)) == ({}, [counter])


@LEVELS
def test_one_that_is_refused_again_after_a_start_is_not_stored(entry, level):
    counter = entry.fill(level, has_far_room=True)
    stored = entry.stored_for(EAST)
    entry.start_again()
    entry.has_all(FAR)
    entry.retry(counter, level)
    assert entry.refused == {counter: RefusalCode.LOG_FULL}
    assert entry.stored_for(EAST) == stored
