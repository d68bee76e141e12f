"""Bodies that come over one link: each is heard once, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from tamis.protocol.wire.numbers import predicate_digest
from tamis.protocol.wire.parts import Whole, split
from tamis.protocol.wire.routing_bodies import AdvertisedFilter, ReceiverAdvertisement
from tamis.router.connections.work import SlicedWork
from tamis.router.links.incoming import Incoming


def long_body(seq: int) -> ReceiverAdvertisement:
    filters = tuple(AdvertisedFilter(number, b"x" * 40) for number in range(3_000))  # read in three slices
    return ReceiverAdvertisement(7, 1, seq, True, 0, filters, (), predicate_digest(filters), len(filters), False)


def test_a_body_that_comes_right_behind_another_is_heard_once():
    turns: deque[Callable[[], None]] = deque()
    heard: list[int] = []

    def hear(whole: Whole, _size: int) -> None:
        heard.append(whole.ticket.seq)

    incoming = Incoming(SlicedWork(turns.append), hear, lambda _: None, lambda _: None)
    for seq in (1, 2, 3, 4):
        for part in split(long_body(seq)):
            incoming.add(part, 1)
        while turns and len(heard) < seq:  # the reader has not had its turn to notice that it is done
            turns.popleft()()
    while turns:
        turns.popleft()()
    assert heard == [1, 2, 3, 4]
