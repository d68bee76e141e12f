"""R10: a request to the whole tree: everybody answers, and what differs is put right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.routing_bodies import Scope, SenderRequest, UpdateReply
from tamis.protocol.wire.whole import Ticket
from tamis.router.core.commands import Audited, NeighbourSession, Send
from tamis.router.core.events import Audit
from tamis.router.core.statements import sizes
from tamis.router.core.statements.audit import PASSING_MAX, REQUEST_BASE
from tamis.router.core.statements.freshness import Version
from tamis.router.core.times import MS, S
from tests.router.core.bodies import less, state
from tests.router.core.single import Single
from tests.router.core.world import World

ME, A, B, X = map(stable_number, ("me", "a", "b", "x"))
TREE = [("a", "b"), ("b", "c"), ("b", "d"), ("d", "e")]
RING = [*TREE, ("e", "a"), ("c", "e")]


def quiet(links: list[tuple[str, str]]) -> World:
    world = World("abcde", links)
    for bound, name in enumerate("abcde"):
        world.want(name, less(bound))
    world.run(5 * S)
    world.check()
    world.sent.clear()
    return world


@pytest.mark.parametrize("links", [TREE, RING])
def test_everybody_answers_once_and_nobody_differs(links):
    world = quiet(links)
    world.handle("c", Audit(7))
    world.run(1 * S)
    assert world.audited == [Audited(7, 4, ())]
    assert world.frames(SenderRequest) == 4, "one for each router, along the tree"


def test_alone_there_is_nobody_to_ask():
    world = World("a")
    world.handle("a", Audit(7))
    assert world.audited == [Audited(7, 0, ())]


@pytest.mark.parametrize("at", ["a", "b", "e"])
@pytest.mark.parametrize("seq", [-1, 0, 1], ids=["older", "as fresh", "newer"])
@pytest.mark.parametrize("asker", ["a", "d"])
def test_a_router_that_differs_is_named_and_everybody_agrees_afterwards(at, seq, asker):
    world = quiet(RING)
    world.tamper(at, "d", seq, {9: b"other"})
    world.handle(asker, Audit(7))
    world.run(2 * S)
    [audited] = world.audited
    assert audited.answered == 4
    if at != asker:
        assert world.cores[at].me in audited.differing
    world.check()
    assert world.asked_of(at)["d"] == {less(3)}


def test_link_states_that_differ_are_put_right_too():
    world, c = quiet(TREE), stable_number("c")
    for name in "ad":
        states = world.cores[name].core_state.topology.states
        states[c] = states[c]._replace(version=Version(1, 1), body=state("c", 1, "b"))
    world.handle("a", Audit(7))
    world.run(1 * S)
    assert set(world.audited[0].differing) == {world.cores[name].me for name in "bce"}
    assert len({core.core_state.topology.states[c].version for core in world.cores.values()}) == 1


def test_an_audit_that_not_everybody_answers_ends_after_five_seconds():
    world = quiet(TREE)
    world.lose = [UpdateReply]
    world.handle("a", Audit(7))
    world.run(5 * S - 1)
    assert world.audited == []
    world.run(1)
    [audited] = world.audited
    assert audited.ticket == 7
    assert audited.answered < 4
    world.handle("a", Audit(8))
    world.run(1 * S)
    assert world.audited[1:] == [Audited(8, 4, ())]
    world.run(20 * S)
    assert len(world.audited) == 2


def test_audits_at_the_same_time_do_not_mix():
    world = quiet(RING)
    world.handle("a", Audit(7))
    world.handle("a", Audit(8))
    world.handle("e", Audit(9))
    world.run(1 * S)
    assert sorted(world.audited, key=lambda audited: audited.ticket) == [Audited(at, 4, ()) for at in (7, 8, 9)]


# --- on the way


def between() -> Single:
    """a - me - b, and x behind b."""
    single = Single()
    single.joins("a", "b")
    single.hears("b", state("b", 5, "me", "x"), state("x", 5, "b"))
    single.waits(5 * S)
    single.took(object)
    return single


def request(single: Single, requester: int = A, number: int = 1) -> SenderRequest:
    known, topology = single.core._exchange.vectors()
    return SenderRequest(requester, 1, REQUEST_BASE + number, Scope.TREE, b"", known, topology)


def test_it_comes_from_the_parent_goes_down_the_tree_and_is_answered_once():
    single = between()
    body = request(single)
    single.hears("b", body)
    single.hears("a", request(single, B))
    assert single.took(Send) == []
    single.hears("a", body)
    assert single.took(Send) == [
        Send((NeighbourSession(B, 1),), body),
        Send((NeighbourSession(A, 1),), UpdateReply(*body.ticket, (), False, 1, ())),
    ]
    single.hears("a", body)
    assert single.took(Send) == []


def test_answers_go_back_the_way_the_request_came_and_those_nobody_asked_for_go_nowhere():
    single = between()
    body = request(single)
    single.hears("a", body)
    single.took(Send)
    answer = UpdateReply(*body.ticket, (), False, 1, (B,))
    single.hears("b", answer)
    assert single.took(Send) == [Send((NeighbourSession(A, 1),), answer)]
    single.hears("b", replace(answer, request=REQUEST_BASE + 9), replace(answer, epoch=2))
    assert single.took(Send) == []
    single.down("a")
    single.took(Send)
    single.hears("b", answer)
    assert single.took(Send) == []


def test_a_long_answer_counts_as_one_router(monkeypatch):
    monkeypatch.setattr(sizes, "STATEMENT_BYTES_MAX", 1)
    single = between()
    single.core.core_state.rib.entries[ME].filters[1] = b"1"
    single.core.core_state.rib.entries[X] = replace(single.core.core_state.rib.entries[ME], filters={1: b"2"})
    single.hears("a", replace(request(single), known=()))
    replies = single.took(UpdateReply, "a")
    assert [(reply.more, reply.answered, reply.differing) for reply in replies] == [(True, 0, ()), (False, 1, (ME,))]


def test_who_lacks_something_asks_for_it():
    single = between()
    body = request(single)
    known = tuple(known._replace(seq=known.seq + (known.issuer != ME)) for known in body.topology)
    single.hears("a", replace(body, topology=known))
    done, single.done = single.done, []
    single.done = list(done)
    assert single.took(UpdateReply, "a")[0].differing == (ME,)
    single.done = done
    assert [asked.scope for asked in single.took(SenderRequest, "a")] == [Scope.NEIGHBOUR]


def test_of_many_audits_the_oldest_are_not_passed_back_any_more():
    single = between()
    for number in range(PASSING_MAX + 1):
        single.hears("a", request(single, number=number))
    single.took(Send)
    for number, passes in ((0, False), (1, True), (PASSING_MAX, True)):
        single.hears("b", UpdateReply(*Ticket(A, 1, REQUEST_BASE + number), ()))
        assert bool(single.took(UpdateReply, "a")) is passes


def test_requests_of_audits_are_numbered_apart_from_those_to_neighbours():
    single = between()
    single.handle(Audit(1))
    single.handle(Audit(2))
    requests = [body.request for body in single.took(SenderRequest, "b")]
    assert requests == [REQUEST_BASE + 1, REQUEST_BASE + 2]
    assert REQUEST_BASE > 2**31
    single.waits(100 * MS)
    single.hears("a", UpdateReply(ME, 1, requests[0], (), False, 2, (A,)))
    single.hears("b", UpdateReply(ME, 1, requests[0], (), False, 1, (B, A)))
    assert single.took(Audited) == [Audited(1, 3, (A, B))]
