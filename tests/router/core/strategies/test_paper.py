"""Mode paper: the rules of paper 004 do what they say, the losses included."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from tamis.protocol.wire.numbers import predicate_digest, stable_number
from tamis.protocol.wire.routing_bodies import Held, ReceiverAdvertisement, Scope, SenderRequest, UpdateReply
from tamis.router.core.commands import Alarm, Audited, Install, NeighbourSession, Reached, Reroute, Send
from tamis.router.core.events import Audit, Await, FiltersAdded, FiltersRemoved
from tamis.router.core.statements.audit import REQUEST_BASE
from tamis.router.core.strategies.paper import ADVERTISE_EVERY_US, REQUEST_EVERY_US, WARNING, PaperCore
from tamis.router.core.strategies.paper_meaning import PAPER_PARTS
from tamis.router.core.times import MS, S
from tamis.simulate.twin.filter_index import PureIndex
from tests.router.core.bodies import change, entry, less, state, whole
from tests.router.core.single import Single
from tests.router.core.world import World

ME, A, B, X = map(stable_number, ("me", "a", "b", "x"))
LINE = ["abcd"[at : at + 2] for at in range(3)]


def running(links: list[str], for_us: int = 5 * S) -> World:
    world = World()
    for name in sorted({*"".join(links)}):
        world.start(name, core=PaperCore)
    for one, other in links:
        world.connect(one, other)
    world.run(for_us)
    return world


def interfaces(world: World, name: str) -> dict[str, set[bytes]]:
    """What stands for each interface in a router's table."""
    names = {core.me: other for other, core in world.cores.items()}
    return {names[at]: set(table.values()) for at, table in world.installed[name].items() if table}


def between() -> Single:
    """a - me - b, and x behind b."""
    single = Single(core=PaperCore)
    single.joins("a", "b")
    single.hears("b", state("b", 5, "me", "x"), state("x", 5, "b"))
    single.waits(5 * S)
    single.took(object)
    return single


def tree_request(requester: str, number: int = 1) -> SenderRequest:
    return SenderRequest(stable_number(requester), 1, REQUEST_BASE + number, Scope.TREE, b"", ())


def test_it_says_what_it_is_when_it_starts():
    core = PaperCore("me", 1)
    assert core.start(0)[0] == Alarm(WARNING)
    assert "paper" in WARNING
    assert "loses messages" in WARNING


# --- advertisements


def test_an_advertisement_widens_the_interface_it_came_by_all_along_the_tree():
    world = running(LINE)
    world.want("a", less(1))
    world.want("d", less(2))
    world.run(1 * S)
    assert interfaces(world, "b") == {"a": {less(1)}, "c": {less(2)}}
    assert interfaces(world, "c") == {"b": {less(1)}, "d": {less(2)}}


def test_it_goes_on_only_where_it_changed_the_predicate_and_only_down_the_tree():
    single = between()
    single.hears("a", whole("a", 9, {1: b"1"}))
    assert single.done == [Install(A, {1: b"1"}, ()), Send((NeighbourSession(B, 1),), whole("a", 9, {1: b"1"}))]
    single.took(object)
    single.hears("a", whole("a", 10, {7: b"1"}))
    assert single.took(object) == []
    single.hears("a", whole("a", 11, {8: b"1", 9: b"2"}))
    assert single.done == [
        Install(A, {2: b"2"}, ()),
        Send((NeighbourSession(B, 1),), whole("a", 11, {8: b"1", 9: b"2"})),
    ]
    single.took(object)
    single.hears("b", whole("x", 3, {1: b"3"}))
    assert single.done == [Install(B, {3: b"3"}, ()), Send((NeighbourSession(A, 1),), whole("x", 3, {1: b"3"}))]


def test_ones_own_advertisement_is_no_news():
    single = between()
    single.hears("a", whole("me", 99, {1: b"1"}))
    assert single.took(object) == []


def test_all_that_is_wanted_is_said_at_every_change_and_every_twenty_seconds():
    single = between()
    single.handle(FiltersAdded((less(1),)))
    single.waits(10 * S)
    single.took(object)
    single.handle(FiltersAdded((less(2),)))
    [body] = single.took(ReceiverAdvertisement, "a")
    filters = {1: less(1), 2: less(2)}
    digest = predicate_digest(filters.items())
    assert (body.issuer, body.full, body.base_seq, dict(body.added)) == (ME, True, 0, filters)
    assert (body.removed, body.digest, body.count, body.confirm) == ((), digest, 2, False)
    single.waits(ADVERTISE_EVERY_US - 1)
    assert single.took(ReceiverAdvertisement) == []
    single.waits(1)
    [again] = single.took(ReceiverAdvertisement, "b")
    assert (again.added, again.seq > body.seq) == (body.added, True)
    single.waits(ADVERTISE_EVERY_US)
    assert len(single.took(ReceiverAdvertisement, "b")) == 1


