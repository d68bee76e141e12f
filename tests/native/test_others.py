"""A switch among others as Python drives it: filters of routers, routes, links, trails."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest

from tamis.native import (
    Admission,
    Batch,
    EventType,
    Gone,
    SlowPolicy,
    SubscribeFrame,
    Switch,
    SwitchEvent,
    SwitchOptions,
    Table,
    Trace,
    bad_filters,
)
from tamis.protocol.language import parse
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.codes import ErrorCode, RefusalCode
from tamis.protocol.wire.data_frames import DataFrame, encode_data, encode_publish
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.header import Flags, Transit
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.routing_bodies import of_group
from tamis.protocol.wire.session_bodies import Ping

ME, WEST, EAST, FAR = 1, 10, 20, 30
ALICE = 7
WINDOW = 1_048_576
LINK = Admission(WEST, WINDOW, 0, 0, WINDOW, 0, 60_000, 60_000, 0, SlowPolicy.DROP_NEWEST, is_link=True)
CLIENT = Admission(ALICE, WINDOW, WINDOW, 100, WINDOW, 1_000, 60_000, 60_000, 0, SlowPolicy.DROP_NEWEST)
EVERYTHING = encode_filter(parse("true").filters[0])


def packed(predicate: str) -> bytes:
    return encode_filter(parse(predicate).filters[0])


def message(source: int = WEST, counter: int = 1, **attributes: int) -> DataFrame:
    body = Message(attributes or {"x": 1}, b"...", MessageId(99, counter))
    return DataFrame(FrameKind.PUBLISH, body, hop_limit=5, transit=Transit(source, 4, counter))


class Router:
    """west -- me -- east -- far, with one client, Alice."""

    def __init__(self, forwarding: str = "wanted") -> None:
        self.table, self.network = Table(), Table()
        options = SwitchOptions(number=ME, epoch=2, connections_max=9, publishers_max=10, hop_limit=9)
        self.switch = switch = Switch(self.table, options)
        switch.join(self.network, 10, forwarding)
        self.west, self.east, self.alice = (self.opened(a) for a in (LINK, replace(LINK, number=EAST), CLIENT))
        self.generation = switch.begin_routes(6)
        assert switch.route(self.generation, ME, None, {WEST: WEST, EAST: EAST, FAR: EAST})
        assert switch.route(self.generation, WEST, WEST, {EAST: EAST, FAR: EAST})
        switch.commit(0)

    def opened(self, admission: Admission) -> int:
        connection = self.switch.open()
        assert connection is not None
        self.switch.admit(connection, admission)
        return connection

    def feed(self, connection: int, frame: DataFrame) -> list[SwitchEvent]:
        events = self.switch.feed(connection, encode_data(frame))
        return [event for event in events if event.type != EventType.OUTPUT]

    def sent(self, connection: int) -> list[object]:
        reader = FrameReader()
        reader.authenticated()
        while data := self.switch.output(connection, WINDOW):
            reader.feed(data)
        return [body for body in map(decode, reader) if not isinstance(body, bodies.Credit)]

    def subscribe(self, id_: int, predicate: str) -> None:
        wanted = bodies.Subscribe(
            1, (bodies.SubscriptionItem(id_, (packed(predicate),)),), True, bodies.Reach.HOME, False
        )
        assert self.switch.subscribe(self.switch.subscriber_of(self.alice), SubscribeFrame(encode(wanted)), 10) == []

    def dropped(self, reason: str) -> int:
        from tamis.native.switch_figures import DROP_REASONS

        return self.switch.figures().dropped[DROP_REASONS.index(reason)]

    def close(self) -> None:
        self.switch.validate()
        self.switch.close()
        self.table.close()
        self.network.close()


@pytest.fixture
def router():
    made = Router()
    yield made
    made.close()


# --- filters of others -----------------------------------------------------------------------------------------------


def test_filters_are_installed_and_refused_singly(router):
    refused = router.switch.install(FAR, {1: packed("x = 1"), 2: b"\xc1", 3: packed("y = 1")})
    assert refused == {2: RefusalCode.BAD_FILTER}
    assert router.switch.install(FAR, {1: EVERYTHING}) == {1: RefusalCode.ID_IN_USE}
    assert router.switch.install(EAST, {1: EVERYTHING}) == {}
    assert router.switch.figures().remote_filters == 3
    assert router.switch.uninstall(FAR, [3, 9]) == [9]
    assert router.switch.uninstall(77, [3]) == [3]
    assert router.switch.figures().remote_filters == 2


def test_routers_that_want_a_message_are_named(router):
    assert router.switch.wanting({"x": 1}) == []
    router.switch.install(FAR, {1: packed("x = 1"), 2: packed("x > 0")})
    router.switch.install(EAST, {1: packed("x = 1")})
    assert router.switch.wanting({"x": 1}) == sorted([EAST, FAR])
    assert router.switch.wanting({"x": 2}) == [FAR]
    assert router.switch.wanting({"y": 2}) == []
    router.switch.install(555, {1: packed("y = 2")})
    assert router.switch.wanting({"y": 2}) == [555]
    router.switch.uninstall(555, [1])
    assert router.switch.wanting({"y": 2}) == []


def test_a_router_is_forgotten_in_steps(router):
    router.switch.install(FAR, {number: packed(f"x = {number}") for number in range(10)})
    assert [router.switch.forget_router(FAR, 4) for _ in range(3)] == [6, 2, 0]
    assert router.switch.forget_router(FAR, 4) == 0
    assert router.network.stats().filters == 0


def test_filters_of_groups_are_held_apart(router):
    shared = of_group(packed("x = 1"), "workers", 4)
    assert router.switch.install(FAR, {1: shared}) == {1: RefusalCode.ID_IN_USE}, "there is no table for them"
    table = Table()
    router.switch.share(table)
    assert router.switch.install(FAR, {1: shared, 2: packed("x = 2"), 3: of_group(b"\xc1", "workers")}) == {
        3: RefusalCode.BAD_FILTER
    }
    assert router.switch.install(FAR, {1: shared}) == {1: RefusalCode.ID_IN_USE}
    assert (router.network.stats().filters, table.stats().filters) == (1, 1)
    assert router.switch.wanting({"x": 1}) == []
    router.feed(router.west, message(x=1))
    assert router.sent(router.east) == [], "nobody was chosen"
    assert router.switch.uninstall(FAR, [1, 2, 3]) == [3]
    assert table.stats().filters == 0
    router.switch.install(FAR, {number: of_group(packed("x = 1"), f"g{number}") for number in range(5)})
    router.switch.install(FAR, {5: packed("x = 1")})
    assert [router.switch.forget_router(FAR, 3) for _ in range(3)] == [3, 0, 0]
    router.switch.validate()
    with pytest.raises(RuntimeError, match="misused"):
        router.switch.share(Table())


def test_nobody_speaks_of_a_router_that_has_gone(router):
    assert router.switch.figures().routers == 4
    router.switch.install(555, {1: EVERYTHING})
    assert router.switch.figures().routers == 5
    router.switch.uninstall(555, [1])
    assert router.switch.figures().routers == 4
    router.switch.begin_routes(6)
    router.switch.commit(0)
    assert router.switch.figures().routers == 3  # FAR is in no route; the links are still there


def test_filters_of_a_neighbour_are_checked_without_being_kept():
    filters = Batch.of([packed("x = 1"), b"", EVERYTHING, b"\x91\x93"])
    assert bad_filters(filters) == [1, 3]
    assert bad_filters(Batch(b"", array("Q", [0]))) == []


def test_own_filters_are_not_those_of_another_router(router):
    with pytest.raises(RuntimeError):
        router.switch.install(ME, {1: EVERYTHING})


# --- ways ------------------------------------------------------------------------------------------------------------


def test_a_message_passes_through(router):
    router.switch.install(FAR, {1: packed("x = 1")})
    assert router.feed(router.west, message()) == []
    assert router.sent(router.east) == [replace(message(), hop_limit=4)]
    assert router.sent(router.west) == []
    figures = router.switch.figures()
    assert (figures.messages_in, figures.forwarded, figures.deliveries) == (1, 1, 0)


def test_a_message_enters(router):
    router.switch.install(FAR, {1: packed("x = 1")})
    router.switch.raise_epoch(8)
    router.switch.feed(router.alice, encode_publish(ALICE, 5, 0, {"x": 1}, b"..."))
    [sent] = router.sent(router.east)
    assert (sent.transit, sent.hop_limit, sent.message.id) == (Transit(ME, 8, 1), 6, MessageId(ALICE, 5))


def test_what_a_client_had_already_still_goes_on(router):
    router.subscribe(3, "x = 1")
    router.switch.install(EAST, {1: EVERYTHING})
    for counter in (1, 2):
        router.feed(router.west, replace(message(), transit=Transit(WEST, 4, counter)))
    assert len(router.sent(router.alice)) == 1
    assert len(router.sent(router.east)) == 2
    assert router.dropped("duplicate") == 1


def test_a_message_without_a_route_comes_up_and_is_taken_again(router):
    router.switch.install(WEST, {1: EVERYTHING})
    strange = message(source=FAR)
    [event] = router.feed(router.east, strange)
    assert (event.type, event.connection, event.frame) == (EventType.UNROUTED, router.east, encode_data(strange))
    assert router.switch.route(router.generation, FAR, EAST, {WEST: WEST})
    router.switch.retake(event.connection, event.frame)
    assert router.sent(router.west) == [replace(strange, hop_limit=4)]
    assert router.dropped("no_route") == 0


def test_a_message_that_never_has_a_route_is_dropped(router):
    [event] = router.feed(router.east, message(source=12345))
    router.switch.retake(event.connection, event.frame)
    assert router.dropped("no_route") == 1
    router.switch.end(router.east, now=True)
    with pytest.raises(Gone):
        router.switch.retake(event.connection, event.frame)


def test_a_generation_that_is_over_takes_no_routes(router):
    router.switch.begin_routes(6)
    router.switch.commit(0)
    assert not router.switch.route(router.generation, FAR, EAST, {})
    with pytest.raises(RuntimeError):
        router.switch.commit(0)


def test_generations_are_four_at_most(router):
    for _ in range(9):
        router.switch.begin_routes(6)
        router.switch.commit(60_000)
    assert router.switch.figures().generations == 4
    router.switch.advance(60_000)
    router.switch.tick()
    assert router.switch.figures().generations == 1


# --- links -----------------------------------------------------------------------------------------------------------


def test_who_may_send_what(router):
    [fault] = router.feed(router.west, message(source=0))
    assert (fault.type, fault.code) == (EventType.FAULT, ErrorCode.WRONG_SENDER)
    [fault] = router.feed(router.alice, replace(message(), message=Message({}, b"", MessageId(ALICE, 1))))
    assert fault.code == ErrorCode.WRONG_SENDER
    [fault] = router.feed(router.east, replace(message(), kind=FrameKind.DELIVER))
    assert fault.code == ErrorCode.UNEXPECTED_KIND


def test_a_link_has_neither_credit_nor_another_policy(router):
    for bad in (replace(LINK, credit_bytes=1), replace(LINK, policy=SlowPolicy.BLOCK), replace(LINK, number=ME)):
        connection = router.switch.open()
        with pytest.raises(Gone):
            router.switch.admit(connection, bad)
        router.switch.end(connection, now=True)
        router.switch.tick()
        router.switch.forget(connection, 1)
    assert router.sent(router.west) == []


def test_a_new_session_takes_the_place_of_the_old(router):
    router.switch.install(EAST, {1: EVERYTHING})
    again = router.opened(replace(LINK, number=EAST))
    router.feed(router.west, message())
    assert (len(router.sent(router.east)), len(router.sent(again))) == (0, 1)
    router.switch.end(router.east, now=True)
    router.feed(router.west, message(counter=2))
    assert len(router.sent(again)) == 1
    router.switch.end(again, now=True)
    router.feed(router.west, message(counter=3))
    assert router.dropped("no_link") == 1
    assert (router.switch.unlinked(), router.switch.unlinked()) == ({EAST: 1}, {})


def test_a_link_that_is_full_drops_the_newest_which_is_known_until_somebody_asks(router):
    narrow = router.opened(replace(LINK, number=EAST, queue_bytes_max=400))
    router.switch.install(EAST, {1: EVERYTHING})
    for counter in range(1, 9):
        router.feed(router.west, message(counter=counter))
    router.switch.send(narrow, encode(Ping(3)))
    first, *others = router.sent(narrow)
    assert first == Ping(3)
    assert [frame.transit.counter for frame in others] == list(range(1, len(others) + 1))
    assert 1 < len(others) < 8
    [link_drops] = router.switch.link_drops()
    assert (link_drops.neighbour, link_drops.messages) == (EAST, 8 - len(others))
    assert router.dropped("queue_full") == 8 - len(others)


def test_a_strange_extension_that_must_be_understood_is_dropped_in_silence(router):
    known = encode_data(replace(message(), extensions={0x0077: b"?"}))
    events = router.switch.feed(router.west, known.replace(b"\x77\x00\x01\x00?", b"\x77\x80\x01\x00?"))
    assert {event.type for event in events} <= {EventType.OUTPUT}
    assert router.dropped("extension") == 1


# --- trails ----------------------------------------------------------------------------------------------------------


def traced(frame: DataFrame, kind: FrameKind = FrameKind.PUBLISH) -> DataFrame:
    return replace(frame, kind=kind, flags=Flags.TRACED, extensions={ExtensionType.TRACE: 55})


@pytest.mark.parametrize("kind", [FrameKind.PUBLISH, FrameKind.DRY_RUN])
def test_a_traced_message_leaves_a_trail(router, kind):
    is_dry = kind is FrameKind.DRY_RUN
    router.subscribe(3, "x = 1")
    router.switch.install(FAR, {6: packed("x = 1")})
    router.switch.install(WEST, {7: EVERYTHING})
    [event] = router.feed(router.west, traced(message(), kind))
    trace = Trace.read(event.frame)
    assert (event.type, event.kind, trace.trace, trace.source, trace.came_from) == (
        EventType.TRACED,
        kind,
        55,
        WEST,
        WEST,
    )
    assert (trace.hop_limit, trace.is_dry, trace.dropped) == (5, is_dry, "")
    assert (trace.satisfied, trace.matched, trace.links) == (((ALICE, 3),), ((FAR, 6),), (EAST,))
    assert (trace.clients, trace.clients_count) == (((), 0) if is_dry else ((ALICE,), 1))
    assert (trace.satisfied_count, trace.matched_count, trace.links_count) == (1, 1, 1)
    assert 0 < trace.arrived_ns <= trace.queued_ns
    assert trace.match_ns > 0
    assert [frame.kind for frame in router.sent(router.east)] == [kind]
    assert len(router.sent(router.alice)) == (not is_dry)


def test_a_trail_says_why_it_ends(router):
    [taken] = router.feed(router.west, traced(message()))
    [again] = router.feed(router.west, traced(message()))
    [astray] = router.feed(router.east, traced(message(counter=2)))
    assert [Trace.read(event.frame).dropped for event in (taken, again, astray)] == ["", "transit", "parent"]


def test_a_trail_lists_some_and_counts_all(router):
    for number in range(300):
        router.subscribe(number, "x = 1")
    [event] = router.feed(router.west, traced(message()))
    trace = Trace.read(event.frame)
    assert (len(trace.satisfied), trace.satisfied_count) == (256, 300)


# --- numbers that are too large --------------------------------------------------------------------------------------

TOP = 2**64 - 1


def stamped(counter: int, epoch: int = 4, transit: int | None = None) -> DataFrame:
    """A message of FAR; `transit` is its number on the way, if it is another than the publisher's."""
    return replace(message(counter=counter), transit=Transit(FAR, epoch, counter if transit is None else transit))


