"""Unknown ranges say for which loss messages are missing, and how many, where that is known."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tamis.native._tm import lib
from tamis.native.durables import HERE
from tamis.protocol.wire.client_bodies import Lost
from tamis.protocol.wire.codes import LossReason
from tests.native.slow_router import SlowRouter

DURABLE, UNKNOWNS_MAX, COUNT_MAX = 1, 64, (1 << 22) - 1
CHANGED, FULL, ENTRY = LossReason.ROUTE_CHANGED, LossReason.CUSTODY_FULL, LossReason.ENTRY_LOST


class Ranges(SlowRouter):
    """A router with one durable subscription."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.consumers, self.from_here = 7, self.publisher(7)
        self.store()

    def store(self) -> None:
        """Store a message."""
        self.from_here.publish(size=10)
        self.commit()

    def miss(self, reason: LossReason, messages: int = 0, since_ms: int = HERE) -> None:
        self.durables.unknown([DURABLE], since_ms, reason, messages)

    def told(self) -> list[Lost]:
        """Return the ranges of which a new consumer is told."""
        self.commit()
        self.consumers += 1
        reader = self.reader(self.consumers, DURABLE)
        self.turn()
        assert self.durables.cancel(reader.connection, 1)
        return reader.ranges

    def found(self) -> list[tuple[LossReason, int]]:
        return [(LossReason(each.reason), each.messages) for each in self.told()]


@pytest.fixture
def router(tmp_path):
    made = Ranges(tmp_path)
    yield made
    made.close()


def test_counts_of_one_place_add_up_and_keep_their_beginning(router):
    router.miss(FULL, 3)
    router.miss(FULL, 4)
    [first] = router.told()
    assert (first.reason, first.messages, first.unknowns, first.in_all) == (FULL, 7, 1, False)
    assert first.first <= first.last
    router.miss(FULL, 5)  # it was told, and grows
    [grown] = router.told()
    assert (grown.messages, grown.first, grown.last > first.last) == (12, first.first, True)
    router.store()
    router.miss(FULL, 1)
    assert router.found() == [(FULL, 12), (FULL, 1)]


def test_ranges_of_different_losses_stand_side_by_side(router):
    for _ in range(2):
        router.miss(CHANGED, since_ms=0)
    router.miss(FULL, 2)
    router.miss(ENTRY)
    router.miss(ENTRY)
    router.miss(FULL, 9)
    assert router.found() == [(CHANGED, 0), (FULL, 2), (ENTRY, 0), (FULL, 9)]
    router.restart()
    assert router.found() == [(CHANGED, 0), (FULL, 2), (ENTRY, 0), (FULL, 9)]


def test_what_one_range_cannot_count_stands_beside_it(router):
    router.miss(FULL, COUNT_MAX - 1)
    router.miss(FULL, 2)
    router.miss(FULL, COUNT_MAX + 1)  # of no record that an entry writes: unknown
    assert router.found() == [(FULL, COUNT_MAX - 1), (FULL, 0)]


@pytest.mark.parametrize(
    ("last", "more", "found"),
    [
        ((FULL, 5), (FULL, 2), (FULL, 7)),
        ((FULL, 5), (CHANGED, 0), (FULL, 0)),
        ((CHANGED, 0), (FULL, 2), (FULL, 0)),
        ((FULL, 5), (ENTRY, 0), (ENTRY, 0)),
        ((FULL, COUNT_MAX), (FULL, 1), (FULL, 0)),
    ],
)
def test_at_the_bound_the_newest_range_takes_the_graver_loss_and_counts_only_what_it_knows(router, last, more, found):
    for _ in range(UNKNOWNS_MAX - 1):
        router.miss(FULL, 1)
        router.store()
    router.miss(*last)
    router.store()
    router.miss(*more)
    ranges = router.found()
    assert ranges == [(FULL, 1)] * (UNKNOWNS_MAX - 1) + [found]
    router.restart()
    assert router.found() == ranges


def test_a_record_of_an_earlier_version_is_of_a_changed_route(router):
    form = struct.pack("<QQ", DURABLE, 1)
    n = router.log.append(form, [DURABLE], kind=lib.TM_DURABLES_UNKNOWN)
    router.commit()
    router.restart()
    [told] = router.told()
    assert (told.reason, told.messages, told.first, told.last) == (CHANGED, 0, 1, n)


def test_only_what_was_given_up_has_a_count(router):
    for reason, messages in ((CHANGED, 1), (ENTRY, 1), (LossReason.EXPIRED, 0)):
        with pytest.raises(RuntimeError, match="misused"):
            router.miss(reason, messages)
    assert router.found() == []
