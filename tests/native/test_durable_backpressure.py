"""Publishers of what is kept wait while the disk is behind: here it commits when the test says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.header import Flags
from tests.native.slow_router import RING, SlowRouter

FRAMES = 400


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[SlowRouter]:
    made = SlowRouter(tmp_path / "log")
    yield made
    made.close()


def test_who_publishes_what_is_kept_is_slowed_and_never_refused(slow):
    fast, plain, other = slow.publisher(1), slow.publisher(2), slow.publisher(3)
    asked = [fast.publish() for _ in range(FRAMES)]
    assert slow.waiting == {fast.connection}
    waits = slow.durables.all_figures().waits
    assert RING // 4 < waits * 1_000 < RING
    assert fast.confirmed == []
    # Another one that asks for no disk has its first message kept, from which on it waits, too.
    of_plain = [plain.publish(flags=Flags.CONFIRM) for _ in range(20)]
    assert plain.confirmed == of_plain[:1]
    # Who has nothing kept is not concerned.
    of_other = [other.publish("other", Flags.CONFIRM) for _ in range(20)]
    assert other.confirmed == of_other
    assert slow.waiting == {fast.connection, plain.connection}
    assert slow.held == 2
    for _ in range(FRAMES):
        slow.log.commit()
        slow.turn()
    assert (fast.confirmed, fast.refused) == (asked, {})
    assert (plain.confirmed, plain.refused) == (of_plain, {})
    assert (slow.waiting, slow.held, slow.durables.figures(1).open) == (set(), 0, FRAMES + 20)


def test_credit_is_withheld_while_the_disk_is_behind_and_given_again(slow):
    fast, other = slow.publisher(1, credit=100), slow.publisher(2, credit=100)
    sent = 0
    while sent < fast.credit:
        sent = fast.publish()
    assert slow.held == 1
    assert sent * 900 > RING
    before = fast.credit
    for _ in range(100):
        other.publish("other", Flags.CONFIRM)
    assert other.credit > 100
    assert fast.credit == before
    for _ in range(sent):
        slow.log.commit()
        slow.turn()
    assert fast.credit > before
    assert (fast.confirmed, fast.refused) == (list(range(1, sent + 1)), {})


def test_a_full_log_is_said_to_those_who_wait(tmp_path):
    full = SlowRouter(tmp_path / "log", bytes_max=1 << 21)
    publishers = [full.publisher(number, credit=10_000) for number in (1, 2, 3)]
    asked = {each.number: [each.publish() for _ in range(1_000)] for each in publishers}
    assert full.held == 3
    for _ in range(500):
        full.log.commit()
        full.log.maintain()
        full.turn()
    assert full.held == 0
    for each in publishers:
        assert sorted(each.confirmed + list(each.refused)) == asked[each.number]
        assert set(each.refused.values()) == {RefusalCode.LOG_FULL}
    assert sum(len(each.confirmed) for each in publishers) == full.durables.figures(1).open
    full.close()


@pytest.mark.parametrize("is_now", [True, False])
def test_a_connection_that_ends_waits_no_more(slow, is_now):
    fast = slow.publisher(1)
    for _ in range(FRAMES):
        fast.publish()
    assert slow.held == 1
    slow.publishers.clear()
    slow.look(slow.switch.end(fast.connection, now=is_now) or [])
    slow.turn()
    assert slow.held == (0 if is_now else slow.held)
    for _ in range(FRAMES):
        slow.log.commit()
        slow.turn()
    assert slow.held == 0


def test_a_drain_lets_go_of_those_who_wait(slow):
    fast = slow.publisher(1)
    asked = [fast.publish() for _ in range(FRAMES)]
    slow.switch.drain(True)
    for _ in range(FRAMES):
        slow.log.commit()
        slow.turn()
    assert sorted(fast.confirmed + list(fast.refused)) == asked
    assert slow.held == 0


def test_who_waits_while_room_is_made_is_refused_where_there_is_none_and_not_before(tmp_path):
    """What was acknowledged is not let go yet: the log has no room, and will have some."""
    full = SlowRouter(tmp_path / "log", bytes_max=1 << 21)
    publisher, reader = full.publisher(1, credit=1_000_000), full.reader(9, durable=1)
    for _ in range(3_000):
        publisher.publish(size=2_000)
        reader.acknowledge()
        full.log.commit()
        if full.held:
            full.log.maintain()
        full.turn()
    assert publisher.refused == {}
    for _ in range(2_000):
        publisher.publish(size=2_000)
        full.log.commit()
        full.log.maintain()
        full.turn()
    for _ in range(3):
        full.commit()
    assert full.held == 0
    assert len(publisher.refused) > 1_000
    assert set(publisher.refused.values()) == {RefusalCode.LOG_FULL}
    full.close()
