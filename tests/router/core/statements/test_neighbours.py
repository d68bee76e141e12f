"""R4, R10: how two neighbours come to know the same, on a new link and ever after."""

from __future__ import annotations

from itertools import pairwise

from tamis.protocol.wire.numbers import NO_DIGEST, stable_number
from tamis.protocol.wire.routing_bodies import LinkState, Scope, SenderRequest, UpdateReply
from tamis.router.core.commands import NeighbourSession, Send
from tamis.router.core.events import Tick
from tamis.router.core.timers import Due
from tamis.router.core.times import MS, S
from tests.router.core.bodies import digest_of, entry, state, whole
from tests.router.core.single import Single

ME, A, B = map(stable_number, ("me", "a", "b"))
ONE = {1: b"1"}


def asked(single: Single, neighbour: str = "a") -> list[SenderRequest]:
    return single.took(SenderRequest, neighbour)


def questions(single: Single) -> list[SenderRequest]:
    """With vectors, not with a digest."""
    return [request for request in asked(single) if not request.digest]


def is_told(single: Single, neighbour: int = A) -> bool:
    """Whether this router says that the link is there."""
    return neighbour in {link.neighbour for link in single.core.core_state.topology.states[ME].body.links}


def own_digest(single: Single) -> bytes:
    return single.core._exchange.digest()


def test_a_link_that_comes_up_begins_with_a_digest():
    single = Single()
    single.up("a")
    [request] = asked(single)
    assert (request.requester, request.epoch, request.scope) == (ME, 1, Scope.NEIGHBOUR)
    assert (request.digest, request.known, request.topology) == (own_digest(single), (), ())


def test_equal_digests_are_all_it_takes():
    single = Single()
    single.up("a")
    single.took(object)
    single.hears("a", digest_of("a", own_digest(single)))
    assert is_told(single)
    assert asked(single) == []
    single.waits(10 * S)
    assert asked(single) == []


def test_where_digests_differ_it_asks_with_what_it_knows_and_has_caught_up_with_the_answer():
    single = Single()
    single.up("a")
    single.took(object)
    single.hears("a", digest_of("a"))
    [request] = asked(single)
    assert request.digest == b""
    assert [known.issuer for known in request.known] == [known.issuer for known in request.topology] == [ME]
    assert not is_told(single)
    single.hears("a", UpdateReply(*request.ticket, (entry("a", 5, ONE),), more=True))
    assert not is_told(single)
    assert single.core.core_state.rib.entries[A].filters == ONE
    single.hears("a", UpdateReply(*request.ticket, ()))
    assert is_told(single)


def test_an_answer_to_something_else_is_not_what_it_waits_for():
    single = Single()
    single.up("a")
    single.hears("a", UpdateReply(ME, 1, 0, ()))
    single.hears("a", digest_of("a"))
    [*_, request] = asked(single)
    for other in (request.request - 1, request.request + 1, 0):
        single.hears("a", UpdateReply(ME, 1, other, ()))
    single.hears("a", UpdateReply(B, 1, request.request, ()))
    assert not is_told(single)


def test_it_asks_one_thing_at_a_time_and_again_ever_more_patiently_until_there_is_an_answer():
    single = Single()
    single.up("a")
    single.hears("a", digest_of("a"), digest_of("a"))
    assert len(asked(single)) == 2
    for seconds in (1, 2, 4, 8, 16, 16):
        single.waits(seconds * S - 1)
        assert questions(single) == []
        single.waits(1)
        [request] = questions(single)
    single.hears("a", UpdateReply(*request.ticket, ()))
    single.waits(10 * S)
    assert asked(single) == []
    assert is_told(single)
    single.hears("a", digest_of("a"))
    assert len(asked(single)) == 1
    single.waits(1 * S)
    assert len(asked(single)) == 1, "another question begins anew"


def test_a_digest_that_was_lost_is_followed_by_a_question():
    single = Single()
    single.up("a")
    single.took(object)
    single.waits(1 * S - 1)
    assert asked(single) == []
    single.waits(1)
    assert [request.digest for request in asked(single)] == [b""]


def test_requests_are_numbered_so_that_answers_can_be_told_apart():
    single = Single()
    single.up("a")
    single.waits(7 * S)
    assert [request.request for request in asked(single)] == [1, 2, 3, 4]


