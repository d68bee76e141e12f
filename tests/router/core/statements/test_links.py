"""One session a neighbour, the newest."""

from __future__ import annotations

from tamis.protocol.wire.routing_bodies import EpochRefused
from tamis.router.core.statements.links import CoreLink, Links

A, B = 1, 2
BODY = EpochRefused(A, 1, 1)


def test_a_newer_session_takes_the_place_of_the_older_and_begins_anew():
    links = Links()
    first = links.up(A, 5, 1)
    assert first == CoreLink(A, 5, 1, is_synced=False, asked=0)
    first.is_synced = True
    assert links.up(A, 6, 3) == CoreLink(A, 6, 3)
    assert links.synced == []
    assert links.takers(BODY) == [CoreLink(A, 6, 3)]


def test_a_session_that_is_not_newer_is_refused():
    links = Links()
    links.up(A, 5, 1)
    assert links.up(A, 5, 2) is None
    assert links.up(A, 4, 2) is None
    assert links.current(A, 5) == CoreLink(A, 5, 1)


def test_the_end_of_an_older_session_says_nothing():
    links = Links()
    links.up(A, 5, 1)
    links.up(A, 6, 1)
    assert not links.down(A, 5)
    assert not links.down(B, 5)
    assert links.current(A, 6) is not None
    assert links.down(A, 6)
    assert links.current(A, 6) is None
    assert links.takers(BODY) == []


def test_an_older_session_is_not_heard():
    links = Links()
    links.up(A, 6, 1)
    assert links.current(A, 5) is None
    assert links.current(B, 6) is None


def test_all_neighbours_but_one_are_told_whether_they_have_caught_up_or_not():
    links = Links()
    link = links.up(A, 5, 1)
    assert link is not None
    link.is_synced = True
    links.up(B, 7, 1)
    assert links.takers(BODY) == list(links.by_neighbour.values())
    assert links.takers(BODY, but=A) == [CoreLink(B, 7, 1)]
    assert links.synced == [link]


def test_a_session_is_its_number():
    links, number = Links(), 10**12
    links.up(A, number, 1)
    assert links.current(A, int(str(number))) is not None
    assert links.down(A, int(str(number)))
