"""Sets of routers in one switch (R13): when they are written and believed, who gets them, who may not write them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tamis.native import EventType
from tamis.native._tm import lib
from tamis.protocol import limits
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.data_frames import DataFrame, encode_data
from tamis.protocol.wire.extensions import Extensions, ExtensionType, ReuseKeys, Route, RouteMode, RouterSet
from tamis.protocol.wire.kinds import FrameKind
from tests.native.test_others import ALICE, EAST, EVERYTHING, FAR, LINK, ME, WEST, Router, message, packed

DIGEST = bytes(range(16))
HELD = (ME, WEST, EAST, FAR)
AT_EAST, AT_FAR, NOBODY = b"\x04", b"\x08", b"\x00"
"""Members, by their places in HELD."""
CROWD = {id_: packed("y = 7") for id_ in range(100, 140)}


@pytest.fixture
def router() -> Iterator[Router]:
    made = Router("destinations")
    made.newer = made.opened(replace(LINK, number=EAST, takes_route=True, takes_set=True))  # type: ignore[attr-defined]
    made.switch.install(FAR, CROWD)
    made.switch.hold(DIGEST, HELD)
    yield made
    made.close()


def sent(router: Router, connection: int) -> list[DataFrame]:
    return [frame for frame in router.sent(connection) if isinstance(frame, DataFrame)]


def published(counter: int, **attributes: int) -> DataFrame:
    return DataFrame(FrameKind.PUBLISH, Message(attributes or {"x": 1}, b"", MessageId(ALICE, counter)))


def stated(members: bytes, counter: int = 1, digest: bytes = DIGEST, others: Extensions | None = None) -> DataFrame:
    extensions = {ExtensionType.ROUTE: RouterSet(digest, members), **(others or {})}
    return replace(message(counter=counter), extensions=extensions)


def figures(router: Router) -> tuple[int, int, int]:
    found = router.switch.figures()
    return found.sets_written, found.sets_believed, found.sets_stale


def test_a_message_that_enters_gets_the_set_of_those_that_want_it(router):
    router.switch.install(EAST, {1: EVERYTHING})
    router.feed(router.alice, published(1))
    router.feed(router.alice, published(2, y=7))
    assert [frame.extensions for frame in sent(router, router.newer)] == [
        {ExtensionType.ROUTE: RouterSet(DIGEST, AT_EAST)},
        {ExtensionType.ROUTE: RouterSet(DIGEST, b"\x0c")},
    ]
    assert figures(router) == (2, 0, 0)


@pytest.mark.parametrize("why", ["few filters", "no digest", "two generations", "nobody wants it"])
def test_none_is_written(router, why):
    if why != "nobody wants it":
        router.switch.install(EAST, {1: EVERYTHING})
    if why == "few filters":
        router.switch.uninstall(FAR, CROWD)
    elif why == "no digest":
        router.switch.hold(None)
    elif why == "two generations":
        generation = router.switch.begin_routes(6)
        router.switch.route(generation, ME, None, {EAST: EAST, FAR: EAST})
        router.switch.commit(60_000)
    router.feed(router.alice, published(1))
    assert [frame.extensions for frame in sent(router, router.newer)] == [{}] * (why != "nobody wants it")
    assert figures(router) == (0, 0, 0)


def test_a_set_of_equal_tables_is_believed_whatever_the_table_says(router):
    router.switch.install(EAST, {1: EVERYTHING})
    for counter, (members, copies) in enumerate(((AT_FAR, 1), (AT_EAST, 1), (NOBODY, 0), (b"\x13", 0)), 1):
        router.feed(router.west, stated(members, counter))
        found = sent(router, router.newer)
        assert [frame.extensions for frame in found] == [{ExtensionType.ROUTE: RouterSet(DIGEST, members)}] * copies
        assert [frame.hop_limit for frame in found] == [4] * copies
    assert figures(router) == (0, 4, 0)


@pytest.mark.parametrize("why", ["digest", "size", "no digest", "another policy"])
def test_any_other_is_passed_on_and_the_message_is_matched(router, why):
    if why == "another policy":
        router.close()
        router.__init__()
        router.newer = router.opened(replace(LINK, number=EAST, takes_route=True, takes_set=True))
    elif why == "no digest":
        router.switch.hold(None)
    router.switch.install(EAST, {1: EVERYTHING})
    members = NOBODY * (2 if why == "size" else 1)
    digest = bytes(16) if why == "digest" else DIGEST
    router.feed(router.west, stated(members, digest=digest))
    [copy] = sent(router, router.newer)
    assert copy.extensions == {ExtensionType.ROUTE: RouterSet(digest, members)}
    assert figures(router) == (0, 0, 0 if why == "another policy" else 1)


def test_its_own_clients_are_asked_whatever_the_set_says(router):
    router.subscribe(1, "x >= 0")
    router.feed(router.west, stated(NOBODY, others={ExtensionType.EXPIRY: 1 << 62}))
    [got] = sent(router, router.alice)
    assert set(got.extensions) == {ExtensionType.SATISFIED, ExtensionType.EXPIRY}


def test_a_neighbour_that_knows_lists_alone_gets_it_without(router):
    router.switch.end(router.newer, now=True)
    older = router.opened(replace(LINK, number=EAST, takes_route=True))
    router.feed(router.west, stated(AT_EAST))
    router.feed(router.west, replace(message(counter=2), extensions={0x8007: Route(RouteMode.LIST, (EAST,))}))
    assert [set(copy.extensions) for copy in sent(router, older)] == [set(), {ExtensionType.ROUTE}]


def test_a_message_whose_names_come_again_asks_the_table_once(router):
    """So that names that no filter speaks of are left out; one with names of its own asks never."""
    asked = []
    for counter in range(1, 8):
        name = "a" if counter < 5 else f"b{counter}"
        frame = replace(stated(AT_EAST, counter), message=Message({name: 1, "y": 7}, b"", MessageId(99, counter)))
        before = router.network.stats().steps
        router.feed(router.west, frame)
        asked.append(router.network.stats().steps > before)
    assert asked == [False, True, False, False, False, False, False]


def test_a_new_count_of_routers_takes_the_place_of_the_one_before(router):
    router.feed(router.west, stated(AT_FAR))
    assert len(sent(router, router.newer)) == 1
    router.switch.hold(DIGEST, (ME, EAST, FAR, 40))
    router.feed(router.west, stated(AT_FAR, 2))  # 40, to which there is no way
    assert sent(router, router.newer) == []
    router.switch.hold(bytes(16))
    router.feed(router.west, stated(AT_EAST, 3, bytes(16)))
    assert len(sent(router, router.newer)) == 1


def test_what_cannot_be_held_is_refused_and_nothing_is_believed(router):
    assert (lib.TM_ROUTE_SET_ROUTERS_MAX, lib.TM_DIGEST_BYTES) == (limits.ROUTE_SET_ROUTERS_MAX, limits.DIGEST_BYTES)
    for wrong in ((2, 1), (1, 1), (0, 1), range(1, limits.ROUTE_SET_ROUTERS_MAX + 2)):
        with pytest.raises(RuntimeError):
            router.switch.hold(DIGEST, wrong)
        router.feed(router.west, stated(AT_FAR, 1 + figures(router)[2]))
    assert figures(router) == (0, 0, 4)


@pytest.mark.parametrize(
    ("extensions", "text"),
    [
        ({0x8007: RouterSet(DIGEST, AT_FAR)}, "a client must not state the route of a message"),
        ({1: ReuseKeys(True, (1,))}, "a client must not state which subscriptions a message matches"),
    ],
)
def test_a_client_that_writes_a_hint_is_refused(router, extensions, text):
    frame = replace(published(1), extensions=extensions)
    faults = [event for event in router.switch.feed(router.alice, encode_data(frame)) if event.type == EventType.FAULT]
    assert [(fault.code, fault.text) for fault in faults] == [(ErrorCode.BAD_EXTENSION, text)]


@pytest.mark.parametrize("data", [b"\x04", b"\x04" + bytes(16), b"\x04" + bytes(16 + 513)])
def test_a_neighbour_that_writes_a_wrong_one_is_told(router, data):
    area = (0x8007).to_bytes(2, "little") + len(data).to_bytes(2, "little") + data
    plain = encode_data(message())
    size = (len(plain) + len(area)).to_bytes(4, "little")
    frame = size + plain[4:56] + len(area).to_bytes(2, "little") + plain[58:64] + area + plain[64:]
    faults = [event for event in router.switch.feed(router.west, frame) if event.type == EventType.FAULT]
    assert [fault.code for fault in faults] == [ErrorCode.BAD_EXTENSION]


def test_a_switch_that_knows_the_tree_tries_both_and_then_does_what_is_worth_it(router):
    router.switch.install(EAST, {1: EVERYTHING})
    router.switch.tell_tree({WEST: ME, EAST: ME, FAR: EAST})
    for counter in range(1, 65):
        router.feed(router.alice, published(counter))
    assert [bool(frame.extensions) for frame in sent(router, router.newer)] == [False, True] * 32
    router.switch.tell_tree({WEST: ME, EAST: ME, FAR: ME})  # nobody is on the way to another one
    before = figures(router)
    for counter in range(65, 400):
        router.feed(router.alice, published(counter))
    assert figures(router) == before
    router.switch.tell_tree({})
    router.feed(router.alice, published(400))
    assert figures(router)[0] == before[0] + 1


def test_a_tree_that_cannot_be_is_refused_or_ends(router):
    with pytest.raises(RuntimeError):
        router.switch.tell_tree(dict.fromkeys(range(1, limits.ROUTE_SET_ROUTERS_MAX + 2), ME))
    router.switch.install(EAST, {1: EVERYTHING})
    router.switch.tell_tree({EAST: FAR, FAR: EAST})  # each behind the other
    for counter in range(1, 300):
        router.feed(router.alice, published(counter))
    assert len(sent(router, router.newer)) == 299