def test_a_stale_wide_predicate_swallows_an_advertisement_until_the_next_request():
    """The loss that ROUTING counts: c is not told what d wants again, as b's interface seems wide enough."""
    world = running(["ab", "bc", "cd"], for_us=1 * S)
    world.want("d", less(1))
    world.run(1 * S)
    world.want("c", less(1))
    world.run(1 * S)
    world.connect("a", "d")
    world.run(1 * S)
    assert interfaces(world, "a") == {"b": {less(1)}}, "d is behind d's own link by now: its messages go astray"
    world.run(2 * REQUEST_EVERY_US)
    assert interfaces(world, "a") == {"b": {less(1)}, "d": {less(1)}}


def test_predicates_only_widen_until_a_request_shrinks_them():
    world = running(LINE)
    world.want("a", less(1), less(2))
    world.run(1 * S)
    world.unwant("a", less(1))
    world.run(3 * S)
    assert interfaces(world, "d") == {"c": {less(1), less(2)}}
    world.run(REQUEST_EVERY_US)
    assert interfaces(world, "d") == {"c": {less(2)}}


def test_an_interface_that_goes_down_stands_for_nothing_any_more():
    single = between()
    single.hears("a", whole("a", 9, {1: b"1"}))
    single.took(object)
    single.down("a", session=9)
    assert single.took(Install) == []
    single.down("a")
    assert single.took(Install) == [Install(A, {}, (1,))]


# --- requests


def test_every_minute_the_whole_tree_is_asked():
    single = between()
    single.waits(REQUEST_EVERY_US - 5 * S - 1)
    single.took(object)
    single.waits(1)
    [request] = single.took(SenderRequest, "b")
    assert (request.requester, request.epoch, request.scope, request.digest) == (ME, 1, Scope.TREE, b"")
    assert request.request == REQUEST_BASE + 1
    single.waits(REQUEST_EVERY_US - 1)
    assert all(body.scope is not Scope.TREE for body in single.took(SenderRequest, "a"))
    single.waits(1)
    requests = [body for body in single.took(SenderRequest, "a") if body.scope is Scope.TREE]
    assert [body.request for body in requests] == [request.request + 1]


def test_a_leaf_answers_with_what_its_clients_want():
    single = Single(core=PaperCore)
    single.joins("a")
    single.handle(FiltersAdded((less(1),)))
    single.waits(1 * S)
    single.took(object)
    single.hears("a", tree_request("a"))
    [reply] = single.took(UpdateReply, "a")
    assert reply.ticket == tree_request("a").ticket
    version = single.core.core_state.identity.version
    assert reply.entries == (entry("me", version.seq, {1: less(1)}),)


def test_who_has_others_below_answers_when_they_have():
    single = between()
    single.handle(FiltersAdded((less(1),)))
    single.took(object)
    request = tree_request("a")
    single.hears("a", request)
    assert single.took(Send) == [Send((NeighbourSession(B, 1),), request)]
    single.hears("a", UpdateReply(*request.ticket, (entry("b", 3, {1: b"not of below"}),)))
    assert single.took(Send) == []
    single.hears("b", UpdateReply(*request.ticket, (entry("b", 3, {1: less(2), 2: less(1)}),)))
    [reply] = single.took(UpdateReply, "a")
    assert [dict(told.filters) for told in reply.entries] == [{1: less(1), 2: less(2)}]
    single.hears("b", UpdateReply(*request.ticket, ()))
    single.waits(5 * S)
    assert single.took(UpdateReply) == []


def test_who_waits_in_vain_answers_with_what_there_is_after_a_second():
    single = between()
    single.hears("a", tree_request("a", 1), tree_request("a", 2))
    single.took(object)
    single.waits(1 * S - 1)
    assert single.took(UpdateReply) == []
    single.waits(1)
    assert [reply.request - REQUEST_BASE for reply in single.took(UpdateReply, "a")] == [1, 2]
    for number in (3, 4, 5):
        single.hears("a", tree_request("a", number))
        single.waits(100 * MS)
    single.took(object)
    for number in (3, 4, 5):
        single.waits(700 * MS if number == 3 else 100 * MS)
        assert [reply.request - REQUEST_BASE for reply in single.took(UpdateReply, "a")] == [number]


def test_a_request_that_comes_by_another_way_than_the_tree_is_not_heard():
    single = between()
    single.hears("b", tree_request("a"))
    assert single.took(Send) == []