@pytest.fixture
def two_ways(router):
    """Messages of FAR are taken from both neighbours: one topology follows another."""
    router.subscribe(3, "x = 1")
    router.switch.route(router.generation, FAR, EAST, {})
    generation = router.switch.begin_routes(6)
    router.switch.route(generation, FAR, WEST, {})
    router.switch.commit(2_000)
    return router


def heard(router, connection: int, *frames: DataFrame) -> list[int]:
    """The publisher's counters of those that were delivered."""
    for frame in frames:
        router.feed(connection, frame)
    return [body.message.id.counter for body in router.sent(router.alice)]


def test_an_epoch_that_is_not_believed_mutes_nobody(two_ways):
    two_ways.switch.bound_epochs(9)
    absurd = [stamped(1, epoch) for epoch in (10, 2**63 - 1, 2**63, TOP)]
    assert heard(two_ways, two_ways.east, *absurd) == []
    assert two_ways.dropped("epoch") == 4
    assert heard(two_ways, two_ways.west, stamped(2), stamped(3, 9)) == [2, 3]


@pytest.mark.parametrize("leap", [{"epoch": 9, "transit": 1}, {"transit": TOP}, {"transit": 2**63}])
def test_a_leap_of_a_parent_that_is_none_any_more_mutes_nobody(two_ways, leap):
    assert heard(two_ways, two_ways.west, stamped(1), stamped(2)) == [1, 2]
    assert heard(two_ways, two_ways.east, stamped(3, **leap)) == [3]
    assert heard(two_ways, two_ways.west, stamped(4)) == [], "both ways are in force: it may have come by the other"
    two_ways.switch.advance(2_000)
    two_ways.switch.tick()
    assert heard(two_ways, two_ways.west, stamped(5), stamped(5), stamped(6)) == [5, 6]
    assert heard(two_ways, two_ways.east, stamped(7, 9, TOP)) == []


def test_a_leap_of_the_only_parent_is_its_sources(two_ways):
    two_ways.switch.advance(2_000)
    two_ways.switch.tick()
    assert heard(two_ways, two_ways.west, stamped(1), stamped(2, 9), stamped(3), stamped(4, 9, TOP), stamped(5, 9)) == [
        *(1, 2, 4)
    ]


def test_a_refused_epoch_of_one_source_does_not_mute_its_lower_one(two_ways):
    assert heard(two_ways, two_ways.east, stamped(1, 9)) == [1], "taken before its statement was refused"
    two_ways.switch.bound_source(FAR, 8)
    assert heard(two_ways, two_ways.east, stamped(2, 9)) == []
    assert heard(two_ways, two_ways.west, stamped(3, 8, 1), stamped(4, 8, 2)) == [3, 4]
    two_ways.switch.bound_source(FAR, TOP)
    assert heard(two_ways, two_ways.west, stamped(5, 10, 1)) == [5]
    two_ways.switch.bound_source(FAR, 8)
    two_ways.switch.forget_source(FAR)
    assert heard(two_ways, two_ways.west, stamped(6, 9, 1)) == [6]
