"""What a core says of itself."""

from __future__ import annotations

from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.routing_bodies import SenderRequest
from tamis.router.core.events import Await
from tests.router.core.bodies import change, state
from tests.router.core.single import Single

ME, A, X = map(stable_number, ("me", "a", "x"))
ONE = {1: b"one"}


def test_nothing_is_unfinished_at_rest_and_everybody_heard_of_is_known():
    single = Single()
    single.joins("a")
    single.hears("a", state("x", 1))
    assert single.core.figures()[1:] == ({ME, A, X}, {})


def test_the_digest_is_what_neighbours_are_told():
    single = Single()
    single.joins("a")
    single.waits(1_000_000)
    single.took(object)
    single.up("b")
    assert [asked.digest for asked in single.took(SenderRequest, "b")] == [single.core.figures().digest]


def test_what_waits_is_told_by_kind():
    single = Single()
    single.joins("a")
    single.waits(1_000_000)
    single.handle(Await(7))
    single.hears("a", change("a", 1, 2, {}, ONE))
    assert single.core.figures().unfinished == {"changes without their base": 1, "tickets": 1}