def test_whoever_asked_and_is_gone_gets_no_answer():
    single = between()
    single.hears("a", tree_request("a"))
    single.down("a")
    single.took(Send)
    single.waits(1 * S)
    assert single.took(UpdateReply) == []


def test_answers_replace_what_stands_for_the_interface_they_came_by():
    single = between()
    single.hears("b", whole("b", 3, {1: b"1", 2: b"2"}))
    single.took(object)
    single.handle(Audit(5))
    done = list(single.done)
    assert single.took(Audited) == [Audited(5, 0, ())]
    single.done = done
    [request] = single.took(SenderRequest, "b")
    single.hears("b", UpdateReply(*request.ticket, (entry("b", 4, {1: b"2", 2: b"3"}),)))
    assert single.took(Install) == [Install(B, {3: b"3"}, (1,))]
    single.hears("b", UpdateReply(ME, 1, 1, (entry("b", 4, {}),)))
    assert single.took(Install) == [], "an answer to a neighbour's comparison says nothing of predicates"


# --- what is as in the other modes, and what is not there


def test_neighbours_compare_link_states_only():
    single = between()
    single.hears("a", whole("a", 9, {1: b"1"}))
    assert single.core._exchange.vectors()[0] == ()
    assert len(single.core._exchange.vectors()[1]) == 4


def test_nobody_confirms_and_nobody_waits():
    single = between()
    single.handle(Await(7))
    assert single.took(Reached) == [Reached(7)]
    single.hears("a", whole("a", 9, {1: b"1"}, confirm=True))
    single.waits(1 * S)
    assert single.took(Held) == []


def test_what_is_waited_for_is_said_without_waiting():
    single = between()
    single.handle(FiltersAdded((less(1),), ticket=7))
    done = single.took(object)
    assert Reached(7) in done
    said = {body.added for body in done if isinstance(body, ReceiverAdvertisement)}
    assert [[packed for _, packed in added] for added in said] == [[less(1)]]


def test_unwanted_filters_are_left_out_after_their_hold():
    single = between()
    single.handle(FiltersAdded((less(1), less(2))))
    single.handle(FiltersRemoved((less(1),)))
    single.waits(2 * S)
    assert dict(single.took(ReceiverAdvertisement, "a")[-1].added) == {2: less(2)}


@pytest.mark.parametrize("broadcast", ["source-trees", "shared-tree", "reverse-path"])
def test_below_a_child_is_the_child_itself(broadcast):
    single = Single(core=PaperCore, broadcast=broadcast)
    single.joins("a", "b")
    single.hears("b", state("b", 5, "me", "x"), state("x", 5, "b"))
    single.waits(1 * S)
    trees = single.took(Reroute)[-1].trees
    assert trees.below(A) == {B: B}
    assert trees.below(ME) == {A: A, B: B}
    assert (trees.me, trees.routers) == (ME, {ME, A, B, X})
    assert (trees.next_hop(X), trees.parent(X), trees.children(X)) == (B, B, (A,))
    assert trees.hop_limit() == 2 * 2 + 4


def test_changes_follow_one_another_no_faster_than_in_the_other_modes():
    single = between()
    single.waits(1 * S)
    single.took(object)
    for bound in range(5):
        single.handle(FiltersAdded((less(bound),)))
        single.waits(1 * MS)
    assert len(single.took(ReceiverAdvertisement, "a")) == 1
    single.hears("a", change("a", 1, 2, {}, {1: b"1"}))
    assert single.took(Install) == [Install(A, {1: b"1"}, ())]


# --- what is compared: by meaning, and by bytes


def test_an_advertisement_stops_where_the_predicate_means_the_same():
    """The predicate of b's interface is `x < 10` already: what x < 5 matches, that matches."""
    parts = replace(PAPER_PARTS, index=PureIndex)
    single = Single(core=partial(PaperCore, parts=parts))
    single.joins("a", "b")
    single.hears("b", state("b", 5, "me", "x"), state("x", 5, "b"))
    single.waits(5 * S)
    single.took(object)
    single.hears("a", whole("a", 9, {1: less(10)}))
    assert len(single.took(ReceiverAdvertisement, "b")) == 1
    single.took(object)
    single.hears("a", whole("a", 10, {1: less(10), 2: less(5)}))
    assert single.took(object) == []
    single.hears("a", whole("a", 11, {1: less(10), 2: less(20), 3: less(15)}))
    assert single.took(Install) == [Install(A, {2: less(20)}, ())]
    single.down("a")
    assert single.took(Install) == [Install(A, {}, (1, 2))]
    single.joins("a", session=2)
    single.took(object)
    single.hears("a", whole("a", 12, {1: less(5)}), session=2)
    assert single.took(Install) == [Install(A, {3: less(5)}, ())]