def test_a_question_is_answered_with_link_states_then_predicates_and_asked_back_if_the_other_knows_more():
    single = Single()
    single.joins("a", "b")
    single.waits(1 * S)
    single.took(object)
    single.hears("a", whole("a", 7, ONE))
    single.took(object)
    single.hears("b", SenderRequest(B, 3, 9, Scope.NEIGHBOUR, b"", (), ()))
    sends = single.took(Send)
    assert all(send.to == (NeighbourSession(B, 1),) for send in sends)
    *states, reply = [send.body for send in sends]
    assert all(isinstance(body, LinkState) for body in states)
    assert isinstance(reply, UpdateReply)
    assert {body.issuer for body in states if isinstance(body, LinkState)} == {"me", "a", "b"}
    assert reply.ticket == (B, 3, 9)
    assert entry("a", 7, ONE) in reply.entries
    known = tuple(known._replace(seq=known.seq + 9) for known in single.core._exchange.vectors()[0])
    single.hears("b", SenderRequest(B, 3, 10, Scope.NEIGHBOUR, b"", known, ()))
    assert [request.digest for request in asked(single, "b")] == [b""]


def test_only_the_neighbour_itself_asks_on_its_link():
    single = Single()
    single.joins("a")
    single.took(object)
    single.hears("a", SenderRequest(B, 1, 9, Scope.NEIGHBOUR, b"", (), ()), digest_of("b"))
    assert single.took(Send) == []


def test_however_quiet_it_is_neighbours_compare_every_30_to_60_seconds_and_not_all_at_once():
    single = Single()
    names = [f"neighbour-{number}" for number in range(6)]
    single.joins(*names)
    single.took(object)
    at_us = {name: [0] for name in names}
    for _ in range(6_000):
        single.waits(100 * MS)
        done, single.done = single.done, []
        for name in names:
            single.done = list(done)
            for request in single.took(SenderRequest, name):
                at_us[name].append(single.now_us)
                assert request.digest == own_digest(single)
    gaps = [later - earlier for times in at_us.values() for earlier, later in pairwise(times[2:])]
    assert len(gaps) > 50
    assert 29 * S <= min(gaps) < 35 * S
    assert 55 * S < max(gaps) <= 61 * S


def test_a_link_that_is_gone_leaves_nothing_behind():
    single = Single()
    before = len(single.core.core_state.timers)
    single.up("a")
    single.hears("a", digest_of("a"))
    single.down("a")
    assert len(single.core.core_state.timers) == before
    single.took(object)
    single.waits(100 * S)
    assert single.took(Send) == []


def test_what_an_older_session_says_is_not_heard():
    single = Single()
    single.up("a", session=1)
    single.up("a", session=2)
    single.took(object)
    single.hears("a", digest_of("a"), whole("a", 1, ONE), session=1)
    single.down("a", session=1)
    single.up("a", session=1)
    assert single.took(object) == []
    assert A not in single.core.core_state.rib.entries
    single.catches_up("a", session=2)
    assert is_told(single)


def test_when_routers_come_within_reach_neighbours_compare_once_more():
    single = Single()
    single.joins("a")
    single.up("b")
    single.waits(500 * MS)
    single.took(object)
    single.hears("a", state("a", 5, "me", "x"), state("x", 5, "a"))
    single.waits(100 * MS - 1)
    assert asked(single) == []
    single.waits(1)
    sends = [send for send in single.took(Send) if isinstance(send.body, SenderRequest)]
    assert [send.to for send in sends] == [(NeighbourSession(A, 1),), (NeighbourSession(B, 1),)]
    assert sends[0].body == SenderRequest(
        *(ME, 1, sends[0].body.request, Scope.NEIGHBOUR, own_digest(single), ()), spaces=NO_DIGEST
    )


def test_routers_that_come_one_after_the_other_do_not_put_it_off():
    single = Single()
    single.joins("a")
    single.waits(500 * MS)
    single.took(object)
    single.hears("a", state("a", 5, "me", "x"), state("x", 5, "a"))
    single.waits(60 * MS)
    single.hears("a", state("x", 6, "a", "y"), state("y", 6, "x"))
    single.waits(40 * MS)
    assert len(asked(single)) == 1


def test_where_routers_only_go_out_of_reach_nobody_compares():
    single = Single()
    single.joins("a")
    single.hears("a", state("a", 5, "me", "x"), state("x", 5, "a"))
    single.waits(5 * S)
    single.took(object)
    single.hears("a", state("a", 6, "me"))
    single.waits(5 * S)
    assert asked(single) == []


def test_an_answer_that_takes_long_to_list_goes_on_after_what_else_has_come():
    single = Single()
    single.joins("a")
    single.waits(3 * S)
    single.handle(Tick())
    link = single.core.core_state.links.by_neighbour[stable_number("a")]
    last = UpdateReply(link.neighbour, 1, 1, ())
    single.took(object)
    link.answer = iter([None, last])
    single.core._neighbours.answer_on(link)
    assert single.due_in(Due.ANSWER, link.neighbour) == 1
    single.waits(1)
    assert single.took(UpdateReply, "a") == [last]
    assert link.answer is None
